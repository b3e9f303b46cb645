"""Convert responses to WARC records with their index, and back."""

from __future__ import annotations

import io
import json
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from citewell.core.frozen import frozen
from citewell.ingest.receipt.container import refused

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

WARC_NAME = "data.warc.gz"
_MAX_BODY_BYTES = 50_000_000
# Headers about the page itself. Others could name a session, a user or the machine that asked.
_KEPT_HEADERS = frozenset(
    "age cache-control content-disposition content-language content-location content-type date "
    "etag expires last-modified link server vary x-robots-tag citewell-rendered".split()
)
# The body is kept decoded, so its encoding headers are kept under other names.
_ABOUT_TRANSFER = frozenset({"content-encoding", "transfer-encoding"})
_MOVED = "X-Archive-Orig-"


@frozen
class ArchivedResponse:
    """A response as a WARC record holds it."""

    url: str
    fetched_at: str
    """In the format of WARC: 2026-02-22T14:30:00Z."""
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        """Return a header's value; empty where there is none."""
        return next((value for key, value in self.headers if key.lower() == name), "")


def public_headers(headers: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the headers that may leave the library."""
    kept = [(name, value) for name, value in headers if name.lower() in _KEPT_HEADERS]
    moved = [(_MOVED + name, value) for name, value in headers if name.lower() in _ABOUT_TRANSFER]
    return (*kept, *moved)


def warc_time(moment: datetime) -> str:
    """Return a time in the format of WARC, in UTC."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def write_responses(responses: Sequence[ArchivedResponse]) -> tuple[bytes, bytes]:
    """Return a WARC file with the responses, and its CDXJ index."""
    buffer = io.BytesIO()
    writer = WARCWriter(buffer, gzip=True)
    lines: list[str] = []
    for response in responses:
        start = buffer.tell()
        record = writer.create_warc_record(
            response.url,
            "response",
            payload=io.BytesIO(response.body),
            # Otherwise the library copies the body through a file that it does not close.
            length=len(response.body),
            http_headers=StatusAndHeaders(
                _status_line(response.status), list(response.headers), protocol="HTTP/1.1"
            ),
            warc_headers_dict={"WARC-Date": response.fetched_at},
        )
        writer.write_record(record)
        about = {
            "url": response.url,
            "digest": record.rec_headers.get_header("WARC-Payload-Digest"),
            "mime": response.header("content-type").partition(";")[0].strip() or "text/html",
            "status": str(response.status),
            "filename": WARC_NAME,
            "offset": str(start),
            "length": str(buffer.tell() - start),
        }
        digits = "".join(filter(str.isdigit, response.fetched_at))
        lines.append(f"{_sort_key(response.url)} {digits} {json.dumps(about)}\n")
    return buffer.getvalue(), "".join(sorted(lines)).encode()


def parse_responses(data: bytes) -> list[ArchivedResponse]:
    """Return the responses of a WARC file.

    Raises:
        ArchiveRefused: it is damaged, or a body is too large.
    """
    responses: list[ArchivedResponse] = []
    try:
        for record in ArchiveIterator(io.BytesIO(data)):
            if record.rec_type != "response" or record.http_headers is None:
                continue
            body = record.content_stream().read(_MAX_BODY_BYTES + 1)
            if len(body) > _MAX_BODY_BYTES:
                raise refused(f"a response has more than {_MAX_BODY_BYTES:,} bytes")
            responses.append(
                ArchivedResponse(
                    url=str(record.rec_headers.get_header("WARC-Target-URI")),
                    fetched_at=str(record.rec_headers.get_header("WARC-Date")),
                    status=int(record.http_headers.get_statuscode()),
                    headers=tuple((str(k), str(v)) for k, v in record.http_headers.headers),
                    body=body,
                )
            )
    except (ArchiveLoadFailed, ValueError, EOFError, OSError) as error:
        raise refused("its web archive is damaged") from error
    return responses


def _status_line(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _sort_key(url: str) -> str:
    """Return the sort key of a URL in web archive indexes: the reversed host, then the path."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    if not host.replace(".", "").isdigit():
        host = ",".join(reversed(host.split(".")))
    port = f":{parts.port}" if parts.port else ""
    query = f"?{parts.query}" if parts.query else ""
    return f"{host}{port}){parts.path or '/'}{query}".lower()
