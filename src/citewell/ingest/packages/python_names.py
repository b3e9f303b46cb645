"""What the modules of a distribution define, import and inherit: under which names it is public."""

from __future__ import annotations

import ast
from dataclasses import field, replace
from typing import TYPE_CHECKING

from citewell.core.errors import ExtractionError
from citewell.core.frozen import frozen
from citewell.core.symbols import is_set_aside
from citewell.ingest.packages.platform_code import holds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from citewell.ingest.packages.python_sources import PythonSource

_MOST_STEPS = 20
_MOST_BASES = 50

Place = tuple[str, str]
"""A module and a name in it."""


@frozen
class ScannedModule:
    """The names at the top of a module."""

    imports: dict[str, Place] = field(default_factory=dict)
    """Where each imported name comes from; of a whole module the name is empty."""
    stars: list[str] = field(default_factory=list)
    """The modules all of whose names it imports."""
    defined: set[str] = field(default_factory=set)
    classes: dict[str, ScannedClass] = field(default_factory=dict)
    renamed_to: dict[str, str] = field(default_factory=dict)
    """What each further name for something stands for, as written."""
    instances: dict[str, str] = field(default_factory=dict)
    """The class of each object that it makes, as written."""
    listed: list[str] | None = None
    """Its `__all__`; None without one."""
    renamed: set[str] = field(default_factory=set)
    """Imported `as` themselves, which says that they are public."""
    is_broken: bool = False
    """Whether it cannot be parsed, so that it can define anything."""


@frozen
class ScannedClass:
    """The bases of a class, as written, and the public methods that it defines."""

    bases: tuple[str, ...]
    methods: tuple[str, ...]


