"""Identifiers: hashes of content and opaque random names."""

from __future__ import annotations

import hashlib
import secrets


def content_hash(text: str) -> str:
    """Return the SHA-256 of `text` as hexadecimal: the same text, the same hash, everywhere."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def citation_id(source_id: int, page_hash: str, start: int, end: int) -> str:
    """Return the id of a quote; it names the page, its version and the span."""
    return f"c{source_id}-{page_hash[:8]}-{start}-{end}"


def new_nonce() -> str:
    """Return a random name that page text cannot have foreseen."""
    return secrets.token_hex(6)
