"""The files of the theme that every site has, and what its pages are sent as."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from pathlib import Path

from citewell.core.frozen import frozen

HERE = Path(__file__).parent
ASSETS = "assets/citewell"

_HTML = "text/html; charset=utf-8"
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@frozen
class Resource:
    """What an address of the website answers."""

    body: bytes
    media_type: str
    etag: str
    packed: bytes | None = None
    """The body in gzip, where the package has it."""


@cache
def theme_files() -> dict[str, Resource]:
    """Return the style sheet, scripts and icon of every site, by name."""
    return _files_of("assets")


@cache
def diagram_files() -> dict[str, Resource]:
    """Return what only pages with diagrams load, by name."""
    # Mermaid alone has megabytes, so the package holds it compressed.
    packed = HERE / "diagrams" / "mermaid.js.gz"
    data = packed.read_bytes()
    mermaid = Resource(
        body=gzip.decompress(data),
        media_type=_MEDIA_TYPES[".js"],
        etag=_etag(data),
        packed=data,
    )
    return {**_files_of("diagrams"), packed.stem: mermaid}


def _files_of(folder: str) -> dict[str, Resource]:
    return {
        file.name: resource(file.read_text(encoding="utf-8"), media_type=_MEDIA_TYPES[file.suffix])
        for file in sorted((HERE / folder).iterdir())
        if file.suffix in _MEDIA_TYPES
    }


def version_of(name: str) -> str:
    """Return what changes whenever a file of the theme does."""
    file = theme_files().get(name) or diagram_files()[name]
    return file.etag.strip('"')


def resource(text: str, *, media_type: str = _HTML) -> Resource:
    """Return text as a resource whose ETag follows from its bytes."""
    body = text.encode()
    return Resource(body=body, media_type=media_type, etag=_etag(body))


def _etag(data: bytes) -> str:
    return f'"{hashlib.sha256(data).hexdigest()[:20]}"'
