"""What a TypeScript `.d.ts` file declares for its users: names, code and comments."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.ingest.packages.typescript_statements import MODULES, parse_statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from citewell.ingest.packages.typescript_statements import Statement

_HIDDEN_TAGS = ("@internal", "@private", "@hidden")
_MOST_LINES = 200
_LONGEST_LINE = 120


@frozen
class Declaration:
    """Something that a file declares for others."""

    name: str
    """Qualified by what it is declared in: `LRUCache.maxSize`, `fs.cp`."""
    code: str
    """Of an interface or class, the head and the members that have no comment of their own."""
    comment: str
    """What stands in the comment before it; empty without one."""
    line: int
    deprecated: tuple[str, ...] = ()
    """The code of overloads that are deprecated."""


def find_declarations(text: str, *, package: str) -> list[Declaration]:
    """Return what a file declares for others, in the order of its source.

    Included is what has a comment, is exported, or has a member with a comment. What a module
    declares for the package itself is not qualified by the name of the package.
    """
    statements = parse_statements(text)
    exported: dict[str, str] = {}
    for local, public in _export_lists(text, statements):
        # Under its own name, where it has several.
        exported[local] = local if exported.get(local) == local else public
    is_script = not exported and not any("export" in one.words for one in statements)
    finder = _Finder(text, package.removeprefix("@types/"), exported)
    declarations: list[Declaration] = []
    for declaration in finder.walk(statements, "", all_public=is_script):
        previous = declarations[-1] if declarations else None
        if previous and previous.name == declaration.name and not declaration.comment:
            # The next overload of a function.
            declarations[-1] = replace(previous, code=f"{previous.code}\n{declaration.code}")
        else:
            declarations.append(declaration)
    return _without_deprecated_overloads(declarations)


def _without_deprecated_overloads(declarations: Sequence[Declaration]) -> list[Declaration]:
    """Return the declarations, deprecated overloads as part of one that is in use."""
    in_use = {each.name: each for each in reversed(declarations) if not _is_deprecated(each)}
    old: dict[str, list[str]] = {}
    for each in declarations:
        if _is_deprecated(each) and each.name in in_use:
            old.setdefault(each.name, []).append(each.code)
    return [
        replace(each, deprecated=tuple(old[each.name]))
        if each.name in old and each is in_use[each.name]
        else each
        for each in declarations
        if not (_is_deprecated(each) and each.name in old)
    ]


def _is_deprecated(declaration: Declaration) -> bool:
    return "@deprecated" in declaration.comment


def _export_lists(text: str, statements: Sequence[Statement]) -> Iterator[tuple[str, str]]:
    """Yield the names that `export { name as public }` and `export default name` export."""
    for statement in statements:
        code = text[statement.start : statement.end].rstrip("; \n")
        if statement.name == "export" and code.endswith("}"):
            for entry in code[code.find("{") + 1 : -1].split(","):
                names = entry.split()
                if names[:1] == ["type"]:
                    names = names[1:]
                if names:
                    yield names[0], names[0] if names[-1] == "default" else names[-1]
        elif statement.name == "export" and "=" in code:
            name = code.rpartition("=")[2].strip()
            yield name, name
        elif statement.words == ("export", "default"):
            yield statement.name, statement.name


class _Finder:
    """Finds the declarations among the statements of one file."""

    def __init__(self, text: str, package: str, exported: Mapping[str, str]) -> None:
        self._text = text
        self._package = package
        self._exported = exported
        self._newlines = [match.start() for match in re.finditer("\n", text)]

    def walk(
        self, statements: Sequence[Statement], scope: str, *, all_public: bool
    ) -> Iterator[Declaration]:
        """Yield what statements of a file or module declare."""
        for statement in statements:
            if not statement.kind or _is_hidden(statement):
                continue
            local = statement.name
            is_public = all_public or "export" in statement.words or local in self._exported
            if statement.kind in MODULES:
                inner = self._module_scope(statement, scope)
                yield from self.walk(
                    statement.body, inner, all_public=is_public or statement.kind == "module"
                )
                continue
            is_renamed = not scope and "export" not in statement.words
            name = self._exported.get(local, local) if is_renamed else f"{scope}{local}"
            members = list(self._members(statement.body, name))
            if statement.comment or members or is_public:
                yield self._declaration(statement, name)
                yield from members

    def _members(self, body: Sequence[Statement], parent: str) -> Iterator[Declaration]:
        """Yield the members of an interface, class or type that have a comment."""
        for member in body:
            if member.comment and not _is_hidden(member):
                yield self._declaration(
                    member, f"{parent}.{member.name}" if member.name else parent
                )

    def _module_scope(self, statement: Statement, scope: str) -> str:
        """Return what the names in a module are qualified by, with a dot at its end."""
        name = statement.name.removeprefix("node:").replace("/", ".")
        is_own = name == self._package or statement.kind == "global" or name.startswith(".")
        return scope if is_own or not name else f"{scope}{name}."

    def _declaration(self, statement: Statement, name: str) -> Declaration:
        return Declaration(
            name=name,
            code=self._code(statement),
            comment=statement.comment,
            line=bisect_right(self._newlines, statement.start) + 1,
        )

    def _code(self, statement: Statement) -> str:
        if statement.body_start is None:
            return self._shown(statement.start, statement.end)
        head = self._shown(statement.start, statement.body_start)
        members = [
            self._shown(member.start, member.end)
            for member in statement.body
            if not member.comment and not _is_hidden(member)
        ]
        if not members:
            return head.removesuffix("=").rstrip()
        lines = [f"  {line}" for member in members for line in member.splitlines()]
        kept = lines if len(lines) <= _MOST_LINES else [*lines[:_MOST_LINES], "  // …"]
        return "\n".join([f"{head} {{", *kept, "}"])

    def _shown(self, start: int, end: int) -> str:
        """Return a part of the code: in one line where that is short, else with its own lines."""
        code = self._text[start:end].rstrip()
        lines = code.splitlines()
        joined = " ".join(line.strip() for line in lines)
        if len(joined) <= _LONGEST_LINE and "//" not in code and "/*" not in code:
            return joined
        indent = start - self._text.rfind("\n", 0, start) - 1
        kept = [lines[0], *(_without_indent(line, indent) for line in lines[1:_MOST_LINES])]
        return "\n".join([*kept, "// …"] if len(lines) > _MOST_LINES else kept)


def _is_hidden(statement: Statement) -> bool:
    """Return whether something is not meant for the users of a package."""
    return (
        statement.name.startswith(("_", "#"))
        or "private" in statement.words
        or any(tag in statement.comment for tag in _HIDDEN_TAGS)
    )


def _without_indent(line: str, indent: int) -> str:
    return line[indent:].rstrip() if not line[:indent].strip() else line.strip()
