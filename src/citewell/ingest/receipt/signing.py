"""The key that a library signs its receipts with, and fingerprints of keys."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

_PURPOSE = b"citewell receipt signing key 1"
# A prefix of signed content: no other use of the key can pass for a receipt.
_CONTEXT = b"citewell receipt 1\n"
_KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class LibraryKey:
    """The Ed25519 key of a library, derived from the secret in its database."""

    _private: Ed25519PrivateKey

    @classmethod
    def of_secret(cls, secret: bytes) -> LibraryKey:
        """Return the key of the library with this secret; the same in every process."""
        derived = HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=_PURPOSE)
        return cls(Ed25519PrivateKey.from_private_bytes(derived.derive(secret)))

    @property
    def public(self) -> str:
        """The public key, in base 64."""
        raw = self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return base64.b64encode(raw).decode()

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the key."""
        return fingerprint_of(self.public)

    def sign(self, content: bytes) -> str:
        """Return the signature of some content, in base 64."""
        return base64.b64encode(self._private.sign(_CONTEXT + content)).decode()


def fingerprint_of(public: str) -> str:
    """Return the fingerprint of a public key, in the format of ssh.

    Raises:
        ValueError: it is not the base 64 of a key.
    """
    raw = base64.b64decode(public, validate=True)
    if len(raw) != _KEY_BYTES:
        raise ValueError("an Ed25519 key has 32 bytes")
    digest = base64.b64encode(hashlib.sha256(raw).digest()).decode().rstrip("=")
    return f"SHA256:{digest}"


def is_signed(content: bytes, *, signature: str, public: str) -> bool:
    """Return whether the owner of the public key signed this content."""
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public, validate=True))
        key.verify(base64.b64decode(signature, validate=True), _CONTEXT + content)
    except (InvalidSignature, ValueError):
        return False
    return True
