"""Fenced code as highlighted HTML: classes only, their colours are in the style sheet."""

from __future__ import annotations

import re
from dataclasses import field, replace
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pygments.lexer import Lexer

# Highlighting longer code would delay the page.
_MAX_HIGHLIGHTED_CHARACTERS = 100_000
_LANGUAGE = re.compile(r"\{?\.?(?P<name>[\w+#.-]+)")
_TITLE = re.compile(r"\btitle=(?:\"([^\"]*)\"|'([^']*)'|(\S+))")
_LINES = re.compile(r"\bhl_lines=[\"']?([\d\s,-]+)[\"']?|\{([\d\s,-]+)\}")
_NUMBERED = re.compile(
    r"\b(?:linenums=[\"']?|:line-numbers=)(\d{1,6})|\b(?:showLineNumbers|:line-numbers)\b"
)
_MARK = '<span class="hll">'
_MARK_TAGS = re.compile(r"(?:</span>)?(?:<span class=\"hll[ a-z]*\">)?")
# The comment by which a line of VitePress says how it is shown.
_NOTE = re.compile(
    r"(?<![ \t])[ \t]*+(?://|#|--|;|%|/\*|<!--)[ \t]*+\[!code[ \t]++(?P<look>[a-z+-]{1,20})"
    r"(?::(?P<lines>\d{1,3}))?\][ \t]*+(?:\*/|-->)?[ \t]*+$"
)
_LOOKS = {"++": "gi", "--": "gd"}
_GUESSED_CHARACTERS = 4_000
_BEGINNINGS = (
    ("pycon", re.compile(r">>> ")),
    ("console", re.compile(r"[$%] \w")),
    ("c", re.compile(r"#include\b")),
    ("bash", re.compile(r"#! ?/[\w/.-]{1,60}sh\b")),
    ("xml", re.compile(r"<(?:!DOCTYPE\b|\?xml\b|[a-zA-Z][\w:-]{0,60}[ />])")),
    ("json", re.compile(r"[\[{]\s{0,20}[\[{]?\s{0,20}\"[^\"\n]{1,100}\"\s{0,20}[:,\]]")),
    ("sql", re.compile(r"(?:SELECT|CREATE|INSERT|UPDATE|DELETE|ALTER|GRANT|DROP)\s+\w")),
)
_PYTHON_LINE = re.compile(
    r"\s{0,40}(?:(?:async )?def \w+\(|class \w+[(:]|from [\w.]+ import "
    r"|import \w+(?:$|\.| as )|@\w[\w.]*(?:$|\())"
)
_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")


@frozen
class FenceInfo:
    """The info string of a fence."""

    language: str
    title: str
    marked_lines: tuple[int, ...]
    first_number: int | None = None
    """The number of the first line, where lines are numbered."""
    looks: Mapping[int, str] = field(default_factory=dict)
    """The classes of marked lines that were added or removed."""


def parse_fence_info(info: str) -> FenceInfo:
    """Return language, title and marked lines, as MkDocs, VitePress and Docusaurus write them."""
    language = _LANGUAGE.match(info.strip())
    title = _TITLE.search(info)
    lines = _LINES.search(info)
    numbered = _NUMBERED.search(info)
    return FenceInfo(
        language=language["name"].lower()
        if language and "=" not in info.split()[0].partition(":")[0]
        else "",
        title=next(filter(None, title.groups()), "") if title else "",
        marked_lines=_line_numbers(next(filter(None, lines.groups()), "")) if lines else (),
        first_number=int(numbered[1] or 1) if numbered else None,
    )


def without_notes(code: str, info: FenceInfo) -> tuple[str, FenceInfo]:
    """Return code without the comments that mark its lines, and the marks they make."""
    lines, marked, looks = [], set(info.marked_lines), dict(info.looks)
    for number, line in enumerate(code.split("\n"), start=1):
        note = _NOTE.search(line) if "[!code" in line else None
        lines.append(line[: note.start()] if note else line)
        if note:
            noted = range(number, number + int(note["lines"] or 1))
            marked.update(noted)
            looks.update(dict.fromkeys(noted, _LOOKS.get(note["look"], "")))
    return "\n".join(lines), replace(info, marked_lines=tuple(sorted(marked)), looks=looks)


def guess_language(code: str) -> str:
    """Return the language of code whose page does not name it; empty without a clear sign."""
    lines = [line for line in code[:_GUESSED_CHARACTERS].split("\n") if line.strip()]
    if not lines:
        return ""
    beginning = "\n".join(lines[:2]).lstrip()
    for language, sign in _BEGINNINGS:
        if sign.match(beginning):
            return language
    return "python" if any(_PYTHON_LINE.match(line) for line in lines) else ""


def code_block_html(code: str, info: FenceInfo) -> str:
    """Return a block of code with its title; unknown languages stay plain."""
    title = f'<div class="code-title">{escape(info.title)}</div>' if info.title else ""
    language = f' data-language="{escape(info.language)}"' if info.language else ""
    # Without a tab stop, a wide block cannot be scrolled by keyboard.
    return (
        f'<div class="code"{language}>{title}<pre tabindex="0"><code>'
        f"{_numbered(_highlighted(code, info), info.first_number)}</code></pre></div>\n"
    )


def _numbered(html: str, first: int | None) -> str:
    """Return highlighted lines with their numbers.

    A line is whole but for the mark around it, which ends at the beginning of the next line; the
    number stands inside of the mark, which is a block.
    """
    if first is None:
        return html
    # The mark of a last line ends behind its line break.
    end = "</span>" if html.endswith("\n</span>") else ""
    lines = html.removesuffix(end).removesuffix("\n").split("\n")
    width = len(str(first + len(lines) - 1))
    numbered = []
    for number, line in enumerate(lines, start=first):
        marks = _MARK_TAGS.match(line)
        tags = marks[0] if marks else ""
        shown = f'<span class="line-number" aria-hidden="true">{number:>{width}} </span>'
        numbered.append(f"{tags}{shown}{line[len(tags) :]}\n")
    return "".join(numbered) + end


def _highlighted(code: str, info: FenceInfo) -> str:
    lexer = _lexer(info.language) if len(code) <= _MAX_HIGHLIGHTED_CHARACTERS else None
    if lexer is None and not info.marked_lines:
        return escape(code)
    formatter = HtmlFormatter(nowrap=True, hl_lines=list(info.marked_lines))
    html = str(highlight(code, lexer or _lexer("text"), formatter))
    for line in sorted(info.marked_lines) if info.looks else ():
        html = html.replace(_MARK, f'<span class="hll {info.looks.get(line, "")}">', 1)
    return html


@lru_cache(maxsize=128)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False) if language else None
    except ClassNotFound:
        return None


def _line_numbers(text: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for first, last in _RANGE.findall(text):
        # A range with too many digits would fill the memory.
        stop = min(int(last or first), int(first) + 1_000)
        numbers.extend(range(int(first), stop + 1))
    return tuple(numbers)
