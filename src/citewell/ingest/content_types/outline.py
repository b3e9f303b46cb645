"""The labels of a page and what they announce: headings, bold lines, table rows, `label: value`.

Everything keeps its offsets, so that a value is a slice of the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from citewell.core.frozen import frozen
from citewell.core.text import sentence_spans
from citewell.ingest.content_types.labels import field_of_heading, field_of_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.core.content_fields import FieldName
    from citewell.core.text import Span

Form = Literal["heading", "item", "sentence"]

_FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
_HEADING = re.compile(r"^(#{1,6}) ++(?P<words>.*)$")
# A line that is nothing but a label: in bold, in Japanese brackets or after a square or circle.
_LABEL_LINE = re.compile(
    r"^\s*+(?:\*\*(?P<bold>[^*]{1,60}+)\*\*\s*+[:：]?+"
    r"|[【＜≪《〈\[](?P<bracket>[^】＞≫》〉\]]{1,40}+)[】＞≫》〉\]]"
    r"|[■□◆◇●○▼▽▶◎★☆]\s*+(?P<square>\S.{0,38}?)\s*+[:：]?+)$"
)
_PAIR = re.compile(
    r"^\s*+(?:[-*・]\s++)?+(?:\*\*|[【\[■◆●])?+(?P<label>[^:：|*【】\[\]]{1,40}?)(?:\*\*|[】\]])?+"
    r"(?:\s*+[:：]\s*+(?:\*\*\s*+)?+|(?<=[】\]])\s*+)(?P<value>\S.*)$"
)
_ROW = re.compile(r"^\s*\|(?P<label>[^|]{1,80})\|(?P<value>.+?)\|\s*$")
_RULE = re.compile(r"^\s*\|[\s:|-]+\|\s*$")
_NUMBERED = re.compile(r"(?:tip|step|ポイント|コツ)?\s*#?\d{1,2}\s*[.:)、：．]", re.IGNORECASE)
_ITEM = re.compile(r"^\s*+(?:[-*+・•●]|\d{1,3}[.)）])\s*+(?P<words>\S.*)$")


@frozen
class Announced:
    """A span of the page and the field that a label before it announces."""

    name: FieldName
    span: Span
    form: Form


@dataclass(slots=True)
class _Open:
    """The label that the next lines belong to; level 0 is a line that is only a label."""

    name: FieldName | None = None
    level: int = 0


def parse_outline(text: str, names: tuple[FieldName, ...]) -> list[Announced]:
    """Return what the labels of a page announce, in the order it stands in."""
    found: list[Announced] = []
    open_label = _Open()
    for start, line in _lines(text):
        if heading := _HEADING.match(line):
            found.extend(_enter_heading(heading, start, open_label, names))
        elif label := _LABEL_LINE.match(line):
            _enter_label(label, open_label, names)
        elif pair := _pair(line, names):
            found.append(_announced(pair[0], start, pair[1], form="sentence"))
        elif open_label.name is not None and line.strip():
            members = _members(open_label.name, start, line)
            # The heading of a whole page announces what its lists hold, not every sentence.
            found.extend(each for each in members if open_label.level != 1 or each.form == "item")
    return found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are prose, each with where it starts; code announces nothing."""
    position, in_fence = 0, False
    for line in text.splitlines(keepends=True):
        if _FENCE.match(line):
            in_fence = not in_fence
        elif not in_fence:
            yield position, line.rstrip()
        position += len(line)


def _enter_heading(
    heading: re.Match[str], start: int, open_label: _Open, names: tuple[FieldName, ...]
) -> Iterator[Announced]:
    level = len(heading.group(1))
    named = field_of_heading(heading["words"], names)
    is_below = 0 < open_label.level < level
    if (
        open_label.name is not None
        and is_below
        and (named is None or _NUMBERED.match(heading["words"]))
    ):
        yield _announced(open_label.name, start, heading.span("words"), form="heading")
        return
    open_label.name, open_label.level = named, level


def _enter_label(label: re.Match[str], open_label: _Open, names: tuple[FieldName, ...]) -> None:
    words = label["bold"] or label["bracket"] or label["square"]
    named = field_of_heading(words, names)
    # “**Technical**” below the heading “Requirements” divides the list, it does not end it.
    if named is not None:
        open_label.name, open_label.level = named, 0
    elif open_label.level == 0:
        open_label.name = None


def _pair(line: str, names: tuple[FieldName, ...]) -> tuple[FieldName, Span] | None:
    match = _ROW.match(line) if line.lstrip().startswith("|") else _PAIR.match(line)
    if match is None or _RULE.match(line):
        return None
    named = field_of_label(match["label"], names)
    if named is None:
        return None
    start, end = match.span("value")
    value = match["value"]
    # The first cell after the label is the value; what follows it is a remark.
    if line.lstrip().startswith("|") and "|" in value:
        end = start + value.index("|")
    return named, (start, end)


def _members(name: FieldName, start: int, line: str) -> Iterator[Announced]:
    if line.lstrip().startswith("|"):
        if not _RULE.match(line) and (row := _ROW.match(line)):
            yield _announced(name, start, row.span("value"), form="item")
    elif item := _ITEM.match(line):
        yield _announced(name, start, item.span("words"), form="item")
    else:
        for span in sentence_spans(line):
            yield _announced(name, start, span, form="sentence")


def _announced(name: FieldName, line_start: int, span: Span, *, form: Form) -> Announced:
    return Announced(name=name, span=(line_start + span[0], line_start + span[1]), form=form)
