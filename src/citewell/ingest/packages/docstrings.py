"""Convert docstrings to Markdown: the words stay, the markup becomes Markdown's."""

from __future__ import annotations

import inspect
import re

_ROLE = re.compile(r":[A-Za-z][A-Za-z:+-]{0,40}:`")
_FENCES = ("```", "~~~")
_UNDERLINE = re.compile(r"=+|-+|~+|\^+|\"+")
_HEADING = re.compile(r"^(\s*)(#{1,6}(?:\s|$))")
_SECTION = re.compile(
    r"(Args|Arguments|Parameters|Params|Returns|Return|Yields|Raises|Attributes|Examples?|Notes?"
    r"|Warnings?|See Also|References|Keyword Args|Other Parameters):?"
)
_FIELD = re.compile(r":(param|type|returns?|rtype|raises?|keyword)\b([^:\n]{0,100}):")


def docstring_markdown(docstring: str) -> str:
    """Return a docstring as Markdown: sections in bold, fields as lists, examples as code."""
    lines = inspect.cleandoc(docstring).splitlines()
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
        if line.rstrip().endswith("::") and not line.lstrip().startswith(".."):
            written.append(_inline(line.rstrip()[:-1]))
            place = _write_indented(lines, place + 1, written)
            continue
        if _SECTION.fullmatch(line.strip()) and (following.startswith("---") or line.endswith(":")):
            written += ["", f"**{line.strip().rstrip(':')}**", ""]
            place += 2 if following.startswith("---") else 1
            place = _write_entries(lines, place, written)
            continue
        if line.strip() and _UNDERLINE.fullmatch(following):
            written += ["", f"**{_inline(line.strip())}**", ""]
            place += 2
            continue
        written.append(_inline(_FIELD.sub(r"- \1\2:", line)))
        place += 1
    return "\n".join(written).strip()


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


def _write_indented(lines: list[str], place: int, written: list[str]) -> int:
    """Write the indented lines that follow as code."""
    block: list[str] = []
    while place < len(lines) and (not lines[place].strip() or lines[place][0].isspace()):
        block.append(lines[place])
        place += 1
    code = inspect.cleandoc("\n".join(["", *block])).strip("\n")
    if code:
        written += ["", "```", *code.splitlines(), "```", ""]
    return place


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
        if _indent(line) < indent:
            return place
        mark = "- " if _indent(line) == indent else "  "
        written.append(f"{mark}{_inline(line.strip())}")
        place += 1
    return place


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _inline(line: str) -> str:
    """Return a line without the markup that only Sphinx reads.

    It begins no section: a docstring must not look like the definition of something else.
    """
    return _HEADING.sub(r"\1\\\2", _ROLE.sub("`", line).replace("``", "`"))
