"""Which declarations of an npm package its users reach, and under which names."""

from __future__ import annotations

import json
import posixpath
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from citewell.core.errors import ExtractionError
from citewell.ingest.packages.package_page import read_bounded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

INTERNAL = "internal."
"""Before the names of what a package exports nowhere."""
_SUFFIXES = ("", ".d.ts", ".d.mts", ".d.cts", "/index.d.ts", "/index.d.mts", "/index.d.cts")
_CODE_SUFFIX = re.compile(r"(?:\.d)?\.([mc]?)[jt]sx?$")
_FROM = re.compile(r"\bfrom\s{0,9}[\"'](\.[^\"'\n]{1,300})[\"']")
_AS_NAMESPACE = re.compile(r"export\s+(?:type\s+)?\*\s*as\s+([\w$]+)")
_TYPE_OF = re.compile(r"\btypeof import\(\s*[\"'](\.[^\"'\n]+)[\"']\s*\)")
_REFERENCE = re.compile(r"///\s*<reference\s+path\s*=\s*[\"']([^\"'\n]+)[\"']")
_EXPORTED = re.compile(
    r"\bexport\s+(?:type\s+)?(?:\{([^{}]{0,20000})\}|default\s+([\w$]+)|=\s*([\w$]+))"
)
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_MOST_FILES = 2_000
_MOST_CONDITIONS = 6
_MOST_EXPORTS = 5_000
_LONGEST_LIST = 20_000


class EntryPoints:
    """The files that the entry points of a package reach by exporting from them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._prefixes: dict[str, str] = {}
        for subpath, target in _entries(root):
            self._reach(target, subpath)

    def prefix(self, path: Path) -> str:
        """Return what the names that a file declares have before them, with a dot at its end."""
        if not self._prefixes:
            return ""
        shown = path.relative_to(self._root).as_posix()
        return self._prefixes.get(_module_of(shown), INTERNAL)

    def _reach(self, entry: str, prefix: str) -> None:
        waiting = [(entry, prefix)]
        seen: set[str] = set()
        while waiting and len(seen) < _MOST_FILES:
            shown, name = waiting.pop(0)
            module = _module_of(shown)
            if module in seen:
                continue
            seen.add(module)
            known = self._prefixes.get(module)
            if known is None or name.count(".") < known.count("."):
                self._prefixes[module] = name
            for target, inner in self._exports(shown):
                waiting.append((target, f"{name}{inner}"))

    def _exports(self, shown: str) -> Iterator[tuple[str, str]]:
        """Yield the files that a file passes on, each with what it puts before their names."""
        try:
            text = read_bounded(self._root / shown, package=self._root)
        except ExtractionError:
            return  # reported when the file itself is read
        found: list[tuple[str, str]] = []
        exported = {
            word
            for groups in _EXPORTED.findall(text)
            for part in groups
            for word in _WORD.findall(part)
        }
        for match in islice(_FROM.finditer(text), _MOST_EXPORTS):
            before = text[max(0, match.start() - _LONGEST_LIST) : match.start()]
            start = max(before.rfind("import"), before.rfind("export"))
            clause = before[start:] if start >= 0 else ""
            namespace = _AS_NAMESPACE.match(clause)
            if clause.startswith("export"):
                found.append((match[1], f"{namespace[1]}." if namespace else ""))
            elif exported & set(_WORD.findall(clause)):
                found.append((match[1], ""))
        found += [(match[1], "") for match in _TYPE_OF.finditer(text)]
        found += [(match[1], "") for match in _REFERENCE.finditer(text)]
        for written, inner in found:
            target = find_declaration_file(self._root, shown, written)
            if target is not None:
                yield target, inner


def find_declaration_file(root: Path, shown: str, written: str) -> str | None:
    """Return the declarations that a file imports as `./written`, relative to the package."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(shown), written))
    if target.startswith("../"):
        return None
    match = _CODE_SUFFIX.search(target)
    stem = target[: match.start()] if match else target
    kinds = [f".d.{match[1]}ts"] if match else []
    names = [target] if target.endswith((".d.ts", ".d.mts", ".d.cts")) else []
    names += [f"{stem}{suffix}" for suffix in (*kinds, *_SUFFIXES[1:])]
    return next((name for name in names if (root / name).is_file()), None)


def _module_of(shown: str) -> str:
    """Return what the files for several kinds of modules have in common."""
    parts = [part for part in shown.split("/") if part.lower() not in MODULE_FORMATS]
    return re.sub(r"\.d\.[mc]?ts$", "", "/".join(parts)).removesuffix("/index")


MODULE_FORMATS = frozenset({"cjs", "commonjs", "esm", "mjs"})
"""Folders that hold the same declarations for each kind of module."""


def _entries(root: Path) -> Iterator[tuple[str, str]]:
    """Yield what users import, the package itself first, and the file with its declarations."""
    try:
        described = json.loads(read_bounded(root / "package.json", package=root))
    except (ExtractionError, ValueError, RecursionError):
        return
    if not isinstance(described, dict):
        return
    written = described.get("exports")
    exports = written if isinstance(written, dict) else {".": written} if written else {}
    if exports and not any(str(key).startswith(".") for key in exports):
        exports = {".": exports}
    own = [described.get("types"), described.get("typings"), exports.get(".")]
    own += [described.get("main"), "./index.d.ts"]
    for value in own:
        target = _declarations_of(root, value)
        if target is not None:
            yield "", target
            break
    for subpath, value in sorted(exports.items(), key=lambda item: str(item[0])):
        name = str(subpath).removeprefix("./").removesuffix(".js")
        target = _declarations_of(root, value)
        if name not in ("", ".") and "*" not in name and target is not None:
            yield f"{name.replace('/', '.')}.", target


def _declarations_of(root: Path, value: Any, depth: int = 0) -> str | None:  # noqa: ANN401
    """Return the file of declarations that a value of `exports` leads to, by its conditions."""
    if isinstance(value, str):
        return find_declaration_file(root, "package.json", value)
    if not isinstance(value, dict) or depth > _MOST_CONDITIONS:
        return None
    conditions = ["types", "import", "require", "node", "default"]
    for condition in [*conditions, *(key for key in value if key not in conditions)]:
        found = _declarations_of(root, value.get(condition), depth + 1)
        if found is not None:
            return found
    return None