class PublicNames:
    """Answers under which name something is public, and where a name is defined."""

    def __init__(self, sources: Mapping[str, PythonSource]) -> None:
        self.sources = sources
        self._modules = {name: _scan(source) for name, source in sources.items()}
        self._names: dict[Place, str] = {}
        self._by_star: dict[str, frozenset[str]] = {}
        for module in sorted(self._modules, key=lambda name: (is_set_aside(name), _depth(name))):
            if not is_private(module):
                self._add_names_of(module, is_package=sources[module].is_package)

    def of_module(self, module: str) -> dict[str, str]:
        """Return the public name of each name that a module defines, where it has another one."""
        return {name: public for (own, name), public in self._names.items() if own == module}

    def aliases(self, module: str) -> dict[str, str]:
        """Return the modules that a package gives another name of its own: `exp` of sqlglot."""
        listed = self._modules[module].listed
        found: dict[str, str] = {}
        for name, (base, own) in self._modules[module].imports.items():
            target = f"{base}.{own}" if own else base
            is_public = name in listed if listed is not None else not name.startswith("_")
            is_other = target in self._modules and f"{module}.{name}" not in self._modules
            if is_public and is_other and not is_private(target):
                found[name] = target
        return found if self.sources[module].is_package else {}

    def kept(self, module: str) -> list[str]:
        """Return the names that a module imports from sources of its distribution."""
        imports = self._modules[module].imports
        return [name for name, (source, _) in imports.items() if source in self._modules]

    def public_name(self, place: Place) -> str:
        """Return the name under which a definition is public; empty when it is not."""
        module, name = place
        own = "" if is_private(module) or name.startswith("_") else f"{module}.{name}"
        return self._names.get(place, own)

    def class_renamed(self, module: str, name: str) -> Place | None:
        """Return the class that a name of a module is another one for."""
        place = self._resolve(module, name) if name in self._modules[module].renamed_to else None
        return place if place and place[1] in self._modules[place[0]].classes else None

    def class_of_object(self, module: str, name: str) -> Place | None:
        """Return the class of an object that a module makes, if the distribution defines it."""
        written = self._modules[module].instances.get(name)
        place = self._find(module, written) if written else None
        return place if place and place[1] in self._modules[place[0]].classes else None

    def class_at(self, place: Place) -> ScannedClass:
        """Return the class that `class_of_object` found."""
        return self._modules[place[0]].classes[place[1]]

    def bases_of(self, module: str, name: str) -> Iterator[tuple[Place, ScannedClass]]:
        """Yield the bases of a class that the distribution defines, the nearest first."""
        waiting, seen = [(module, name)], {(module, name)}
        while waiting and len(seen) < _MOST_BASES:
            own = waiting.pop(0)
            scanned = self._modules[own[0]].classes.get(own[1])
            if scanned is None:
                continue
            if own != (module, name):
                yield own, scanned
            places = [self._find(own[0], base) for base in scanned.bases]
            for place in places:
                if place is not None and place not in seen:
                    seen.add(place)
                    waiting.append(place)

    def _add_names_of(self, module: str, *, is_package: bool) -> None:
        scanned = self._modules[module]
        passes_all_on = is_package or not scanned.defined
        names: Iterable[str] = scanned.imports
        if scanned.listed is not None:
            names = scanned.listed
        elif not passes_all_on:
            names = scanned.renamed
        names = [name for name in names if not name.startswith("_")]
        for star in scanned.stars if passes_all_on and scanned.listed is None else ():
            names += sorted(self._starred(star))
        names += [name for name in scanned.renamed_to if not name.startswith("_")]
        for name in dict.fromkeys(names):
            place = self._resolve(module, name)
            if place is not None and place != (module, name):
                self._give_name(place, f"{module}.{name}")
        for name in [*scanned.instances, *names]:
            place = self._resolve(module, name)
            made_of = self.class_of_object(*place) if place and not name.startswith("_") else None
            has_methods = made_of is not None and self.class_at(made_of).methods
            if made_of is not None and has_methods and not self.public_name(made_of):
                # Of an object whose class is private, only the object can be named.
                self._names[made_of] = f"{module}.{name}"

    def _give_name(self, place: Place, public: str) -> None:
        own = self.public_name(place)
        if place in self._names or (own and _depth(own) <= _depth(public)):
            return
        self._names[place] = public

    def _starred(self, module: str) -> frozenset[str]:
        """Return the names that `from module import *` gives."""
        known = self._by_star.get(module)
        if known is None:
            self._by_star[module] = frozenset()  # what imports itself in a circle adds nothing
            known = self._by_star[module] = self._find_starred(module)
        return known

    def _find_starred(self, module: str) -> frozenset[str]:
        scanned = self._modules.get(module)
        if scanned is None:
            return frozenset()
        if scanned.listed is not None:
            return frozenset(scanned.listed)
        names = scanned.defined.union(scanned.imports, *map(self._starred, scanned.stars))
        return frozenset(name for name in names if not name.startswith("_"))

    def _find(self, module: str, written: str, *, steps: int = 0) -> Place | None:
        """Return what a dotted name in a module stands for."""
        first, _, rest = written.partition(".")
        if not rest:
            return self._resolve(module, first, steps=steps)
        source, name = self._modules[module].imports.get(first, (None, ""))
        if source is None:
            return None
        *path, last = rest.split(".")
        inner = ".".join([source, *([name] if name else []), *path])
        return self._resolve(inner, last, steps=steps) if inner in self._modules else None

    def _resolve(self, module: str, name: str, *, steps: int = 0) -> Place | None:
        """Return where a name of a module is defined, if that is in the distribution."""
        for _ in range(_MOST_STEPS - steps):
            scanned = self._modules.get(module)
            if scanned is None:
                return None
            target = scanned.imports.get(name)
            if target is not None and target[0] in self._modules and target[1]:
                if target == (module, name):
                    return None
                module, name = target
            elif name in scanned.renamed_to and (
                place := self._find(module, scanned.renamed_to[name], steps=steps + 1)
            ):
                return place
            elif name in scanned.defined or scanned.is_broken:
                return module, name
            else:
                stars = [star for star in scanned.stars if name in self._starred(star)]
                if not stars or stars[0] == module:
                    return None
                module = stars[0]
        return None


