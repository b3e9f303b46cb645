"""Identifiers: hashes of content and opaque random names."""

from __future__ import annotations

import hashlib
import re
import secrets

from citewell.core.frozen import frozen

_CITATION_ID = re.compile(r"c(\d{1,12})-([0-9a-f]{8})-(\d{1,9})-(\d{1,9})")


@frozen
class CitedSpan:
    """What a citation id says: a span of one version of a page."""

    source_id: int
    page_hash: str
    """The first eight digits of the hash of the page's text."""
    start: int
    end: int


def content_hash(text: str) -> str:
    """Return the SHA-256 of `text` as hexadecimal: the same text, the same hash, everywhere."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def citation_id(source_id: int, page_hash: str, start: int, end: int) -> str:
    """Return the id of a quote; it names the page, its version and the span."""
    return f"c{source_id}-{page_hash[:8]}-{start}-{end}"


def parse_citation_id(text: str) -> CitedSpan | None:
    """Return what a citation id names; None when it is not one."""
    match = _CITATION_ID.fullmatch(text.strip())
    if match is None:
        return None
    source_id, page_hash, start, end = match.groups()
    return CitedSpan(source_id=int(source_id), page_hash=page_hash, start=int(start), end=int(end))


def new_nonce() -> str:
    """Return a random name that page text cannot have foreseen."""
    return secrets.token_hex(6)
