"""A library in one file: a zip of JSON lines with a manifest that names and checks every part.

manifest.json       what the file is, its version, and the SHA-256 of each part
pages/NNNNN.jsonl   pages with text, structure, chunks, vectors and responses, a hundred a part
websites.jsonl      the entries, each with the URLs and fields of its pages
"""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
import zlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from citewell.core.errors import ArchiveRefused
from citewell.core.frozen import frozen
from citewell.ingest.archive.record_checks import check_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FORMAT = "citewell-library"
# Since 2 a page has its canonical URL, description and structured data; since 3 its origin and the
# version of its extractor, and a link its kind; since 4 the response that it was made from.
VERSION = 4
MANIFEST = "manifest.json"
WEBSITES = "websites.jsonl"
PAGES_A_PART = 100
# A file that claims more is not a library; unpacking it would fill the memory. A part takes 100
# bytes of the manifest; a record is at most a page with its chunks and vectors.
_MAX_MANIFEST_BYTES = 20_000_000
_MAX_RECORD_BYTES = 64_000_000
_MAX_RECORD_VALUES = 10_000_000
# Text with vectors compresses to a fifth; a file with this much higher a ratio is an attack.
_MAX_RATIO = 200
_RATIO_COUNTS_ABOVE_BYTES = 50_000_000
_READ_BYTES = 1_000_000
# What zip, zlib and json raise for arbitrary bytes.
DAMAGE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


@frozen
class Manifest:
    """What an archive holds."""

    version: int
    created_at: str
    written_by: str
    pages: int
    chunks: int
    websites: int
    parts: dict[str, str]
    """The SHA-256 of each part, by its name."""


class ArchiveWriter:
    """Adds parts to an open zip, and the manifest at its end."""

    def __init__(self, zipped: zipfile.ZipFile) -> None:
        self._zip = zipped
        self._parts: dict[str, str] = {}

    def add(self, name: str, records: Iterable[dict[str, Any]]) -> None:
        """Write one part, a JSON object a line."""
        lines = "".join(
            json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
            for record in records
        )
        body = lines.encode("utf-8", "surrogatepass")
        self._parts[name] = hashlib.sha256(body).hexdigest()
        self._zip.writestr(name, body)

    def finish(self, **counts: Any) -> Manifest:  # noqa: ANN401 - the manifest's own fields
        """Write the manifest."""
        manifest = Manifest(version=VERSION, parts=self._parts, **counts)
        fields = {"format": FORMAT, **asdict(manifest)}
        self._zip.writestr(MANIFEST, json.dumps(fields, indent=1))
        return manifest


def read_manifest(zipped: zipfile.ZipFile) -> Manifest:
    """Return the manifest.

    Raises:
        ArchiveRefused: it is not a library, or of a newer version.
    """
    try:
        if zipped.getinfo(MANIFEST).file_size > _MAX_MANIFEST_BYTES:
            raise ArchiveRefused("The file is not a Citewell library: its manifest is too large.")
        fields = json.loads(zipped.read(MANIFEST))
        if fields.pop("format") != FORMAT:
            raise KeyError(FORMAT)
        if fields["version"] > VERSION:
            raise ArchiveRefused(
                f"The file is of version {fields['version']}; this program reads up to {VERSION}.",
                suggestion="Update Citewell and try again.",
            )
        manifest = Manifest(**fields)
        if not all(isinstance(digest, str) for digest in manifest.parts.values()):
            raise TypeError("digests are text")
        return manifest
    except DAMAGE as error:
        raise ArchiveRefused("The file is not a Citewell library.") from error


def check_parts(zipped: zipfile.ZipFile, manifest: Manifest) -> None:
    """Check every part against the manifest and the form of its records.

    Called before anything is written.

    Raises:
        ArchiveRefused: a part is missing or damaged.
    """
    infos = zipped.infolist()
    unpacked = sum(info.file_size for info in infos)
    packed = sum(info.compress_size for info in infos)
    if unpacked > max(_RATIO_COUNTS_ABOVE_BYTES, _MAX_RATIO * packed):
        raise ArchiveRefused("The file is not a Citewell library: it unpacks into too much.")
    for name in manifest.parts:
        _check_digest(zipped, manifest, name)
        for record in read_part(zipped, name):
            try:
                check_record(record, "website" if name == WEBSITES else "page")
            except DAMAGE as error:
                raise ArchiveRefused(
                    f"The file is damaged: {name} has an invalid entry."
                ) from error


def read_part(zipped: zipfile.ZipFile, name: str) -> Iterator[dict[str, Any]]:
    """Yield the records of a part, one line after the other.

    Raises:
        ArchiveRefused: it is missing or damaged.
    """
    try:
        with zipped.open(name) as part:
            while line := part.readline(_MAX_RECORD_BYTES + 1):
                yield json.loads(_checked_line(line).decode("utf-8", "surrogatepass"))
    except DAMAGE as error:
        raise ArchiveRefused(f"The file is damaged: {name} is invalid.") from error


def _checked_line(line: bytes) -> bytes:
    if len(line) > _MAX_RECORD_BYTES:
        raise ValueError("a record is too long")
    # Each becomes a Python object, which takes far more memory than its characters.
    if sum(map(line.count, (b"{", b"[", b'"'))) > _MAX_RECORD_VALUES:
        raise ValueError("a record has too many values")
    return line


def _check_digest(zipped: zipfile.ZipFile, manifest: Manifest, name: str) -> None:
    digest = hashlib.sha256()
    try:
        with zipped.open(name) as part:
            while piece := part.read(_READ_BYTES):
                digest.update(piece)
    except DAMAGE as error:
        raise ArchiveRefused(f"The file is damaged: {name} cannot be read.") from error
    if digest.hexdigest() != manifest.parts[name]:
        raise ArchiveRefused(f"The file is damaged: {name} is not what was written.")
