"""Cursors: what a caller has seen of a search, sealed so that it can only be handed back.

A cursor names the chunks already shown, not an offset: pages that are added, changed or removed
between two calls neither repeat a result nor hide one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import TYPE_CHECKING

from citewell.core.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_CURSOR_CHARACTERS = 1_000

_SEAL_BYTES = 12
_SEVEN_BITS = 0x7F
_MORE = 0x80


def seal_cursor(shown: Iterable[int], *, search: str, secret: bytes) -> str:
    """Return the cursor after `shown` chunk ids of the search that `search` describes.

    It can be opened wherever the same `secret` is known.
    """
    body = _pack(sorted(shown))
    sealed = _seal(body, search, secret) + body
    return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode("ascii")


def open_cursor(cursor: str, *, search: str, secret: bytes) -> frozenset[int]:
    """Return the chunk ids that were shown before.

    Raises:
        InvalidArgument: the cursor was sealed with another secret, or for another search.
    """
    try:
        sealed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise _refusal() from error
    seal, body = sealed[:_SEAL_BYTES], sealed[_SEAL_BYTES:]
    if not hmac.compare_digest(seal, _seal(body, search, secret)):
        raise _refusal()
    return frozenset(_unpack(body))


def _refusal() -> InvalidArgument:
    return InvalidArgument(
        "cursor is not one that this server gave for this search.",
        suggestion="Repeat the search without a cursor, or with the arguments it was given for.",
    )


def _seal(body: bytes, search: str, secret: bytes) -> bytes:
    signed = hashlib.sha256(search.encode("utf-8", "surrogatepass")).digest() + body
    return hmac.digest(secret, signed, "sha256")[:_SEAL_BYTES]


def _pack(numbers: Iterable[int]) -> bytes:
    """Write rising numbers as the steps between them, seven bits to a byte."""
    packed = bytearray()
    previous = 0
    for number in numbers:
        step, previous = number - previous, number
        while step > _SEVEN_BITS:
            packed.append(step & _SEVEN_BITS | _MORE)
            step >>= 7
        packed.append(step)
    return bytes(packed)


def _unpack(packed: bytes) -> Iterable[int]:
    number = step = shift = 0
    for byte in packed:
        step |= (byte & _SEVEN_BITS) << shift
        shift += 7
        if not byte & _MORE:
            number += step
            yield number
            step = shift = 0
