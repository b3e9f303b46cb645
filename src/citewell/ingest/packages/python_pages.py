"""The documentation inside a Python distribution, read statically: no code is imported."""

from __future__ import annotations

import ast
import re
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.errors import ExtractionError
from citewell.core.frozen import frozen
from citewell.ingest.packages.docstrings import docstring_markdown
from citewell.ingest.packages.package_page import PackagePage, file_stamp, read_bounded

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence
    from pathlib import PurePath

    import griffe

    from citewell.core.records import PageKind
    from citewell.ingest.packages.dependency import Dependency
    from citewell.ingest.packages.distribution import InstalledDistribution

    Definition = griffe.Class | griffe.Function | griffe.Attribute

_SKIPPED_FOLDERS = frozenset(
    {
        "tests",
        "test",
        "testing",
        "_vendor",
        "vendor",
        "vendored",
        "__pycache__",
        "examples",
        "node_modules",
    }
)
_KINDS: dict[str, PageKind] = {".md": "markdown", ".rst": "rst", ".txt": "text"}
# A directive, a line of code's announcement, or the underline of a heading.
_RST_MARK = re.compile(r"^\.\. \w[\w-]*::|::$|^(?:={3,}+|~{3,}+|\*{3,}+)$", re.MULTILINE)
_RELEASE_NOTES = frozenset({"changelog", "changes", "history", "news", "release_notes", "releases"})
_MOST_MODULES = 3_000
_MOST_DEPTH = 6
_LONGEST_VALUE = 500


@frozen
class Module:
    """A module of a distribution, and the names under which its parts are public."""

    name: str
    path: Path
    folder: Path
    """The folder that its file must be in."""
    shown_path: str
    """Relative to where the distribution is installed."""
    is_private: bool
    public_names: dict[str, str]
    """`package.Name` by name in this module, where another module re-exports it."""


def python_front_page(dependency: Dependency, dist: InstalledDistribution) -> PackagePage:
    """Return the README of a distribution, or the summary when it has none."""
    kind = _readme_kind(dist)
    # RECORD holds the hash of every installed file; that of an editable install lists no sources.
    record = dist.read_text("RECORD") or ""
    return PackagePage(
        address=f"{dependency.address}README",
        stamp=sha256(record.encode()).hexdigest(),
        kind=kind,
        render=partial(_describe, dependency.name, dist, kind),
    )


def _readme_kind(dist: InstalledDistribution) -> PageKind:
    """Return how a README is written: as its metadata say, else by the marks that it has."""
    written = dist.metadata.json
    declared = str(written.get("description_content_type") or "").lower()
    if declared:
        return "rst" if "rst" in declared else "markdown"
    return "rst" if _RST_MARK.search(str(written.get("description") or "")) else "markdown"


def _describe(name: str, dist: InstalledDistribution, kind: PageKind) -> str:
    written = dist.metadata.json
    description = str(written.get("description") or written.get("summary") or "").strip()
    line = "#" * len(name)
    title = f"{line}\n{name}\n{line}" if kind == "rst" else f"# {name}"
    return f"{title}\n\n{description}\n"


def python_pages(dependency: Dependency, dist: InstalledDistribution) -> Iterator[PackagePage]:
    """Yield the pages of a distribution: its modules and its bundled documents."""
    files = [(file, Path(str(dist.locate_file(file)))) for file in dist.files or ()]
    for file, located in files:
        if _is_document(file):
            yield PackagePage(
                address=f"{dependency.address}{file.as_posix()}",
                stamp=file_stamp(located),
                render=partial(read_bounded, located, package=dist.site_packages),
                kind=_KINDS[file.suffix],
            )
    for module in _find_modules(files, dist.site_packages):
        yield PackagePage(
            address=f"{dependency.address}{module.name}",
            stamp=f"{file_stamp(module.path)}:{len(module.public_names)}",
            render=partial(_render_module, module, dependency),
        )


def python_size(dist: InstalledDistribution) -> tuple[int, int]:
    """Return how many files of a distribution would be read, and their bytes; none is opened."""
    sizes = [
        file.size or 0
        for file in dist.files or ()
        if (_is_source(file) and not any(part.startswith("_") for part in file.parts[:-1]))
        or _is_document(file)
    ]
    return len(sizes), sum(sizes)


def _is_source(file: PurePath) -> bool:
    return file.suffix in (".py", ".pyi") and not _SKIPPED_FOLDERS & set(file.parts)


def _is_document(file: PurePath) -> bool:
    is_release_notes = file.stem.lower() in _RELEASE_NOTES
    is_in_docs = "docs" in {part.lower() for part in file.parts}
    return file.suffix in _KINDS and (is_in_docs or is_release_notes)


