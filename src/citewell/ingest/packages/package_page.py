"""A page made from files of an installed package."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from citewell.core.errors import ExtractionError
from citewell.core.frozen import frozen
from citewell.core.records import FetchedPage
from citewell.ingest.regular_file import read_regular_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from citewell.core.records import PageKind

# Larger modules are generated tables, not documentation.
MAX_SOURCE_BYTES = 2_000_000
# Changes whenever pages of the same files are rendered differently.
RENDERER_VERSION = 13


@frozen
class PackagePage:
    """A page that is rendered only when its stamp has changed."""

    address: str
    stamp: str
    """Changes with the files that the page is made from."""
    render: Callable[[], str | None]
    """Returns the text of the page; None when there is nothing to document."""
    kind: PageKind = "markdown"

    @property
    def etag(self) -> str:
        """What a stored page is compared by."""
        return f'"{sha256(f"{RENDERER_VERSION}:{self.stamp}".encode()).hexdigest()[:32]}"'

    def load(self) -> FetchedPage | None:
        """Return the page as if it had been fetched; None when there is nothing in it."""
        rendered = self.render()
        if rendered is None or not rendered.strip():
            return None
        text = whole_characters(rendered)
        return FetchedPage(
            url=self.address,
            final_url=self.address,
            status=200,
            kind=self.kind,
            body=text.encode(),
            text=text,
            fetched_at=datetime.now(UTC),
            etag=self.etag,
            origin="file",
        )


def whole_characters(text: str) -> str:
    """Return `text` without halves of characters, which escapes and names of files can hold."""
    return text.encode("utf-8", "replace").decode()


def file_stamp(path: Path) -> str:
    """Return a stamp that changes when a file does."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return "missing"
    return f"{status.st_size}:{status.st_mtime_ns}"


def read_bounded(path: Path, *, package: Path) -> str:
    """Return the text of a file.

    Raises:
        ExtractionError: it cannot be read, is too large for documentation, or is outside the
            folder of the package.
    """
    try:
        content = read_regular_file(path, max_bytes=MAX_SOURCE_BYTES, within=package)
    except OSError as error:
        raise ExtractionError(f"it cannot be read: {error.strerror}") from error
    except ValueError as error:  # no path can have such a name
        raise ExtractionError(f"it cannot be read: {error}") from error
    if len(content) > MAX_SOURCE_BYTES:
        raise ExtractionError(f"it is larger than {MAX_SOURCE_BYTES // 1_000_000} MB")
    return content.decode("utf-8", "replace")
