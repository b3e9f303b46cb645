"""The documentation inside an npm package: its Markdown and its commented declarations."""

from __future__ import annotations

import logging
import os
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.errors import ExtractionError
from citewell.ingest.packages.declarations import find_declarations
from citewell.ingest.packages.npm_entries import (
    MODULE_FORMATS,
    EntryPoints,
    find_declaration_file,
)
from citewell.ingest.packages.package_page import (
    PackagePage,
    file_stamp,
    read_bounded,
    whole_characters,
)
from citewell.ingest.packages.tsdoc import tsdoc_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.ingest.packages.declarations import Declaration
    from citewell.ingest.packages.dependency import Dependency

logger = logging.getLogger(__name__)

_SKIPPED_FOLDERS = frozenset({"node_modules", "test", "tests", "__tests__", "src", ".git"})
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
# `const request: typeof import('./api').request`
_TYPE_OF_IMPORT = re.compile(r"\btypeof import\(\s*[\"'](\.[^\"'\n]+)[\"']\s*\)\.([\w$]+)")
_MOST_FILES = 2_000
# Files beyond this many are left out.
_MOST_ENTRIES = 50_000


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
    entries = EntryPoints(dependency.location)
    for path in _find_files(dependency.location):
        shown = whole_characters(path.relative_to(dependency.location).as_posix())
        is_markdown = path.suffix == ".md"
        render = (
            partial(read_bounded, path, package=dependency.location)
            if is_markdown
            else partial(_render_declarations, path, shown, entries.prefix(path), dependency)
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
    declared: set[str] = set()
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            (name for name in folders if name.lower() not in _SKIPPED_FOLDERS),
            key=lambda name: (name.lower() in MODULE_FORMATS, name),
        )
        for name in sorted(names, key=lambda name: (not name.endswith(".d.ts"), name)):
            lower = name.lower()
            path = Path(folder, name)
            if lower.endswith(_DECLARATIONS):
                twin = _without_module_format(path, root)
                if twin in declared:
                    continue
                declared.add(twin)
            elif not lower.endswith(".md") or lower.startswith("readme"):
                continue
            found += 1
            yield path
        seen += len(names) + len(folders)
        if found >= _MOST_FILES or seen >= _MOST_ENTRIES:
            logger.warning("%s has more files than are read", root)
            return


def _without_module_format(path: Path, root: Path) -> str:
    """Return what the declarations for CommonJS and for ES modules of one source have in common."""
    parts = [part for part in path.relative_to(root).parts if part.lower() not in MODULE_FORMATS]
    return "/".join([*parts[:-1], parts[-1].rpartition(".d.")[0]]).removesuffix("/index")


def _render_declarations(path: Path, shown: str, prefix: str, dependency: Dependency) -> str | None:
    """Return what a `.d.ts` file declares, as Markdown; None when that is nothing.

    `prefix` stands before its names where users do not import them from the package itself.
    """
    assert dependency.location is not None, "only an installed package has pages"
    text = read_bounded(path, package=dependency.location)
    parts = [
        _section(_with_target(declaration, shown, dependency), shown, prefix)
        for declaration in find_declarations(text, package=dependency.name)
    ]
    if not parts:
        return None
    return "\n\n".join([f"# {dependency.name}: {shown}", *parts]) + "\n"


def _with_target(declaration: Declaration, shown: str, dependency: Dependency) -> Declaration:
    """Return a declaration with what it refers to: `typeof import('./api').request`."""
    match = _TYPE_OF_IMPORT.search(declaration.code)
    root = dependency.location
    if match is None or root is None:
        return declaration
    target = find_declaration_file(root, shown, match[1])
    try:
        text = read_bounded(root / target, package=root) if target else ""
    except ExtractionError:
        return declaration
    for other in find_declarations(text, package=dependency.name):
        if other.name == match[2]:
            code = f"{declaration.code}\n{other.code}"
            return replace(declaration, code=code, comment=declaration.comment or other.comment)
    return declaration


def _section(declaration: Declaration, shown: str, prefix: str) -> str:
    name = declaration.name
    blocks = [
        f"## `{prefix}{name}` {{#{name}}}",
        f"```ts\n{declaration.code}\n```",
        tsdoc_markdown(declaration.comment),
        f"Defined in {shown}, line {declaration.line}.",
        *(f"Deprecated:\n\n```ts\n{code}\n```" for code in declaration.deprecated),
    ]
    return "\n\n".join(block for block in blocks if block)
