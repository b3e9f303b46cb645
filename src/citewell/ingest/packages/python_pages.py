"""The documentation inside a Python distribution, read statically: no code is imported."""

from __future__ import annotations

import ast
import re
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.ingest.packages.docstrings import docstring_markdown, without_signature
from citewell.ingest.packages.package_page import PackagePage, file_stamp, read_bounded
from citewell.ingest.packages.python_names import PublicNames, is_private
from citewell.ingest.packages.python_sources import (
    PythonSource,
    find_sources,
    is_source,
    parse_module,
)
from citewell.ingest.packages.signatures import Signature, definition_signature, listed_signature

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import PurePath

    import griffe

    from citewell.core.records import PageKind
    from citewell.ingest.packages.dependency import Dependency
    from citewell.ingest.packages.distribution import InstalledDistribution

    Definition = griffe.Class | griffe.Function | griffe.Attribute

_KINDS: dict[str, PageKind] = {".md": "markdown", ".rst": "rst", ".txt": "text"}
# A directive, a line of code's announcement, or the underline of a heading.
_RST_MARK = re.compile(r"^\.\. \w[\w-]*::|::$|^(?:={3,}+|~{3,}+|\*{3,}+)$", re.MULTILINE)
_RELEASE_NOTES = frozenset({"changelog", "changes", "history", "news", "release_notes", "releases"})
_LONGEST_VALUE = 500
_MOST_BASES = 40


@frozen
class Module:
    """A module of a distribution, and the names under which its parts are public."""

    source: PythonSource
    names: PublicNames
    public_names: dict[str, str]
    """`package.Name` by name in this module, where another module re-exports it."""

    @property
    def is_private(self) -> bool:
        """Whether users only know what another module re-exports."""
        return is_private(self.source.name)

    @property
    def stamp(self) -> str:
        """Changes with its files and with what is re-exported."""
        return f"{self.source.stamp}:{len(self.public_names)}"

    def parse(self) -> griffe.Module:
        """Return what its files hold.

        Raises:
            ExtractionError: they cannot be parsed.
        """
        return parse_module(self.source, keeps=self.names.kept(self.source.name))


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
            address=f"{dependency.address}{module.source.name}",
            stamp=module.stamp,
            render=partial(_render_module, module, dependency),
        )


def python_size(dist: InstalledDistribution) -> tuple[int, int]:
    """Return how many files of a distribution would be read, and their bytes; none is opened."""
    sizes = [
        file.size or 0
        for file in dist.files or ()
        if (is_source(file) and not any(part.startswith("_") for part in file.parts[:-1]))
        or _is_document(file)
    ]
    return len(sizes), sum(sizes)


def _is_document(file: PurePath) -> bool:
    is_release_notes = file.stem.lower() in _RELEASE_NOTES
    is_in_docs = "docs" in {part.lower() for part in file.parts}
    return file.suffix in _KINDS and (is_in_docs or is_release_notes)


@lru_cache(maxsize=8)
def _parse_base(source: PythonSource) -> griffe.Module:
    """Return a module that classes of other modules have bases in; several do in turn."""
    return parse_module(source)


def _find_modules(files: Sequence[tuple[PurePath, Path]], package: Path) -> list[Module]:
    """Return the public modules, and private ones that a public module re-exports."""
    sources = find_sources(files, package)
    names = PublicNames(sources)
    modules = [
        Module(source=source, names=names, public_names=names.of_module(name))
        for name, source in sorted(sources.items())
    ]
    return [module for module in modules if module.public_names or not module.is_private]


def _render_module(module: Module, dependency: Dependency) -> str | None:
    """Return the module as Markdown; None when it documents nothing.

    Raises:
        ExtractionError: it cannot be parsed.
    """
    tree = module.parse()
    parts = [
        part
        for member in _definitions(tree)
        for part in _render(member, module, member.name, level=2)
    ]
    functions = [
        listed_signature(member)
        for member in _undocumented_functions(_definitions(tree))
        if not module.is_private and member.name not in module.public_names
    ]
    name = module.source.name
    if functions:
        parts += [f"## `{name}.*` {{#functions}}", _fenced(functions)]
    for alias, target in module.names.aliases(name).items():
        code = _fenced([f"import {target} as {alias}"])
        parts.append(f"## `{name}.{alias}` {{#{alias}}}\n\n{code}")
    if tree.docstring is None and not parts:
        return None
    # Without the version: the same page has the same title in every version.
    title = f"# {name} ({dependency.name})"
    opening = [docstring_markdown(tree.docstring.value)] if tree.docstring else []
    return "\n\n".join([title, *opening, *parts]) + "\n"


