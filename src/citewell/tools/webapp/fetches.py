"""What changed in a page between two fetches that a person chooses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.difference import find_changes
from citewell.core.frozen import frozen
from citewell.core.off_loop import in_thread
from citewell.core.sequence_match import find_opcodes
from citewell.core.text import one_line
from citewell.tools.webapp.plain_lines import plain_lines
from citewell.tools.webapp.reader import get_visible_page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from citewell.core.records import PageInfo
    from citewell.core.text import Span
    from citewell.tools.tool import Call

_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)
_MOST_CHANGES = 100
_SHOWN_CHARACTERS = 1_500
_HEADING_CHARACTERS = 120
_WORD = re.compile(r"\s+|[^\W_]+|.", re.DOTALL)
# Comparing words takes time with the product of their numbers; a whole page may have been replaced.
_MOST_PAIRS_OF_WORDS = 40_000


@frozen
class TextPart:
    """A piece of a paragraph, and whether the other fetch says it differently."""

    text: str
    is_changed: bool


@frozen
class TextChange:
    """Paragraphs of the older text and those that stand for them; one of the two may be empty."""

    heading: str
    before: Sequence[TextPart]
    after: Sequence[TextPart]


@frozen
class FetchComparison:
    """The fetches of a page that are kept, newest first, and how two of them differ."""

    info: PageInfo
    fetches: Sequence[datetime]
    older: datetime | None
    """None: the page has only ever said what it says now."""
    newer: datetime
    changes: Sequence[TextChange]
    omitted: int


async def compare_fetches(
    source_id: int, call: Call, *, one: datetime | None = None, other: datetime | None = None
) -> FetchComparison:
    """Return how two fetches differ; without a choice, or with an unknown one, the newest two.

    Raises:
        NotFound: there is no such page, or not within what the caller may see.
    """
    page = await get_visible_page(source_id, call)
    earlier = await call.parts.store.releases.earlier_texts(source_id)
    # A page that was read again from its response has had two texts at one fetch.
    texts = {fetch.fetched_at: fetch.text for fetch in earlier} | {page.info.fetched_at: page.text}
    fetches = sorted(texts, reverse=True)
    chosen = sorted({moment for moment in (one, other) if moment in texts})
    if len(chosen) < 2:
        chosen = [fetches[min(1, len(fetches) - 1)], fetches[0]]
    older, newer = chosen
    changes, omitted = await in_thread(_changes, texts[older], texts[newer])
    return FetchComparison(
        info=page.info,
        fetches=fetches,
        older=older if older < newer else None,
        newer=newer,
        changes=changes,
        omitted=omitted,
    )


def _changes(old: str, new: str) -> tuple[list[TextChange], int]:
    """Return the first changes, and the number of all others."""
    found = find_changes(old, (0, len(old)), new, (0, len(new)))
    changes: list[TextChange] = []
    for change in found[:_MOST_CHANGES]:
        was, says = _shown(old, change.old), _shown(new, change.new)
        plain_was, plain_says = plain_lines(was), plain_lines(says)
        # A link that leads elsewhere is a change of marks alone.
        is_seen = plain_was != plain_says
        before, after = _with_marks(*((plain_was, plain_says) if is_seen else (was, says)))
        heading = _heading_of(new, change.new) or _heading_of(old, change.old)
        changes.append(TextChange(heading=heading, before=before, after=after))
    return changes, len(found) - len(changes)


def _with_marks(before: str, after: str) -> tuple[list[TextPart], list[TextPart]]:
    """Return two texts in parts; where only one is there, or both are long, nothing is marked."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    if not old or not new or len(old) * len(new) > _MOST_PAIRS_OF_WORDS:
        return _unmarked(before), _unmarked(after)
    parts: tuple[list[TextPart], list[TextPart]] = ([], [])
    for kind, *places in find_opcodes(old, new):
        for words, found, (first, last) in zip(
            (old, new), parts, (places[:2], places[2:]), strict=True
        ):
            if first < last:
                text = "".join(words[first:last])
                found.append(TextPart(text=text, is_changed=kind != "equal"))
    return parts


def _unmarked(text: str) -> list[TextPart]:
    return [TextPart(text=text, is_changed=False)] if text else []


def _shown(text: str, span: Span | None) -> str:
    shown = "" if span is None else text[slice(*span)].strip()
    return shown if len(shown) <= _SHOWN_CHARACTERS else f"{shown[:_SHOWN_CHARACTERS]}…"


def _heading_of(text: str, span: Span | None) -> str:
    """Return the heading that the span stands under."""
    if span is None:
        return ""
    above = _HEADING.findall(text[: span[0]])
    return one_line(plain_lines(above[-1]), limit=_HEADING_CHARACTERS) if above else ""
