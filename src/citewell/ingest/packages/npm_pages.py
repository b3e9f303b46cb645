"""The documentation inside an npm package: its Markdown and its commented declarations."""

from __future__ import annotations

import logging
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.ingest.packages.package_page import PackagePage, file_stamp, read_bounded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.ingest.packages.dependency import Dependency

logger = logging.getLogger(__name__)

_SKIPPED_FOLDERS = frozenset({"node_modules", "test", "tests", "__tests__", "src", ".git"})
_MOST_FILES = 2_000
# Files beyond this many are left out.
_MOST_ENTRIES = 50_000
_MOST_DECLARATION_LINES = 20
_DECLARES = (
    *("export ", "declare ", "interface ", "type ", "class ", "function ", "const ", "enum "),
    *("abstract ", "namespace "),
)


def npm_description(dependency: Dependency) -> str:
    """Return the README of a package, or only its name when it has none."""
    assert dependency.location is not None, "only an installed package has pages"
    title = f"# {dependency.name}\n"
    readmes = sorted(dependency.location.glob("[Rr][Ee][Aa][Dd][Mm][Ee]*"))
    if not readmes:
        return title
    return f"{title}\n{read_bounded(readmes[0], package=dependency.location)}\n"


def npm_pages(dependency: Dependency) -> Iterator[PackagePage]:
    """Yield the pages of an installed package."""
    assert dependency.location is not None, "only an installed package has pages"
    for path in _find_files(dependency.location):
        shown = path.relative_to(dependency.location).as_posix()
        is_markdown = path.suffix == ".md"
        render = (
            partial(read_bounded, path, package=dependency.location)
            if is_markdown
            else partial(_render_declarations, path, shown, dependency)
        )
        yield PackagePage(
            address=f"{dependency.address}{shown}", stamp=file_stamp(path), render=render
        )


def npm_size(dependency: Dependency) -> tuple[int, int]:
    """Return how many files of a package would be read, and their bytes."""
    assert dependency.location is not None, "only an installed package has pages"
    sizes = [path.stat().st_size for path in _find_files(dependency.location) if path.is_file()]
    return len(sizes), sum(sizes)


def _find_files(root: Path) -> Iterator[Path]:
    found = seen = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name.lower() not in _SKIPPED_FOLDERS)
        for name in sorted(names):
            lower = name.lower()
            if lower.endswith((".md", ".d.ts", ".d.mts")) and not lower.startswith("readme"):
                found += 1
                yield Path(folder, name)
        seen += len(names) + len(folders)
        if found >= _MOST_FILES or seen >= _MOST_ENTRIES:
            logger.warning("%s has more files than are read", root)
            return


def _render_declarations(path: Path, shown: str, dependency: Dependency) -> str | None:
    """Return the documented declarations of a `.d.ts` file; None when none has a comment."""
    assert dependency.location is not None, "only an installed package has pages"
    lines = read_bounded(path, package=dependency.location).splitlines()
    parts: list[str] = []
    comment: list[str] | None = None
    scope = ""
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if comment is not None and comment[-1:] != ["*/"]:
            comment.append("*/" if text.endswith("*/") else text.lstrip("*").strip())
            continue
        if text.startswith("/**"):
            opened = text.removeprefix("/**").strip()
            closed = opened.endswith("*/")
            comment = [opened.removesuffix("*/").strip(), *(["*/"] if closed else [])]
            continue
        if not line[:1].isspace() and text.startswith(_DECLARES):
            scope = _declared_name(text)
        if text.startswith("import "):
            comment = None
        if text and comment is not None:
            is_member = line[:1].isspace()
            name = _declared_name(text)
            full = f"{scope}.{name}" if is_member and scope and scope != name else name
            description = "\n".join(_tsdoc_lines(comment)).strip()
            if description and name:
                signature = _declaration(lines, number - 1)
                parts.append(
                    f"## `{full}` {{#{full}}}\n\n```ts\n{signature}\n```\n\n"
                    f"{description}\n\nDefined in {shown}, line {number}."
                )
            comment = None
    if not parts:
        return None
    title = f"# {dependency.name}: {shown}"
    return "\n\n".join([title, *parts]) + "\n"


def _declaration(lines: list[str], first: int) -> str:
    """Return the declaration that begins at a line, up to where its brackets are closed."""
    taken: list[str] = []
    depth = 0
    for line in lines[first : first + _MOST_DECLARATION_LINES]:
        taken.append(line.strip())
        depth += sum(line.count(mark) for mark in "([<") - sum(line.count(mark) for mark in ")]")
        depth -= line.count(">") - line.count("=>")
        if depth <= 0:
            break
    return " ".join(taken).rstrip("{").strip()


def _declared_name(text: str) -> str:
    """Return the name that a declaration declares."""
    words = text
    for keyword in (
        *("export", "default", "declare", "abstract", "async", "static", "readonly", "public"),
        *("interface", "type", "class", "function", "const", "let", "var", "enum", "namespace"),
        *("get", "set", "private", "protected"),
    ):
        words = words.removeprefix(f"{keyword} ")
    end = next(
        (at for at, letter in enumerate(words) if not (letter.isalnum() or letter in "_$")),
        len(words),
    )
    return words[:end]


def _tsdoc_lines(comment: list[str]) -> Iterator[str]:
    for line in comment:
        if line == "*/":
            return
        if line.startswith("@"):
            tag, _, rest = line.partition(" ")
            yield f"- **{tag[1:]}** {rest}".rstrip()
        else:
            yield line
