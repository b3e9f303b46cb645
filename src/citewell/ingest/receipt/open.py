"""Open a receipt: check container, signature and hashes before anything in it is trusted.

All of it is done on hostile bytes, in a process that can be killed; so plain data goes back.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Literal

from citewell.core.frozen import frozen
from citewell.core.ids import content_hash
from citewell.ingest.receipt.container import refused, unpack_files
from citewell.ingest.receipt.signing import fingerprint_of, is_signed
from citewell.ingest.receipt.web_archive import ArchivedResponse, parse_responses
from citewell.ingest.receipt.write import (
    DIGEST_PATH,
    FORMAT,
    FORMAT_VERSION,
    PACKAGE_PATH,
    RECEIPT_PATH,
    WARC_PATH,
    hash_of,
    to_json,
)

Outcome = Literal["passed", "failed", "unsure"]


@frozen
class Step:
    """One check of a receipt."""

    name: str
    outcome: Outcome
    explanation: str


@frozen
class ReceiptPage:
    """A page of a receipt: the response, and the text extracted from it."""

    url: str
    title: str
    content_type: str
    text: str
    text_hash: str
    extractor: int
    response: ArchivedResponse


@frozen
class ReceiptCitation:
    """A quote that a receipt proves, and the index of its page."""

    citation_id: str
    page: int
    start: int
    end: int
    quote: str


@frozen
class OpenedReceipt:
    """The contents of a receipt, as far as they are intact."""

    fingerprint: str
    created: str
    software: str
    pages: tuple[ReceiptPage, ...]
    citations: tuple[ReceiptCitation, ...]
    steps: tuple[Step, ...]


def open_receipt(data: bytes) -> OpenedReceipt:
    """Return a receipt with the outcome of each check that needs no extractor.

    Raises:
        ArchiveRefused: it is cut, huge, of a newer version, or not a receipt.
    """
    files = unpack_files(data)
    if RECEIPT_PATH not in files:
        raise refused("it holds no receipt; it may be another kind of web archive")
    receipt = _load(files, RECEIPT_PATH)
    if receipt.get("format") != FORMAT or receipt.get("version") != FORMAT_VERSION:
        version = str(receipt.get("version"))[:20]
        raise refused(
            f"it has version {version} of the format; this Citewell knows {FORMAT_VERSION}"
        )
    try:
        signature, fingerprint = _check_signature(files)
        pages = _parse_pages(receipt, files)
        return OpenedReceipt(
            fingerprint=fingerprint,
            created=str(receipt["created"]),
            software=str(receipt["software"]),
            pages=pages,
            citations=tuple(_parse_citation(entry) for entry in receipt["citations"]),
            steps=(
                Step(name="container", outcome="passed", explanation="The file is whole."),
                signature,
                _check_hashes(files),
                _check_responses(receipt, pages),
            ),
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise refused("what it says of itself is incomplete") from error


def open_as_plain_data(data: bytes) -> dict[str, Any]:
    """Return what `open_receipt` returns as plain data, which can leave the process."""
    return asdict(open_receipt(data))


def from_plain_data(plain: dict[str, Any]) -> OpenedReceipt:
    """Return the receipt that `open_as_plain_data` gave."""
    pages = [
        ReceiptPage(**(page | {"response": ArchivedResponse(**page["response"])}))
        for page in plain["pages"]
    ]
    return OpenedReceipt(
        fingerprint=plain["fingerprint"],
        created=plain["created"],
        software=plain["software"],
        pages=tuple(pages),
        citations=tuple(ReceiptCitation(**citation) for citation in plain["citations"]),
        steps=tuple(Step(**step) for step in plain["steps"]),
    )


def _check_signature(files: dict[str, bytes]) -> tuple[Step, str]:
    digest = _load(files, DIGEST_PATH)
    seal = digest["citewell"]
    public, signature = str(seal["publicKey"]), str(seal["signature"])
    fingerprint = fingerprint_of(public)
    expected = {
        "path": PACKAGE_PATH,
        "hash": hash_of(files[PACKAGE_PATH]),
        "citewell": {"algorithm": "Ed25519", "publicKey": public, "signature": signature},
    }
    is_valid = files[DIGEST_PATH] == to_json(expected) and is_signed(
        files[PACKAGE_PATH], signature=signature, public=public
    )
    said = f"signed by the library {fingerprint}" if is_valid else "not what the library signed"
    return (
        Step(
            name="signature",
            outcome="passed" if is_valid else "failed",
            explanation=f"The list of files is {said}.",
        ),
        fingerprint,
    )


def _check_hashes(files: dict[str, bytes]) -> Step:
    listed = {entry["path"]: entry["hash"] for entry in _load(files, PACKAGE_PATH)["resources"]}
    held = {
        path: hash_of(content)
        for path, content in files.items()
        if path not in (PACKAGE_PATH, DIGEST_PATH)
    }
    changed = sorted(
        path for path in listed.keys() | held.keys() if listed.get(path) != held.get(path)
    )
    if changed:
        explanation = f"Changed, missing or added: {', '.join(changed)}."
        return Step(name="hashes", outcome="failed", explanation=explanation)
    return Step(
        name="hashes", outcome="passed", explanation=f"All {len(held)} files have their hashes."
    )


def _parse_pages(receipt: dict[str, Any], files: dict[str, bytes]) -> tuple[ReceiptPage, ...]:
    responses = parse_responses(files[WARC_PATH])
    return tuple(
        ReceiptPage(
            url=str(entry["url"]),
            title=str(entry["title"]),
            content_type=str(entry["content_type"]),
            text=files[entry["text_path"]].decode("utf-8", "surrogatepass"),
            text_hash=str(entry["text_hash"]),
            extractor=int(entry["extractor"]["version"]),
            response=response,
        )
        for entry, response in zip(receipt["pages"], responses, strict=True)
    )


def _check_responses(receipt: dict[str, Any], pages: tuple[ReceiptPage, ...]) -> Step:
    """Compare what the receipt says of each page with the records themselves."""
    differing = [
        page.url
        for entry, page in zip(receipt["pages"], pages, strict=True)
        if entry["response_hash"] != hash_of(page.response.body)
        or entry["final_url"] != page.response.url
        or entry["fetched_at"] != page.response.fetched_at
        or entry["status"] != page.response.status
        or page.text_hash != content_hash(page.text)
    ]
    if differing:
        listed = ", ".join(differing)
        return Step(
            name="responses",
            outcome="failed",
            explanation=f"The archived response is another than the receipt says: {listed}.",
        )
    said = "; ".join(
        f"{page.response.url} answered {page.response.status} at {page.response.fetched_at}"
        for page in pages
    )
    return Step(name="responses", outcome="passed", explanation=f"{said}.")


def _parse_citation(entry: dict[str, Any]) -> ReceiptCitation:
    return ReceiptCitation(
        citation_id=str(entry["id"]),
        page=int(entry["page"]),
        start=int(entry["start"]),
        end=int(entry["end"]),
        quote=str(entry["quote"]),
    )


def _load(files: dict[str, bytes], path: str) -> dict[str, Any]:
    try:
        value = json.loads(files[path])
    except (KeyError, ValueError, RecursionError) as error:
        raise refused(f"{path} is missing or damaged") from error
    if not isinstance(value, dict):
        raise refused(f"{path} is damaged")
    return value
