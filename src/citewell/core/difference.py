"""What differs between two texts: by paragraphs as spans of both, and word by word as marks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.sequence_match import find_opcodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.sequence_match import Opcode
    from citewell.core.text import Span

_PARAGRAPH = re.compile(r"(?:[^\n]+\n?)+")
_WORD = re.compile(r"\s+|[A-Za-z0-9_]+|[^\sA-Za-z0-9_]")
# Where in its file a symbol is defined changes with every release.
SAYS_WHERE = re.compile(r"Defined in \S+, line \d+\.")
_MOST_PARAGRAPHS = 3_000
_MOST_WORDS = 3_000
_MOST_PAIRED = 30
_LEAST_ALIKE = 0.6


@frozen
class Change:
    """Paragraphs of one text that stand for those of the other; one of them may be missing."""

    old: Span | None
    new: Span | None


def find_changes(old: str, old_span: Span, new: str, new_span: Span) -> list[Change]:
    """Return the paragraphs that differ between a span of `old` and a span of `new`, in order."""
    before, after = _paragraphs(old, old_span), _paragraphs(new, new_span)
    steps = find_opcodes(
        [" ".join(old[start:end].split()) for start, end in before],
        [" ".join(new[start:end].split()) for start, end in after],
    )
    changes = [
        Change(old=_join(before[i:j]), new=_join(after[k:m]))
        for kind, i, j, k, m in steps
        if kind != "equal"
    ]
    return _with_moved_paired(changes, old, new)


def _with_moved_paired(changes: list[Change], old: str, new: str) -> list[Change]:
    """Return the changes with what was removed here and added there, nearly the same, as one."""
    removed = [change for change in changes if change.new is None][:_MOST_PAIRED]
    added = [change for change in changes if change.old is None][:_MOST_PAIRED]
    for change in removed:
        words = set(_words_of(old, change.old))
        alike = {
            place: len(words & other) / len(words | other)
            for place, each in enumerate(added)
            if words and (other := set(_words_of(new, each.new)))
        }
        place = max(alike, key=alike.__getitem__, default=None)
        if place is not None and alike[place] >= _LEAST_ALIKE:
            moved = added.pop(place)
            changes[changes.index(moved)] = Change(old=change.old, new=moved.new)
            changes.remove(change)
    return changes


def _words_of(text: str, span: Span | None) -> list[str]:
    return _WORD.findall(text[slice(*span)])[:_MOST_WORDS] if span else []


def mark_difference(old: str, new: str, *, is_cut: bool = False) -> str:
    """Return both texts as one: `[-what only the old has-]` and `{+what only the new has+}`.

    Where one `is_cut`, what only the other has at the end is no difference.
    """
    before, after = _WORD.findall(old)[:_MOST_WORDS], _WORD.findall(new)[:_MOST_WORDS]
    pieces: list[str] = []
    # Where a line breaks makes no difference.
    steps = list(find_opcodes(_spaced(before), _spaced(after)))
    if is_cut and len(steps) > 1 and steps[-1][0] != "equal":
        steps.pop()
    for kind, i, j, k, m in _without_splinters(steps, before):
        removed, added = "".join(before[i:j]), "".join(after[k:m])
        if kind == "equal":
            pieces.append(added)
            continue
        pieces += [f"[-{removed}-]"] if removed else []
        pieces += [f"{{+{added}+}}"] if added else []
    return "".join([*pieces, *([" …"] if is_cut else [])])


def _without_splinters(steps: Sequence[Opcode], before: Sequence[str]) -> list[Opcode]:
    """Return the steps with one change for several in what is written without a space.

    `Optional[A]` → `A | None` is easier to read as a whole than with marks beside its brackets.
    """
    merged: list[Opcode] = []
    for step in steps:
        if step[0] != "equal" and [kind for kind, *_ in merged[-2:]][1:] == ["equal"]:
            (_, i, _, k, _), (_, start, end, _, _) = merged[-2:]
            if not any(word.isspace() for word in before[start:end]):
                merged[-2:] = [("replace", i, step[2], k, step[4])]
                continue
        merged.append(step)
    return merged


def _spaced(words: Sequence[str]) -> list[str]:
    return [" " if word.isspace() else word for word in words]


def _paragraphs(text: str, span: Span) -> list[Span]:
    start, end = span
    spans = [
        (match.start(), match.start() + len(match[0].rstrip()))
        for match in _PARAGRAPH.finditer(text, start, end)
        if not SAYS_WHERE.fullmatch(match[0].strip())
    ]
    return spans[:_MOST_PARAGRAPHS]


def _join(spans: Sequence[Span]) -> Span | None:
    return (spans[0][0], spans[-1][1]) if spans else None
