"""The modules of a Python distribution as files: sources, and the stubs that type them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from citewell.core.errors import ExtractionError
from citewell.core.frozen import frozen
from citewell.ingest.packages.package_page import file_stamp, read_bounded
from citewell.ingest.packages.platform_code import without_other_platforms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import griffe

_SKIPPED_FOLDERS = frozenset(
    {
        "tests",
        "test",
        "_vendor",
        "vendor",
        "vendored",
        "__pycache__",
        "examples",
        "node_modules",
    }
)
# Of packages that consist of stubs, `heron-stubs`; it types the package `heron` (PEP 561).
_STUBS = "-stubs"
_MOST_MODULES = 3_000
_MOST_DEPTH = 6


@frozen
class PythonSource:
    """A module of a distribution."""

    name: str
    path: Path
    """Its code; its stub where the code is compiled."""
    folder: Path
    """The folder that its files must be in."""
    shown_path: str
    """Relative to where the distribution is installed."""
    stub: Path | None = None
    """Types what `path` defines."""

    @property
    def is_package(self) -> bool:
        """Whether other modules can be below it."""
        return self.path.stem == "__init__"

    @property
    def stamp(self) -> str:
        """Changes when one of its files does."""
        stub = f":{file_stamp(self.stub)}" if self.stub else ""
        return f"{file_stamp(self.path)}{stub}"

    def read(self) -> str:
        """Return its code, without what is for other platforms.

        Raises:
            ExtractionError: it cannot be read or parsed.
        """
        return _read_code(self.path, self.folder)

    def read_stub(self) -> str | None:
        """Return the code of its stub; None without one that can be read."""
        try:
            return _read_code(self.stub, self.folder) if self.stub else None
        except ExtractionError:
            return None  # what it types is documented all the same


def is_source(file: PurePath) -> bool:
    """Return whether a file of a distribution is a module that users could import."""
    return file.suffix in (".py", ".pyi") and not _SKIPPED_FOLDERS & set(file.parts)


def find_sources(files: Sequence[tuple[PurePath, Path]], package: Path) -> dict[str, PythonSource]:
    """Return the modules among the files of a distribution, by name.

    A package that has no types of its own has those of its stubs package, if that is installed.
    """
    sources: dict[str, PythonSource] = {}
    # Sources before stubs.
    for file, located in sorted(files, key=lambda each: each[0].suffix):
        name = _module_name(file)
        known = sources.get(name)
        if known is not None and file.suffix == ".pyi" and known.stub is None:
            sources[name] = replace(known, stub=located)
        elif known is None and name and len(sources) < _MOST_MODULES:
            sources[name] = PythonSource(
                name=name, path=located, folder=package, shown_path=file.as_posix()
            )
    has_types = any(file.suffix == ".pyi" or file.name == "py.typed" for file, _ in files)
    if not has_types:
        for file, located in _stub_files(sources, package):
            if (known := sources.get(_module_name(file))) is not None:
                sources[known.name] = replace(known, stub=located)
    return sources


def parse_module(source: PythonSource, *, keeps: Iterable[str] = ()) -> griffe.Module:
    """Return a module, with signatures and types from its stub where it has one.

    `keeps` are the names that it imports from sources of its distribution: those are documented
    there, whatever the stub says.

    Raises:
        ExtractionError: it cannot be read or parsed.
    """
    # Takes a fifth of a second to import, and only syncing needs it.
    import griffe

    tree = _visit(source, source.path, source.read())
    text = source.read_stub()
    if text is None or source.stub is None:
        return tree
    try:
        stub = _visit(source, source.stub, text)
    except ExtractionError:
        return tree
    kept = set(keeps)
    for name, member in list(stub.members.items()):
        own = tree.members.get(name)
        if isinstance(own, griffe.Alias) and name not in kept and not member.is_alias:
            # It comes from a compiled module, whose only text is the stub.
            tree.set_member(name, member)
    for name, overloads in list(stub.overloads.items()):
        is_imported = isinstance(tree.members.get(name), griffe.Alias)
        if is_imported and name in kept:
            del stub.overloads[name]
        elif overloads and (is_imported or name not in tree.members):
            if is_imported:
                tree.del_member(name)
            tree.overloads[name] = stub.overloads.pop(name)
    try:
        return griffe.merge_stubs(tree, stub)
    except griffe.GriffeError as error:
        raise ExtractionError(f"its stub cannot be merged: {error}") from error


def _visit(source: PythonSource, path: Path, code: str) -> griffe.Module:
    import griffe

    try:
        return griffe.visit(source.name, filepath=path, code=code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExtractionError(f"it cannot be parsed: {error}") from error


def _read_code(path: Path, folder: Path) -> str:
    try:
        return without_other_platforms(read_bounded(path, package=folder))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExtractionError(f"it cannot be parsed: {error}") from error


def _module_name(file: PurePath) -> str:
    """Return the name under which a file is imported; empty when it cannot be, or is too deep."""
    if not is_source(file):
        return ""
    parts = [file.parts[0].removesuffix(_STUBS), *file.parts[1:-1], file.stem]
    if len(file.parts) == 1:
        parts = [file.stem]
    if parts[-1] == "__init__":
        parts = parts[:-1]
    is_name = all(part.isidentifier() for part in parts) and len(parts) <= _MOST_DEPTH
    return ".".join(parts) if is_name else ""


def _stub_files(sources: Iterable[str], package: Path) -> list[tuple[PurePath, Path]]:
    """Return the files of the installed stubs packages for the packages of a distribution."""
    tops = sorted({name.partition(".")[0] for name in sources})
    folders = [package / f"{top}{_STUBS}" for top in tops]
    return [
        (PurePath(path.relative_to(package)), path)
        for folder in folders
        for path in sorted(folder.rglob("*.pyi"))[:_MOST_MODULES]
    ]
