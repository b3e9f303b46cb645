"""Files and folders that a command is given in place of URLs."""

from __future__ import annotations

import glob
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

# A page of a package is `pypi:anyio@4.16.0`; a host would be followed by a port number.
_PACKAGE_PAGE = re.compile(r"[a-z]+:\D")
# `notes.md` is more likely a missing file than a host in Moldova.
_ENDS_OF_FILES = (".md", ".rst", ".txt", ".html", ".pdf")
_LOOK_LIKE_PATHS = ("./", "../", "/", "~", ".\\", "..\\")


def expand_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments, and the patterns among them that match nothing.

    Lines of stdin are in place of `-`, and files in place of a pattern.

    Raises:
        InvalidArgument: stdin is empty, or there is nothing but patterns that match nothing.
    """
    found: list[str] = []
    unmatched: list[str] = []
    for argument in arguments:
        if argument == "-":
            lines = [line.strip() for line in sys.stdin]
            listed = [line for line in lines if line and not line.startswith("#")]
            if not listed:
                raise InvalidArgument("stdin (-) contains no URL or path")
            found += listed
        elif "://" not in argument and glob.has_magic(argument) and not Path(argument).exists():
            pattern = str(Path(argument).expanduser())
            files = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - may be absolute
            found += files
            if not files:
                unmatched.append(argument)
        else:
            found.append(argument)
    if not found:
        raise no_match(unmatched)
    return found, unmatched


def no_match(patterns: Sequence[str]) -> InvalidArgument:
    """Return the error of patterns that match nothing."""
    return InvalidArgument(f"no file matches {', '.join(map(repr, patterns))}")


def local_paths(arguments: Sequence[str]) -> list[Path]:
    """Return the arguments as paths when they name files; none when they are URLs.

    A path whose file has gone is one as well, if it is written as one.

    Raises:
        InvalidArgument: one is neither a path nor a URL, or some are paths and some are URLs.
    """
    are_paths = [_is_path(argument) for argument in arguments]
    if not any(are_paths):
        refuse_other_than_urls(arguments)
        return []
    if not all(are_paths):
        path, other = arguments[are_paths.index(True)], arguments[are_paths.index(False)]
        if "://" not in other:
            raise InvalidArgument(f"there is no file or folder {other!r}")
        raise InvalidArgument(
            f"{path!r} is a path, but {other!r} is a URL: give paths or URLs, not both at once"
        )
    return [Path(argument).expanduser() for argument in arguments]


def named_pages(arguments: Sequence[str]) -> dict[str, str]:
    """Return the URL under which each argument's page is indexed; a folder's ends in `*`.

    Files and folders are named by their paths, patterns or `file://` URLs.

    Raises:
        InvalidArgument: one is neither a path nor a URL, or a pattern matches nothing.
    """
    # Imported late: only few commands name indexed files.
    from citewell.ingest.local_files import file_of_url

    found, unmatched = expand_arguments(arguments)
    if unmatched:
        raise no_match(unmatched)
    named: dict[str, str] = {}
    for argument in found:
        path = Path(argument).expanduser() if _is_path(argument) else file_of_url(argument)
        if path is None:
            refuse_other_than_urls([argument])
            named[argument] = argument
        else:
            url = path.resolve().as_uri()
            named[argument] = f"{url}/*" if path.is_dir() else url
    return named


def refuse_other_than_urls(arguments: Sequence[str]) -> None:
    """Refuse a URL without its scheme, and a file that does not exist.

    Raises:
        InvalidArgument: one of the arguments is not a URL.
    """
    for argument in arguments:
        if "://" not in argument and not _PACKAGE_PAGE.match(argument):
            host = argument.partition("/")[0].strip(".")
            is_host = {".", ":"} & set(host) and not host.endswith(_ENDS_OF_FILES)
            meant = f"; did you mean https://{argument}?" if is_host else ""
            raise InvalidArgument(f"{argument!r} is neither a file or folder nor a URL{meant}")


def _is_path(argument: str) -> bool:
    if "://" in argument:
        return False
    return argument.startswith(_LOOK_LIKE_PATHS) or Path(argument).exists()
