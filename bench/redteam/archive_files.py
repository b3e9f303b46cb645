"""Files that look like a library and are made to break whoever reads them."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import stat
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from citewell.ingest.archive.format import FORMAT, MANIFEST, VERSION, WEBSITES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PAGES = "pages/00000.jsonl"
_COUNTS = {"created_at": "", "written_by": "", "pages": 1, "chunks": 1, "websites": 1}
_WRONG: tuple[object, ...] = (
    None,
    True,
    -1,
    2**70,
    float("inf"),
    "x\0y",
    "\ud800",
    "javascript:alert(1)",
    [],
    {},
    [["x"]],
    {"x": None},
)
# Their values are the caller's own, or are looked up and not found.
_FREE = {"fields", "embedded_text", "text_hash"}

PAGE: dict[str, Any] = {
    "url": "https://birds.example/herons",
    "final_url": "https://birds.example/herons",
    "title": "Herons",
    "kind": "html",
    "language": "en",
    "content_type": "general",
    "tags": ["birds"],
    "text_hash": "00",
    "fetched_at": "2026-03-14T12:00:00+00:00",
    "etag": None,
    "last_modified": None,
    "published_at": None,
    "modified_at": None,
    "origin": "fetched",
    "supplied_by": "",
    "incomplete": "",
    "extractor": 1,
    "canonical_url": None,
    "description": "",
    "structured_data": "[]",
    "text": "# Food\n\nThe grey heron eats fish.",
    "sections": [
        {
            "ordinal": 0,
            "parent": None,
            "level": 1,
            "heading": "Food",
            "anchor": None,
            "start": 0,
            "end": 33,
        }
    ],
    "links": [
        {
            "url": "https://birds.example/fish",
            "text": "fish",
            "context": "eats fish",
            "section": 0,
            "start": 28,
            "kind": "content",
        }
    ],
    "images": [
        {"url": "https://birds.example/a.png", "alt": "", "caption": "", "section": 0, "start": 8}
    ],
    "model": None,
    "chunks": [
        {
            "section": 0,
            "start": 8,
            "end": 33,
            "tokens": 6,
            "heading_path": ["Food"],
            "anchor": None,
            "embedded_text": "Food\nThe grey heron eats fish.",
            "has_code": False,
            "vector": None,
        }
    ],
    "response": {
        "status": 200,
        "final_url": "https://birds.example/herons",
        "content_type": "text/html",
        "headers": [["Via", "1.1 herons"]],
        "fetched_at": "2026-03-14T12:00:00+00:00",
        "body": base64.b64encode(zlib.compress(b"<p>The grey heron eats fish.")).decode(),
    },
}
WEBSITE: dict[str, Any] = {
    "url": "https://birds.example/",
    "kind": "site",
    "content_type": "general",
    "status": "completed",
    "error_message": None,
    "title": "Birds",
    "tags": [],
    "options": {
        "discovery": "auto",
        "scope": "path",
        "max_depth": 1,
        "max_pages": 10,
        "include": [],
        "exclude": [],
        "language": None,
    },
    "refresh_seconds": 3600.0,
    "members": [{"url": "https://birds.example/herons", "fields": {}}],
}


def write_zip(path: Path, files: Mapping[str, bytes], *, is_link: bool = False) -> Path:
    """Write a zip of these files, or of links."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zipped:
        for name, body in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = ((stat.S_IFLNK if is_link else stat.S_IFREG) | 0o600) << 16
            zipped.writestr(info, body, zipfile.ZIP_DEFLATED)
    return path


def manifest_of(parts: Mapping[str, bytes], **others: object) -> bytes:
    """Return a manifest whose digests are right."""
    digests = {name: hashlib.sha256(body).hexdigest() for name, body in parts.items()}
    said = {"format": FORMAT, "version": VERSION, **_COUNTS, "parts": digests, **others}
    return json.dumps(said).encode()


def write_library(path: Path, *, page: object = PAGE, website: object = WEBSITE) -> Path:
    """Write an archive with one page and one website."""
    parts = {PAGES: _line(page), WEBSITES: _line(website)}
    return write_zip(path, {MANIFEST: manifest_of(parts), **parts})