def _find_modules(files: Sequence[tuple[PurePath, Path]], package: Path) -> list[Module]:
    """Return the public modules, and private ones that a public package re-exports."""
    sources: dict[str, tuple[Path, str]] = {}
    for file, located in files:
        if not _is_source(file):
            continue
        parts = [*file.parts[:-1], file.stem]
        if ".." in parts or not all(part.isidentifier() for part in parts):
            continue
        if parts[-1] == "__init__":
            parts = parts[:-1]
        if parts and len(parts) <= _MOST_DEPTH and len(sources) < _MOST_MODULES:
            name = ".".join(parts)
            if name not in sources or file.suffix == ".py":
                sources[name] = (located, file.as_posix())
    exported = _re_exports({name: path for name, (path, _) in sources.items()}, package)
    return [
        Module(
            name=name,
            path=path,
            folder=package,
            shown_path=shown,
            is_private=_is_private(name),
            public_names=exported.get(name, {}),
        )
        for name, (path, shown) in sorted(sources.items())
        if name in exported or not _is_private(name)
    ]


def _is_private(module: str) -> bool:
    return any(part.startswith("_") for part in module.split("."))


def _re_exports(paths: dict[str, Path], package_folder: Path) -> dict[str, dict[str, str]]:
    """Return, for each module, the public names that packages give to what it defines."""
    import griffe

    exported: dict[str, dict[str, str]] = {}
    for package, path in sorted(paths.items(), key=lambda item: item[0].count(".")):
        if path.stem != "__init__" or _is_private(package):
            continue
        try:
            tree = _visit(package, path, package_folder)
        except ExtractionError:
            continue  # reported when the module itself is read
        for name, target in tree.imports.items():
            module, _, defined = target.rpartition(".")
            if module in paths and module != package and not name.startswith("_"):
                exported.setdefault(module, {}).setdefault(defined, f"{package}.{name}")
        listed = [name for name in tree.exports or () if isinstance(name, str)]
        for member in tree.members.values():
            if isinstance(member, griffe.Alias) and member.wildcard in paths:
                names = exported.setdefault(str(member.wildcard), {})
                names |= {name: f"{package}.{name}" for name in listed if name not in names}
    _follow_imports(exported, paths, package_folder)
    return exported


def _follow_imports(
    exported: dict[str, dict[str, str]], paths: dict[str, Path], package_folder: Path
) -> None:
    """Give public names to what private modules pass on from the modules that define it."""
    modules = [module for module in exported if _is_private(module)]
    for module in modules:
        try:
            imports = _visit(module, paths[module], package_folder).imports
        except ExtractionError:
            continue  # reported when the module itself is read
        for name, public in list(exported[module].items()):
            source, defined = _source_of(imports.get(name, ""), module, paths)
            if source is None or source == module:
                continue
            if source not in exported and _is_private(source):
                modules.append(source)
            exported.setdefault(source, {}).setdefault(defined, public)


def _source_of(target: str, module: str, paths: Container[str]) -> tuple[str | None, str]:
    """Return the module that an import of `module` names, if it is one of `paths`, and the name.

    Relative imports are read as those of a package, so they name one level too many.
    """
    source, _, defined = target.rpartition(".")
    level = module
    while source not in paths and level:
        above = level.rpartition(".")[0]
        if source.startswith(f"{level}.") and above + source[len(level) :] in paths:
            source = above + source[len(level) :]
        level = above
    return (source if source in paths else None), defined


def _visit(name: str, path: Path, package_folder: Path) -> griffe.Module:
    """Return a module parsed from its source.

    Raises:
        ExtractionError: it cannot be read or parsed.
    """
    # Takes a fifth of a second to import, and only syncing needs it.
    import griffe

    try:
        return griffe.visit(name, filepath=path, code=read_bounded(path, package=package_folder))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExtractionError(f"it cannot be parsed: {error}") from error


def _render_module(module: Module, dependency: Dependency) -> str | None:
    """Return the module as Markdown; None when it documents nothing.

    Raises:
        ExtractionError: it cannot be parsed.
    """
    tree = _visit(module.name, module.path, module.folder)
    parts = [
        part
        for member in _definitions(tree)
        for part in _render(member, module, member.name, level=2)
    ]
    functions = [
        _signature(member)
        for member in _undocumented_functions(_definitions(tree))
        if not module.is_private and member.name not in module.public_names
    ]
    if functions:
        parts += [f"## `{module.name}.*` {{#functions}}", _fenced(functions)]
    if tree.docstring is None and not parts:
        return None
    # Without the version: the same page has the same title in every version.
    title = f"# {module.name} ({dependency.name})"
    opening = [docstring_markdown(tree.docstring.value)] if tree.docstring else []
    return "\n\n".join([title, *opening, *parts]) + "\n"


