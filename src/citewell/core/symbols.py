"""The symbols that a page defines: each with the section that is its definition.

Documentation generators mark them by an anchor and by how the section begins: Sphinx with the
signature in bold, pages of packages and mkdocstrings with a name in code above a signature, rustdoc
and godoc with a declaration as the heading, Javadoc by the heading above all methods or fields.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from citewell.core.records import ExtractedPage, Section

DEFINED_AS = "is defined as"
"""What stands in a note between the name that was asked for and that of its definition."""
_MOST_SYMBOLS = 5_000
_MAX_NAME_CHARACTERS = 200
_NAME = re.compile(r"(?:--?)?[A-Za-z_$][\w$]*(?:(?:\.|::|#|->|-)[A-Za-z_$][\w$]*)*")
_JOINT = re.compile(r"::|#|->")
_CALL = re.compile(r"[(\[<{].*", re.DOTALL)
_BOLD_SIGNATURE = re.compile(r"(?:> ?)*\*\*[^*\n]|(?:> ?)*```")
_CODE_HEADING = re.compile(r"#{1,6} `[^`\n]+`(?: \{#[^}\n]*\})?\s*+(?<=\n)(?:```|\*\*)")
# The signature of a class or module on a page of a package, and of what it has without a comment.
_LISTING = re.compile(r"#{1,6} `([^`\n]+)`(?: \{#[^}\n]*\})?\s*+(?<=\n)```(?:python|ts)\n")
_LISTED = re.compile(
    r"(?:async )?def (\w+)\(|([A-Za-z]\w*): (?=\S)"
    r"|  (?:(?:static|readonly|abstract|override|get|set|async) )*+([\w$]+)\??[(<:]"
)
_GOES_ON = re.compile(r"   |  [)}\]>|&]")
# What a class or an object has its members from, nearest first, on a page of a package.
_RELATED = re.compile(r"^(?:Inherits from|Object of|Same as) (`[^\n]+`)\.$", re.MULTILINE)
_IN_CODE = re.compile(r"`([^`\n]+)`")
_PACKAGE_MODULE = re.compile(r"([A-Za-z_][\w.]*) \([\w.-]+\)")
# Parts of a name that say that something is kept for old code, or is not for users.
_SET_ASIDE = frozenset(
    {
        *("legacy", "compat", "deprecated", "vendor", "vendored", "internal", "internals", "mypy"),
        *("tests", "test", "jython", "v1", "v2", "v3"),
    }
)
# Signatures one below the other.
_SIGNATURES = re.compile(r"(?:\*\*[^\n]{1,400}+(?<=\*\*)(?:\n|$)){2,200}+")
_OPENS_SIGNATURE = re.compile(
    r"^(?:(?:async|class|classmethod|exception|property|staticmethod|abstractmethod) )++"
)
# The anchors of rustdoc for what belongs to the item of the page.
_RUST_MEMBER = re.compile(
    r"(?:method|tymethod|variant|structfield|associatedconstant|associatedtype)\.(\w+)"
)
_RUST_ITEM = re.compile(
    r"(?:Struct|Enum|Trait|Function|Macro|Union|Constant|Static|Type(?: Alias| Definition)?"
    r"|Primitive Type|Attribute Macro|Derive Macro|Module|Crate|Keyword)\s+([\w:]+!?)"
)
_DECLARATION = re.compile(
    r"(?:pub |export |async |unsafe |const |static )*"
    r"(?:func|fn|type|class|interface|function|struct|enum|trait|method|const|var|def)\s+"
    r"(?:\([^()]*\)\s*)?([A-Za-z_$][\w$.]*)"
)
_JAVA_ITEM = re.compile(
    r"(?:Class|Interface|Enum(?: Class)?|Record(?: Class)?|Annotation (?:Type|Interface)) ([\w$.]+)"
)
_JAVA_PART = re.compile(
    r"(?:Method|Field|Constructor|Enum Constant|(?:Required |Optional )?Element|Property"
    r"|Nested Class) (?:(Details?)|Summary)"
)


@frozen
class DefinedSymbol:
    """A name and the section that defines it."""

    section: int
    offset: int = 0
    """Where in its section the definition stands."""
    full_name: str
    """With its module and class where the page says them, joined by dots, as written."""

    @property
    def last_name(self) -> str:
        """Its last part in lower case: what a question is sure to name."""
        return last_part(self.full_name)


def find_symbols(page: ExtractedPage) -> list[DefinedSymbol]:
    """Return the symbols that the sections of a page define, in order, each once a section."""
    symbols: dict[tuple[int, str], DefinedSymbol] = {}
    of_java = _java_names(page.sections)
    item = ""
    module = _package_module(page.sections)
    for section in page.sections:
        text = page.text[section.start : section.end]
        item = item or _rust_item(section)
        names = [*_names_of(section, text, item)]
        if module and names and section.anchor and f"{module}.{section.anchor}" not in names:
            # What a package re-exports is also known by the module that defines it.
            names.append(f"{module}.{section.anchor}")
        for name in [of_java.get(section.ordinal, "")] if of_java else names:
            full_name = _JOINT.sub(".", name).strip(".")
            if full_name and len(full_name) <= _MAX_NAME_CHARACTERS:
                symbol = DefinedSymbol(section=section.ordinal, full_name=full_name)
                symbols.setdefault((section.ordinal, full_name.lower()), symbol)
        for name, offset in _listed_names(text):
            symbol = DefinedSymbol(section=section.ordinal, offset=offset, full_name=name)
            symbols.setdefault((section.ordinal, name.lower()), symbol)
        if len(symbols) >= _MOST_SYMBOLS:
            break
    return list(symbols.values())


def last_part(name: str) -> str:
    """Return the last part of a symbol in lower case: `Path::join` → `join`."""
    return _JOINT.sub(".", name).rpartition(".")[2].lower()


def is_set_aside(name: str) -> bool:
    """Return whether a name is that of something legacy, vendored or internal.

    What has the same last name elsewhere is the definition.
    """
    parts = _JOINT.sub(".", name).lower().split(".")[:-1]
    return any(part.strip("_") in _SET_ASIDE or part.startswith("_") for part in parts)


def related_names(text: str, start: int, end: int) -> list[str]:
    """Return what a definition says that it has its members from, nearest first."""
    match = _RELATED.search(text, start, end)
    return _IN_CODE.findall(match[1]) if match else []


def shared_parts(full_name: str, asked: str) -> int:
    """Return how many parts two names share, counted from their ends, in any case."""
    own, other = (_JOINT.sub(".", name).lower().split(".") for name in (full_name, asked))
    shared = 0
    for mine, theirs in zip(reversed(own), reversed(other), strict=False):
        if mine != theirs:
            break
        shared += 1
    return shared


def _package_module(sections: Sequence[Section]) -> str:
    """Return the module that a page of a Python package documents; empty on other pages."""
    match = _PACKAGE_MODULE.fullmatch(sections[0].heading) if sections else None
    return match[1] if match else ""


def _names_of(section: Section, text: str, item: str) -> Iterator[str]:
    heading = section.heading.replace("`", "").strip()
    anchor = section.anchor or ""
    if section.level == 1 and _rust_item(section):
        yield item
        return
    if not heading or not anchor:
        return
    if member := _RUST_MEMBER.match(anchor):
        yield f"{item}.{member[1]}" if item else member[1]
        return
    is_entry = bool(_BOLD_SIGNATURE.match(text) or _CODE_HEADING.match(text))
    if is_entry:
        yield from _entry_names(heading, anchor)
        yield from _more_names(text, anchor)
        return
    declared = _DECLARATION.match(heading)
    if declared is not None:
        yield _more_qualified(declared[1], anchor)
    elif "." in anchor and _NAME.fullmatch(anchor):
        name = _CALL.sub("", heading).strip()
        if last_part(name) == last_part(anchor):
            yield anchor


def _java_names(sections: Sequence[Section]) -> dict[int, str]:
    """Return the class that a page of Javadoc is of, and its members, by section."""
    names: dict[int, str] = {}
    item: Section | None = None
    part: Section | None = None
    is_javadoc = False
    for section in sections:
        if item is None:
            item = section if section.level in (1, 2) and _java_item(section) else None
        elif section.level == item.level + 1:
            match = _JAVA_PART.fullmatch(section.heading)
            is_javadoc = is_javadoc or match is not None
            part = section if match and match[1] else None
        elif part is not None and section.level == part.level + 1:
            names[section.ordinal] = f"{_java_item(item)}.{section.heading}"
    if item is None or not is_javadoc:
        return {}
    return {item.ordinal: _java_item(item), **names}


def _java_item(section: Section) -> str:
    match = _JAVA_ITEM.match(section.heading)
    return match[1] if match else ""


def _entry_names(heading: str, anchor: str) -> Iterator[str]:
    for part in heading.split(", "):
        name = _CALL.sub("", part).strip().rstrip(":=")
        if _NAME.fullmatch(name):
            yield _more_qualified(name, anchor)


def _more_names(text: str, anchor: str) -> Iterator[str]:
    """Return the names of the signatures that share a description; the heading has only a few."""
    signatures = _SIGNATURES.match(text)
    lines = signatures.group().splitlines() if signatures else []
    names = [_CALL.sub("", _OPENS_SIGNATURE.sub("", line.strip("*`"))) for line in lines]
    names = [name.partition(" ")[0].rstrip(":=") for name in names]
    # What stands before the first name on the page stands before the others, too.
    before = anchor.removesuffix(names[0]) if names and anchor.endswith(names[0]) else ""
    for name in names[1:]:
        if _NAME.fullmatch(name):
            yield before + name


def _listed_names(text: str) -> Iterator[tuple[str, int]]:
    """Yield what the code of a section lists below its first line, and where each stands."""
    opening = _LISTING.match(text)
    if opening is None:
        return
    owner = opening[1].removesuffix(".*")
    place = opening.end() if owner != opening[1] else text.find("\n", opening.end()) + 1
    end = text.find("\n```", opening.end())
    while 0 < place <= end:
        listed = _LISTED.match(text, place)
        name = f"{owner}.{listed[1] or listed[2] or listed[3]}" if listed else ""
        if name and len(name) <= _MAX_NAME_CHARACTERS:
            yield name, place
        place = text.find("\n", place) + 1


def end_of_listed(text: str, start: int) -> int | None:
    """Return where a definition that code lists at `start` ends; None where none stands there."""
    if (start and text[start - 1] != "\n") or not _LISTED.match(text, start):
        return None
    end = text.find("\n", start)
    while end >= 0 and _GOES_ON.match(text, end + 1):
        end = text.find("\n", end + 1)
    return end if end >= 0 else len(text)


def _more_qualified(name: str, anchor: str) -> str:
    """Return the anchor where it is the same name with more before it."""
    is_same = bool(_NAME.fullmatch(anchor)) and anchor.lower().endswith(f".{name.lower()}")
    return anchor if is_same else name


def _rust_item(section: Section) -> str:
    if section.level != 1:
        return ""
    match = _RUST_ITEM.match(section.heading.replace("`", "").strip())
    return match[1].rstrip("!") if match else ""
