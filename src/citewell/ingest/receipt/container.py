"""The file of a receipt: a ZIP in which every byte is determined by the files in it.

Packing the files again reveals any changed byte, even in a time stamp.
"""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from citewell.core.errors import ArchiveRefused

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_RECEIPT_BYTES = 100_000_000
_ZIP_START = b"PK"
_MAX_FILES = 200
_EARLIEST = (1980, 1, 1, 0, 0, 0)


def pack_files(files: Mapping[str, bytes]) -> bytes:
    """Return the files as a ZIP, uncompressed, in their order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, date_time=_EARLIEST)
            entry.create_system = 3
            entry.external_attr = 0o600 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def unpack_files(data: bytes) -> dict[str, bytes]:
    """Return the files of a ZIP that `pack_files` made.

    Raises:
        ArchiveRefused: it is cut, damaged, too large, or was packed differently.
    """
    if len(data) > MAX_RECEIPT_BYTES:
        raise refused(f"it has more than {MAX_RECEIPT_BYTES:,} bytes")
    if data and not data.startswith(_ZIP_START):
        raise refused("it is no receipt")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > _MAX_FILES:
                raise refused(f"it holds {len(entries):,} files")
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
                raise refused("its files are compressed, which Citewell never writes")
            files = {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, RuntimeError) as error:
        raise refused("it is cut or damaged") from error
    if pack_files(files) != data:
        raise refused("bytes between its files were changed")
    return files


def refused(reason: str) -> ArchiveRefused:
    """Return the error for a receipt that cannot be trusted."""
    return ArchiveRefused(
        f"This receipt cannot be read: {reason}.",
        suggestion="Ask whoever made it for the file again, or make a new one.",
    )
