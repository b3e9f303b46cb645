"""Convert docstrings to Markdown: the words stay, the markup becomes Markdown's."""

from __future__ import annotations

import inspect
import re

from citewell.ingest.extract.html.admonitions import is_kind

_ROLE = re.compile(r":[A-Za-z][A-Za-z:+-]{0,40}:`")
_FENCES = ("```", "~~~")
_UNDERLINE = re.compile(r"=+|-+|~+|\^+|\"+")
_HEADING = re.compile(r"^(\s*)(#{1,6}(?:\s|$))")
_SECTION = re.compile(
    r"(Args|Arguments|Parameters|Params|Returns|Return|Yields|Raises|Attributes|Examples?|Notes?"
    r"|Warnings?|See Also|References|Keyword Args|Other Parameters):?"
)
# Their text is prose, not a list of names.
_PROSE = frozenset({"Example", "Examples", "Note", "Notes", "References", "Warning", "Warnings"})
_RESULTS = frozenset({"Return", "Returns", "Yields"})
# Fields of Sphinx, and of Epydoc with its own sign.
_FIELD = re.compile(
    r"^(\s*)[:@](param|parameter|arg|argument|key|keyword|kwarg|kwparam|type|raises?"
    r"|except|exception|var|ivar|cvar|vartype|returns?|rtype|yields?|ytype)\b([^:\n]{0,100}):(?=\s|$)"
)
_DIRECTIVE = re.compile(r"\.\.\s{1,3}([\w-]{1,40})::\s*(.*)")
# A call-out as MkDocs writes it.
_CALL_OUT = re.compile(r"(?:!!!|\?\?\?\+?) +([\w-]{1,40})(?: +\"([^\"]*)\")?\s*")
_BULLET = re.compile(r"\s*[-*+]\s{1,3}")
_OPTION = re.compile(r"\s*:[\w-]{1,40}:")
_CODE_DIRECTIVES = frozenset({"code-block", "code", "sourcecode", "parsed-literal"})
_VERSIONS = {
    "versionadded": "Added in",
    "versionchanged": "Changed in",
    "deprecated": "Deprecated since",
}


def docstring_markdown(docstring: str) -> str:
    """Return a docstring as Markdown: sections in bold, fields as lists, examples as code."""
    lines = _summary_first(inspect.cleandoc(docstring).splitlines())
    written: list[str] = []
    place = 0
    while place < len(lines):
        line = lines[place]
        following = lines[place + 1].strip() if place + 1 < len(lines) else ""
        if line.lstrip().startswith(">>>"):
            place = _write_block(lines, place, written, language="pycon")
            continue
        if line.lstrip().startswith(_FENCES):
            place = _write_fenced(lines, place, written)
            continue
        call_out = _CALL_OUT.fullmatch(line.strip())
        if call_out:
            place = _write_call_out(lines, place, written, *call_out.groups())
            continue
        directive = _DIRECTIVE.fullmatch(line.strip())
        if directive:
            place = _write_directive(lines, place, written, *directive.groups())
            continue
        if line.rstrip().endswith("::"):
            written.append(
                _inline(line.rstrip()[:-1].removesuffix(" :")) if line.strip(": ") else ""
            )
            place = _write_code(lines, place, written)
            continue
        if _SECTION.fullmatch(line.strip()) and (following.startswith("---") or line.endswith(":")):
            place = _write_section(lines, place, written)
            continue
        if line.strip() and _UNDERLINE.fullmatch(following):
            written += ["", f"**{_inline(line.strip())}**", ""]
            place += 2
            continue
        written.append(_inline(_FIELD.sub(r"\1- \2\3:", line)))
        place += 1
    return "\n".join(written).strip()


def _summary_first(lines: list[str]) -> list[str]:
    """Return the lines with a call-out that they begin with behind the first paragraph."""
    if not lines or not _CALL_OUT.fullmatch(lines[0].strip()):
        return lines
    _, end = _indented_below(lines, 0)
    rest = end
    while rest < len(lines) and lines[rest].strip():
        rest += 1
    return [*lines[end:rest], "", *lines[:end], *lines[rest:]]


def without_signature(docstring: str, *, name: str) -> str:
    """Return a docstring without the signature that it begins with, as those of C code do."""
    cleaned = inspect.cleandoc(docstring)
    opening, _, rest = cleaned.partition("\n\n")
    is_signature = re.fullmatch(rf"{re.escape(name)}\(.*\)(?:\s*->.*)?", opening.strip(), re.DOTALL)
    return rest if is_signature and rest.strip() else cleaned