def _render(member: Definition, module: Module, local: str, *, level: int) -> Iterator[str]:
    """Yield the blocks of a definition; `local` is its name within the module.

    What a package re-exports is shown without a docstring, too: its signature says something.
    """
    import griffe

    inner: list[str] = []
    if isinstance(member, griffe.Class):
        for child in _members_of_class(member):
            inner += _render(child, module, f"{local}.{child.name}", level=level + 1)
    outermost, _, rest = local.partition(".")
    is_exported = outermost in module.public_names
    is_documented = _says_something(member) or bool(inner) or (is_exported and not rest)
    if not is_documented or (module.is_private and not is_exported):
        return
    public = module.public_names.get(outermost, f"{module.name}.{outermost}")
    qualified = f"{public}.{rest}" if rest else public
    yield f"{'#' * min(level, 6)} `{qualified}` {{#{local}}}"
    yield _fenced([_signature(member), *_undocumented_methods(member)])
    if warning := _deprecation(member):
        yield f"**Deprecated:** {warning}"
    if member.docstring is not None:
        yield docstring_markdown(member.docstring.value)
    yield f"Defined in {module.shown_path}, line {member.lineno}."
    yield from inner


def _fenced(signatures: Sequence[str]) -> str:
    return "\n".join(["```python", *signatures, "```"])


def _undocumented_methods(member: Definition) -> list[str]:
    """Return the signatures of the methods that have no section: those without a docstring."""
    import griffe

    if not isinstance(member, griffe.Class):
        return []
    return [_signature(child) for child in _undocumented_functions(_members_of_class(member))]


def _undocumented_functions(members: Sequence[Definition]) -> list[griffe.Function]:
    import griffe

    return [
        member
        for member in members
        if isinstance(member, griffe.Function) and not _says_something(member)
    ]


def _says_something(member: Definition) -> bool:
    return member.docstring is not None or bool(_deprecation(member))


def _deprecation(member: Definition) -> str:
    """Return what `@deprecated("…")` says about a definition; empty without one."""
    import griffe

    for decorator in () if isinstance(member, griffe.Attribute) else member.decorators:
        call = decorator.value
        if isinstance(call, griffe.ExprCall) and str(call.function).endswith("deprecated"):
            for argument in call.arguments[:1]:
                try:
                    message = ast.literal_eval(str(argument))
                except (SyntaxError, ValueError):
                    return ""
                return message if isinstance(message, str) else ""
    return ""


def _members_of_class(parent: griffe.Class) -> list[Definition]:
    """Return what a class defines, and what it inherits from private classes of its module.

    Those have no section of their own, so that it is found under the public class alone.
    """
    import griffe

    members = _definitions(parent)
    known = set(parent.members)
    bases, seen = list(parent.bases), {parent.name}
    while bases:
        name = str(bases.pop(0)).partition("[")[0]
        base = parent.module.members.get(name)
        if not isinstance(base, griffe.Class) or not name.startswith("_") or name in seen:
            continue
        seen.add(name)
        members += [member for member in _definitions(base) if member.name not in known]
        known.update(base.members)
        bases += base.bases
    return members


def _definitions(parent: griffe.Module | griffe.Class) -> list[Definition]:
    """Return what a module or class itself defines publicly, in the order of its source."""
    import griffe

    members = [
        member
        for name, member in parent.members.items()
        if isinstance(member, griffe.Class | griffe.Function | griffe.Attribute)
        and not name.startswith("_")
    ]
    return sorted(members, key=lambda member: member.lineno or 0)


def _signature(member: Definition) -> str:
    import griffe

    if isinstance(member, griffe.Function):
        prefix = "async def " if "async" in member.labels else "def "
        return f"{prefix}{member.signature()}"
    if isinstance(member, griffe.Attribute):
        annotation = "" if member.annotation is None else f": {member.annotation}"
        value = "" if member.value is None else f" = {member.value}"
        return f"{member.name}{annotation}{value}"[:_LONGEST_VALUE]
    bases = ", ".join(str(base) for base in member.bases)
    head = f"class {member.name}({bases})" if bases else f"class {member.name}"
    start = member.members.get("__init__")
    if isinstance(start, griffe.Function):
        return f"{head}\n{start.signature(name=member.name)}"
    return head
