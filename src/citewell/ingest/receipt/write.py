"""Write a receipt: everything that proves a quote, in one signed WACZ file.

The file follows WACZ 1.1.1, so that ReplayWeb.page and other tools of web archives open it:
`archive/` has the responses, `indexes/` and `pages/` lead into them, `datapackage.json` has the
hash of every file, and `datapackage-digest.json` the hash of that one. What is ours is under
`citewell/`: the canonical text of each page, and `receipt.json`, which says what was quoted from
where. The library's signature covers `datapackage.json`, and through it everything else.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from citewell import __version__
from citewell.core.errors import InvalidArgument, NotFound
from citewell.core.frozen import frozen
from citewell.core.ids import content_hash
from citewell.core.redaction import redact
from citewell.ingest.receipt.container import pack_files
from citewell.ingest.receipt.web_archive import (
    WARC_NAME,
    ArchivedResponse,
    public_headers,
    warc_time,
    write_responses,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from citewell.core.ids import CitedSpan
    from citewell.core.records import Page
    from citewell.core.storage import PageResponse
    from citewell.ingest.receipt.signing import LibraryKey

FORMAT = "citewell-receipt"
FORMAT_VERSION = 1
EXTRACTOR_NAME = "citewell"
RECEIPT_PATH = "citewell/receipt.json"
PACKAGE_PATH = "datapackage.json"
DIGEST_PATH = "datapackage-digest.json"
WARC_PATH = f"archive/{WARC_NAME}"
_WACZ_VERSION = "1.1.1"


@frozen
class CitedPage:
    """A page with the response it was made from, and what is cited of it."""

    page: Page
    response: PageResponse
    citations: tuple[tuple[str, CitedSpan], ...]


def refuse_private(page: Page, response: PageResponse | None) -> PageResponse:
    """Return the response of a page that can be proved.

    Raises:
        InvalidArgument: it is not a page of the web, or its address holds a password or a token.
        NotFound: its response is not kept.
    """
    info = page.info
    if info.origin != "fetched" or not info.final_url.startswith(("http://", "https://")):
        raise InvalidArgument(
            "A receipt needs a page that was fetched from the web; this one is a file of this "
            "machine, or was supplied by a caller.",
            suggestion="Cite the page on the web: ingest its URL and search again.",
        )
    if any(redact(url) != url for url in (info.url, info.final_url)):
        raise InvalidArgument(
            "The address of this page holds a password or a token, which would be in the receipt.",
            suggestion="Ingest the page by an address without it, and cite that.",
        )
    if response is None:
        raise NotFound(
            f"The response that {info.url} was made from is not kept.",
            suggestion="Ingest the page again with force, then use the new citation; "
            "CITEWELL_RESPONSE_MAX_BYTES limits what is kept.",
        )
    return response


def write_receipt(pages: Sequence[CitedPage], key: LibraryKey, *, now: datetime) -> bytes:
    """Return the file that proves the citations of these pages."""
    responses = [
        ArchivedResponse(
            url=cited.response.final_url,
            fetched_at=warc_time(cited.response.fetched_at),
            status=cited.response.status,
            headers=public_headers(cited.response.headers),
            body=cited.response.body,
        )
        for cited in pages
    ]
    warc, index = write_responses(responses)
    texts = {_text_path(n): _encode(cited.page.text) for n, cited in enumerate(pages, 1)}
    files = {
        WARC_PATH: warc,
        "indexes/index.cdx": index,
        "pages/pages.jsonl": _list_pages(pages, responses),
        RECEIPT_PATH: to_json(_describe(pages, responses, now=now)),
        **texts,
    }
    files[PACKAGE_PATH] = to_json(_package(files, responses[0], now=now))
    files[DIGEST_PATH] = to_json(
        {
            "path": PACKAGE_PATH,
            "hash": hash_of(files[PACKAGE_PATH]),
            "citewell": {
                "algorithm": "Ed25519",
                "publicKey": key.public,
                "signature": key.sign(files[PACKAGE_PATH]),
            },
        }
    )
    return pack_files(files)


def to_json(value: Mapping[str, Any]) -> bytes:
    """Return canonical JSON: the same bytes for the same value."""
    return (json.dumps(value, indent=2, ensure_ascii=True) + "\n").encode()


def hash_of(content: bytes) -> str:
    """Return the hash of a file in the format of WACZ."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _text_path(number: int) -> str:
    return f"citewell/page-{number}.md"


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _describe(
    pages: Sequence[CitedPage], responses: Sequence[ArchivedResponse], *, now: datetime
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "software": f"citewell {__version__}",
        "created": warc_time(now),
        "pages": [
            {
                "url": cited.page.info.url,
                "final_url": response.url,
                "title": cited.page.info.title,
                "status": response.status,
                "fetched_at": response.fetched_at,
                "content_type": cited.response.content_type,
                "response_hash": hash_of(response.body),
                "text_path": _text_path(number),
                "text_hash": content_hash(cited.page.text),
                "extractor": {"name": EXTRACTOR_NAME, "version": cited.page.info.extractor},
            }
            for number, (cited, response) in enumerate(zip(pages, responses, strict=True), 1)
        ],
        "citations": [
            {
                "id": citation,
                "page": place,
                "start": span.start,
                "end": span.end,
                "quote": cited.page.text[span.start : span.end],
            }
            for place, cited in enumerate(pages)
            for citation, span in cited.citations
        ],
    }


def _list_pages(pages: Sequence[CitedPage], responses: Sequence[ArchivedResponse]) -> bytes:
    lines: list[dict[str, Any]] = [
        {"format": "json-pages-1.0", "id": "pages", "title": "Cited pages"}
    ]
    lines += [
        {
            "id": f"page-{number}",
            "url": response.url,
            "title": cited.page.info.title,
            "ts": response.fetched_at,
        }
        for number, (cited, response) in enumerate(zip(pages, responses, strict=True), 1)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _package(
    files: Mapping[str, bytes], first: ArchivedResponse, *, now: datetime
) -> dict[str, Any]:
    return {
        "profile": "data-package",
        "wacz_version": _WACZ_VERSION,
        "title": "Receipt of Citewell",
        "software": f"citewell {__version__}",
        "created": warc_time(now),
        "mainPageUrl": first.url,
        "mainPageDate": first.fetched_at,
        "resources": [
            {
                "name": path.rpartition("/")[2],
                "path": path,
                "hash": hash_of(content),
                "bytes": len(content),
            }
            for path, content in files.items()
        ],
    }