def _render(
    member: Definition, module: Module, local: str, *, level: int, shown_path: str = ""
) -> Iterator[str]:
    """Yield the blocks of a definition; `local` is its name within the module.

    `shown_path` is where it is defined, if not in the module.

    What a package re-exports is shown without a docstring, too: its signature says something, and
    so do those of a class's methods.
    """
    import griffe

    inner: list[str] = []
    relation = _relation(member, module)
    if isinstance(member, griffe.Class):
        for child in _members_of_class(member):
            inner += _render(child, module, f"{local}.{child.name}", level=level + 1)
        for base, child in _members_of_private_bases(member, module):
            own, path = f"{local}.{child.name}", base.shown_path
            inner += _render(child, module, own, level=level + 1, shown_path=path)
    outermost, _, rest = local.partition(".")
    is_exported = outermost in module.public_names
    methods = _undocumented_methods(member)
    says_something = _says_something(member) or bool(inner or methods or relation)
    is_class = isinstance(member, griffe.Class)
    is_documented = says_something or ((is_exported or is_class) and not rest)
    if not is_documented or (module.is_private and not is_exported):
        return
    public = module.public_names.get(outermost, f"{module.source.name}.{outermost}")
    qualified = f"{public}.{rest}" if rest else public
    signature = definition_signature(member)
    shown_path = shown_path or module.source.shown_path
    yield f"{'#' * min(level, 6)} `{qualified}` {{#{local}}}"
    yield _fenced([signature.short, *methods])
    if warning := _deprecation(member):
        yield f"**Deprecated:** {warning}"
    if member.docstring is not None:
        yield docstring_markdown(without_signature(member.docstring.value, name=member.name))
    yield from _parameters(signature)
    yield "\n".join([f"Defined in {shown_path}, line {member.lineno}.", *relation])
    yield from inner


def _parameters(signature: Signature) -> Iterator[str]:
    """Yield the list of parameters that the signature has no room for, or that say something."""
    about = dict(signature.about)
    written = {
        part.lstrip("*").partition(":")[0].partition("=")[0]: part for part in signature.parameters
    }
    entries = []
    for name in dict.fromkeys((*written, *about)):
        shown = f"`{written[name.strip()]}`" if name in written else name
        entries.append(
            f"- {shown}: {_one_paragraph(about[name])}" if name in about else f"- {shown}"
        )
    if entries:
        yield "**Parameters**\n\n" + "\n".join(entries)


def _one_paragraph(text: str) -> str:
    """Return a description as the text of one item of a list."""
    return docstring_markdown(text).strip().replace("\n", "\n  ")


def _relation(member: Definition, module: Module) -> list[str]:
    """Return what a class, an object or another name for a class has its members from."""
    import griffe

    names, here = module.names, (module.source.name, member.name)
    if isinstance(member.parent, griffe.Class) or isinstance(member, griffe.Function):
        return []
    verb, places = "Inherits from", [place for place, _ in names.bases_of(*here)]
    if isinstance(member, griffe.Attribute):
        renamed, made_of = names.class_renamed(*here), names.class_of_object(*here)
        verb, found = ("Same as", renamed) if renamed else ("Object of", made_of)
        places = [found, *(place for place, _ in names.bases_of(*found))] if found else []
    # An object whose class is private gives that its name.
    own = names.public_name(here) or f"{here[0]}.{here[1]}"
    public = [name for place in places if (name := names.public_name(place)) and name != own]
    listed = ", ".join(f"`{name}`" for name in public[:_MOST_BASES])
    return [f"\n{verb} {listed}."] if listed else []


def _fenced(signatures: Sequence[str]) -> str:
    return "\n".join(["```python", *signatures, "```"])


def _undocumented_methods(member: Definition) -> list[str]:
    """Return the signatures of what has no section in a class: members without a docstring."""
    import griffe

    if not isinstance(member, griffe.Class):
        return []
    children = _members_of_class(member)
    fields = [
        f"{child.name}: {str(child.annotation or 'property')[:_LONGEST_VALUE]}"
        for child in children
        if isinstance(child, griffe.Attribute)
        and not _says_something(child)
        and (child.annotation is not None or "property" in child.labels)
    ]
    return [*map(listed_signature, _undocumented_functions(children)), *fields]


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


def _members_of_private_bases(
    member: griffe.Class, module: Module
) -> Iterator[tuple[PythonSource, Definition]]:
    """Yield what a class inherits from classes of other modules that have no section there."""
    import griffe

    if member.path.count(".") > module.source.name.count(".") + 1:
        return  # a class within a class
    names, known = module.names, set(member.members)
    for place, _ in names.bases_of(module.source.name, member.name):
        source = names.sources[place[0]]
        if source is module.source or names.public_name(place):
            continue
        base = _parse_base(source).members.get(place[1])
        for child in _definitions(base) if isinstance(base, griffe.Class) else ():
            if child.name not in known:
                known.add(child.name)
                yield source, child


def _definitions(parent: griffe.Module | griffe.Class) -> list[Definition]:
    """Return what a module or class itself defines publicly, in the order of its source."""
    import griffe

    # A stub has overloads alone where the code has a function.
    overloaded = [
        overloads[0]
        for name, overloads in parent.overloads.items()
        if overloads and name not in parent.members
    ]
    for function in overloaded:
        function.overloads = parent.overloads[function.name]
    members = [
        member
        for member in (*parent.members.values(), *overloaded)
        if isinstance(member, griffe.Class | griffe.Function | griffe.Attribute)
        and not member.name.startswith("_")
    ]
    return sorted(members, key=lambda member: member.lineno or 0)
