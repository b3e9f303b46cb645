"""Reading files that somebody else laid: regular ones only, bounded, and inside their folder."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Opening a pipe waits for its writer unless told not to. Windows has neither flag, and needs
# another to leave line ends alone.
_FLAGS = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"):
    _FLAGS |= getattr(os, _name, 0)


def read_regular_file(path: Path, *, max_bytes: int, within: Path | None = None) -> bytes:
    """Return the first `max_bytes` of a file, and one more if it has more.

    With `within`, the file must be below that folder once links are followed; the folder itself
    may be reached by a link.

    Raises:
        OSError: it cannot be read, is a pipe, device or folder, or a link leads out of the folder.
    """
    if within is not None:
        path = _resolve_within(path, within)
    handle = os.open(path, _FLAGS)
    try:
        # Asked of what was opened: the name may stand for something else by now.
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(max_bytes + 1)
    finally:
        os.close(handle)


def _resolve_within(path: Path, folder: Path) -> Path:
    try:
        target, root = path.resolve(strict=True), folder.resolve(strict=True)
    except RuntimeError as error:  # how Python reports a loop of links before 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error
    if not target.is_relative_to(root):
        raise OSError(errno.EACCES, f"it leads out of the folder {folder.name}")
    return target