def wrong_records() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield arguments of `write_library` with one value that is wrong, by what it is."""
    for kind, record in (("page", PAGE), ("website", WEBSITE)):
        for place in _places(record):
            for wrong in _WRONG:
                changed = copy.deepcopy(record)
                _set(changed, place, wrong)
                if place[-1] not in _FREE:
                    yield f"{kind} {'.'.join(map(str, place))} = {wrong!r}", {kind: changed}
    yield from (
        (f"page {what}", {"page": {**PAGE, **changes}}) for what, changes in _TWISTED.items()
    )


def _places(value: object, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    inner: Iterator[tuple[str | int, Any]] = iter(())
    if isinstance(value, dict):
        inner = iter(value.items())
    elif isinstance(value, list):
        inner = iter(enumerate(value))
    for name, part in inner:
        yield (*above, name)
        yield from _places(part, (*above, name))


def _set(record: Any, place: tuple[str | int, ...], value: object) -> None:  # noqa: ANN401 - JSON
    for name in place[:-1]:
        record = record[name]
    record[place[-1]] = value


def _line(record: object) -> bytes:
    return json.dumps(record).encode() + b"\n"


_SECTION, _CHUNK = PAGE["sections"][0], PAGE["chunks"][0]
_TWISTED: dict[str, dict[str, Any]] = {
    "section inside itself": {"sections": [{**_SECTION, "parent": 0}]},
    "sections inside each other": {
        "sections": [
            {**_SECTION, "parent": 1, "end": 7},
            {**_SECTION, "ordinal": 1, "parent": 0, "start": 7},
        ]
    },
    "no sections": {"sections": [], "links": [], "images": []},
    "chunk after the text": {"chunks": [{**_CHUNK, "start": 900, "end": 999}]},
    "chunk that ends before it starts": {"chunks": [{**_CHUNK, "start": 20, "end": 10}]},
    "chunk of a section that is not there": {"chunks": [{**_CHUNK, "section": 7}]},
    "vector of no numbers": {"chunks": [{**_CHUNK, "vector": "!"}], "model": "m"},
    "vector of one byte": {"chunks": [{**_CHUNK, "vector": "AA=="}], "model": "m"},
    "response that is a bomb": {
        "response": {
            **PAGE["response"],
            "body": base64.b64encode(zlib.compress(bytes(200_000_000))).decode(),
        }
    },
    "moment without a zone": {"fetched_at": "2026-03-14T12:00:00"},
    "script for an address": {"url": "javascript:alert(1)"},
}


def broken_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Write files that are refused as a whole, and yield each with what it is."""
    path = folder / "library.zip"
    whole = write_library(path).read_bytes()
    for length in range(0, len(whole), len(whole) // 12):
        path.write_bytes(whole[:length])
        yield f"cut to {length} bytes", path
    for what, body in _NO_ZIPS.items():
        path.write_bytes(body)
        yield what, path
    for what, body in _MANIFESTS.items():
        yield f"manifest: {what}", write_zip(path, {MANIFEST: body})
    for what, files in _tricks().items():
        yield what, write_zip(path, files)
    target = {PAGES: b"/etc/passwd"}
    links = {MANIFEST: manifest_of(target), **target}
    yield "parts that are links", write_zip(path, links, is_link=True)
    path.write_bytes(_encrypted(whole))
    yield "says that it is encrypted", path
    path.unlink()
    path.symlink_to("/dev/zero")
    yield "a link to a device without end", path
    path.unlink()
    path.mkdir()
    yield "a folder", path
    path.rmdir()


def write_large_manifest(path: Path, *, megabytes: int) -> Path:
    """Write an archive with a manifest of spaces."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zipped,
        zipped.open(MANIFEST, "w", force_zip64=True) as file,
    ):
        for _ in range(megabytes):
            file.write(b" " * 1_000_000)
    return path


def bombs(folder: Path) -> Iterator[tuple[str, Path]]:
    """Write small files that unpack into gigabytes, and yield each with what it is."""
    path = folder / "bomb.zip"
    yield "a manifest of 1.5 GB", write_large_manifest(path, megabytes=1_500)
    for what, piece in _FLOODS.items():
        digest = hashlib.sha256()
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zipped:
            with zipped.open(PAGES, "w", force_zip64=True) as file:
                for _ in range(600):
                    file.write(piece)
                    digest.update(piece)
            said = {"format": FORMAT, "version": VERSION, **_COUNTS}
            said["parts"] = {PAGES: digest.hexdigest()}
            zipped.writestr(MANIFEST, json.dumps(said))
        yield f"600 MB of {what} in {path.stat().st_size / 1e6:.1f} MB", path
    # Below the ratio that gives a bomb away.
    for what, unit in _DENSE.items():
        record = b'{"a":[' + unit * (60_000_000 // len(unit)) + b"0]}\n"
        noise = hashlib.shake_256(b"heron").digest(400_000)
        parts = {PAGES: record}
        yield (
            f"60 MB of {what} in one record",
            write_zip(path, {MANIFEST: manifest_of(parts), **parts, "noise": noise}),
        )


_FLOODS = {
    "one line": b"x" * 1_000_000,
    "empty lines": b"\n" * 1_000_000,
    "open brackets": b"[" * 1_000_000,
    "small records": b"{}\n" * 333_333,
}
_DENSE = {"objects": b"{},", "lists": b"[],", "words": b'"ab",', "numbers": b"1234,"}
_NO_ZIPS = {
    "nothing": b"",
    "an end and no beginning": b"PK\x05\x06",
    "a beginning and no end": b"PK\x03\x04" + b"\xff" * 200,
    "text": b"heron\n" * 1_000,
    "a directory far outside": b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, 9, 9, 2**31, 2**31, 0),
}
_FIELDS = {"format": FORMAT, "version": VERSION, **_COUNTS, "parts": {}}
_MANIFESTS: dict[str, bytes] = {
    "no JSON": b"\xff\xfe{",
    "a list": b"[]",
    "nested without end": b"[" * 100_000,
    "a number": b"1" * 5_000,
    "parts that are no object": json.dumps({**_FIELDS, "parts": [1]}).encode(),
    "parts that are text": json.dumps({**_FIELDS, "parts": "x"}).encode(),
    "digests that are no text": json.dumps({**_FIELDS, "parts": {"a": 1}}).encode(),
    "a version that is no number": json.dumps({**_FIELDS, "version": "x"}).encode(),
    "a version of the future": json.dumps({**_FIELDS, "version": VERSION + 1}).encode(),
    "a version without end": json.dumps({**_FIELDS, "version": float("inf")}).encode(),
    "fields that nobody knows": json.dumps({**_FIELDS, "more": 1}).encode(),
    "a part that is not there": json.dumps({**_FIELDS, "parts": {"a": "0" * 64}}).encode(),
}


def _tricks() -> dict[str, dict[str, bytes]]:
    page = _line({**PAGE, "url": 1})
    tricks: dict[str, dict[str, bytes]] = {}
    for name in ("../../outside.jsonl", "/etc/passwd", "C:\\outside", "pages/", ".", "a\0b"):
        tricks[f"a part called {name!r}"] = {MANIFEST: manifest_of({name: page}), name: page}
    tricks["a wrong digest"] = {MANIFEST: manifest_of({PAGES: b""}), PAGES: page}
    tricks["a page in the place of a website"] = {
        MANIFEST: manifest_of({WEBSITES: _line(PAGE)}),
        WEBSITES: _line(PAGE),
    }
    tricks["a manifest as a part of itself"] = {
        MANIFEST: json.dumps({**_FIELDS, "parts": {MANIFEST: "0" * 64}}).encode()
    }
    return tricks


def _encrypted(whole: bytes) -> bytes:
    """Return the zip with the flag of encryption on every file."""
    changed = bytearray(whole)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = whole.find(signature)
        while place >= 0:
            changed[place + offset] |= 1
            place = whole.find(signature, place + 4)
    return bytes(changed)