def is_private(module: str) -> bool:
    """Return whether a module, or a package that it is in, is not for users."""
    return any(part.startswith("_") for part in module.split("."))


def _depth(name: str) -> int:
    return name.count(".")


def _scan(source: PythonSource) -> ScannedModule:
    """Return the names of a module and of its stub."""
    scanned = ScannedModule()
    for read in (source.read, source.read_stub):
        try:
            tree = ast.parse(read() or "")
        except (ExtractionError, SyntaxError, ValueError, RecursionError, MemoryError):
            # Reported when the module itself is read, which takes place if anything names it.
            scanned = replace(scanned, is_broken=True)
            continue
        listed = _scan_body(tree.body, scanned, source)
        if listed and scanned.listed is None:
            scanned = replace(scanned, listed=listed)
    return scanned


def _scan_body(body: Iterable[ast.stmt], scanned: ScannedModule, source: PythonSource) -> list[str]:
    """Add the names of statements, of which the first counts; return what `__all__` lists."""
    listed: list[str] = []
    for statement in body:
        if isinstance(statement, ast.ImportFrom):
            _scan_import(statement, scanned, source)
        elif isinstance(statement, ast.Import):
            for name in statement.names:
                if name.asname or "." not in name.name:
                    scanned.imports.setdefault(name.asname or name.name, (name.name, ""))
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            scanned.defined.add(statement.name)
        elif isinstance(statement, ast.ClassDef):
            scanned.defined.add(statement.name)
            scanned.classes.setdefault(statement.name, _scan_class(statement))
        elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            listed += _scan_assignment(statement, scanned)
        else:
            listed += _scan_body(_inner_statements(statement), scanned, source)
    return listed


def _inner_statements(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Yield what a condition or an attempt runs on this machine, the likelier branch first."""
    if isinstance(statement, ast.If):
        is_held = holds(statement.test)
        yield from statement.body if is_held is not False else ()
        yield from statement.orelse if not is_held else ()
    elif isinstance(statement, ast.Try):
        yield from (*statement.body, *statement.orelse)
        for handler in statement.handlers:
            yield from handler.body


def _scan_import(node: ast.ImportFrom, scanned: ScannedModule, source: PythonSource) -> None:
    base = node.module or ""
    if node.level:
        levels = node.level - source.is_package
        parts = source.name.split(".")
        package = ".".join(parts[: len(parts) - levels]) if levels else source.name
        base = f"{package}.{base}".rstrip(".")
    for name in node.names:
        if name.name == "*":
            scanned.stars.append(base)
            continue
        public = name.asname or name.name
        scanned.imports.setdefault(public, (base, name.name))
        if name.asname == name.name:
            scanned.renamed.add(public)


def _scan_assignment(
    node: ast.Assign | ast.AnnAssign | ast.AugAssign, scanned: ScannedModule
) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    if names == ["__all__"]:
        elements = node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else ()
        values = [each.value for each in elements if isinstance(each, ast.Constant)]
        return [value for value in values if isinstance(value, str)]
    scanned.defined.update(names)
    made = node.value.func if isinstance(node.value, ast.Call) else None
    if isinstance(node, ast.AnnAssign):
        made = node.annotation
    for name in names:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute):
            scanned.renamed_to.setdefault(name, ast.unparse(node.value))
        if isinstance(made, ast.Name | ast.Attribute):
            scanned.instances.setdefault(name, ast.unparse(made))
    return []


def _scan_class(node: ast.ClassDef) -> ScannedClass:
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
    methods = [
        each.name
        for each in node.body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        and not each.name.startswith("_")
    ]
    return ScannedClass(
        bases=tuple(ast.unparse(b) for b in bases if isinstance(b, ast.Name | ast.Attribute)),
        methods=tuple(dict.fromkeys(methods)),
    )