def _write_fenced(lines: list[str], place: int, written: list[str]) -> int:
    """Write a block of Markdown code; one that is never closed ends with the docstring."""
    fence = lines[place].lstrip()[:3]
    written += ["", lines[place].strip()]
    place += 1
    while place < len(lines) and not lines[place].lstrip().startswith(fence):
        written.append(lines[place])
        place += 1
    written += [fence, ""]
    return place + 1


def _write_block(lines: list[str], place: int, written: list[str], *, language: str) -> int:
    """Write the lines up to the next empty one as code."""
    written += ["", f"```{language}"]
    while place < len(lines) and lines[place].strip():
        written.append(lines[place].strip("\t").rstrip())
        place += 1
    written += ["```", ""]
    return place


def _write_directive(
    lines: list[str], place: int, written: list[str], name: str, argument: str
) -> int:
    """Write code as such, a call-out or the note on a version with its label, others as text."""
    if name in _CODE_DIRECTIVES:
        return _write_code(lines, place, written, language=argument)
    below, end = _indented_below(lines, place)
    body = docstring_markdown("\n".join([argument, *below])).splitlines()
    if name in _VERSIONS:
        version, _, words = body[0].partition(" ") if body else ("", "", "")
        written += ["", f"**{_VERSIONS[name]} {version}** {words}".rstrip(), *body[1:], ""]
    elif is_kind(name):
        # The reader of Markdown labels it.
        written += ["", f":::{name}", "", *body, "", ":::", ""]
    else:
        written.append(_inline(lines[place]))
        return place + 1
    return end


def _write_call_out(
    lines: list[str], place: int, written: list[str], kind: str, title: str | None
) -> int:
    """Write a call-out with its label, or its title where its kind has none."""
    below, end = _indented_below(lines, place)
    body = docstring_markdown("\n".join(below)).splitlines()
    if is_kind(kind):
        body = [*([f"**{title}**", ""] if title else []), *body]
        written += ["", f":::{kind}", "", *body, "", ":::", ""]
    else:
        written += ["", f"**{title or kind.capitalize()}**", "", *body, ""]
    return end


def _write_code(lines: list[str], place: int, written: list[str], *, language: str = "") -> int:
    """Write the lines that are indented below one as code; return where the text goes on."""
    below, end = _indented_below(lines, place)
    while below and _OPTION.match(below[0]):
        below = below[1:]
    code = inspect.cleandoc("\n".join(["", *below])).strip("\n")
    if code:
        language = language if language.isalnum() else ""
        written += ["", f"```{language}", *code.splitlines(), "```", ""]
    return end


def _indented_below(lines: list[str], place: int) -> tuple[list[str], int]:
    """Return the lines that are indented deeper than line `place`, and the number of the next."""
    end = place + 1
    mark = _BULLET.match(lines[place])
    base = mark.end() if mark else _indent(lines[place])
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > base):
        end += 1
    return lines[place + 1 : end], end


def _write_section(lines: list[str], place: int, written: list[str]) -> int:
    """Write the heading of a section, and what is below it as prose or as a list."""
    name = lines[place].strip().rstrip(":")
    is_underlined = _begins_section(lines, place)
    written += ["", f"**{name}**", ""]
    if is_underlined:
        return place + 2 if name in _PROSE else _write_entries(lines, place + 2, written)
    if name not in _PROSE | _RESULTS:
        return _write_entries(lines, place + 1, written)
    below, end = _indented_below(lines, place)
    written += [docstring_markdown("\n".join(below)), ""]
    return end


def _write_entries(lines: list[str], place: int, written: list[str]) -> int:
    """Write the entries of a section as a list; what is indented below one belongs to it."""
    indent: int | None = None
    while place < len(lines):
        line = lines[place]
        if not line.strip():
            following = next((text for text in lines[place:] if text.strip()), "")
            if indent is None or not following or _indent(following) < indent:
                return place
            place += 1
            continue
        if line.lstrip().startswith(">>>"):
            place = _write_block(lines, place, written, language="pycon")
            continue
        if indent is None:
            indent = _indent(line)
        if _indent(line) < indent or _begins_section(lines, place):
            return place
        mark = "- " if _indent(line) == indent else "  "
        written.append(f"{mark}{_inline(line.strip())}")
        place += 1
    return place


def _begins_section(lines: list[str], place: int) -> bool:
    """Return whether a heading of NumPy's style stands here, underlined."""
    following = lines[place + 1].strip() if place + 1 < len(lines) else ""
    return following.startswith("---") and bool(_SECTION.fullmatch(lines[place].strip()))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _inline(line: str) -> str:
    """Return a line without the markup that only Sphinx reads.

    It begins no section: a docstring must not look like the definition of something else.
    """
    return _HEADING.sub(r"\1\\\2", _ROLE.sub("`", line).replace("``", "`"))
