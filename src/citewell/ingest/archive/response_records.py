"""Convert the responses of pages to records of an archive, and back."""

from __future__ import annotations

import base64
import zlib
from datetime import datetime
from typing import Any

from citewell.core.storage import PageResponse

# Compressed; the archive leaves out larger ones.
_MAX_PACKED_BYTES = 20_000_000
_MAX_BODY_BYTES = 100_000_000


def response_to_record(response: PageResponse) -> dict[str, Any] | None:
    """Return a response with its body compressed; None when it is too large for an archive."""
    packed = zlib.compress(response.body)
    if len(packed) > _MAX_PACKED_BYTES or len(response.body) > _MAX_BODY_BYTES:
        return None
    return {
        "status": response.status,
        "final_url": response.final_url,
        "content_type": response.content_type,
        "headers": [list(header) for header in response.headers],
        "fetched_at": response.fetched_at.isoformat(),
        "body": base64.b64encode(packed).decode("ascii"),
    }


def response_from_record(record: dict[str, Any]) -> PageResponse | None:
    """Return the response of a page's record; files before version 4 have none.

    Raises:
        ValueError, KeyError, TypeError, zlib.error: the record is invalid.
    """
    kept = record.get("response")
    if kept is None:
        return None
    unpacking = zlib.decompressobj()
    body = unpacking.decompress(
        base64.b64decode(kept["body"], validate=True), max_length=_MAX_BODY_BYTES
    )
    if not unpacking.eof:
        raise ValueError("a response is cut short or too large")
    texts = (
        kept["final_url"],
        kept["content_type"],
        *(part for h in kept["headers"] for part in h),
    )
    if not all(isinstance(text, str) and "\0" not in text for text in texts):
        raise ValueError("an address, a type and a header are text")
    return PageResponse(
        status=int(kept["status"]),
        final_url=kept["final_url"],
        content_type=kept["content_type"],
        headers=tuple((name, value) for name, value in kept["headers"]),
        body=body,
        fetched_at=datetime.fromisoformat(kept["fetched_at"]),
    )
