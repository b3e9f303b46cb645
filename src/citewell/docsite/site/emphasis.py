"""Emphasis in canonical text, which pages wrote without escaping their own signs.

CommonMark pairs `**f(coro, *, name)**` by the nearest signs and garbles it. Here a sign closes only
one of its own length, preferably one with balanced brackets in between; the others are text.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.rules_inline.state_inline import Delimiter

# Hostile text could make the search for opening signs quadratic.
_MOST_LOOKED_AT = 50
_DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def plain_emphasis_plugin(parser: MarkdownIt) -> None:
    """Pair signs of emphasis, and keep backslashes, as in text that is not escaped."""
    parser.inline.ruler2.at("balance_pairs", _pair_all)
    parser.inline.ruler.before("escape", "plain_backslash", _keep_backslash)


def _keep_backslash(state: StateInline, silent: bool) -> bool:
    """Take a backslash for itself, unless the environment says that the text is escaped."""
    if state.src[state.pos] != "\\" or state.env["escapes"]:
        return False
    # In bold, stars and underscores of the page were escaped when it was read.
    is_in_bold = state.src.count("**", 0, state.pos) % 2 == 1
    if is_in_bold and state.src[state.pos + 1 : state.pos + 2] in ("*", "_"):
        return False
    if not silent:
        state.pending += "\\"
    state.pos += 1
    return True


@dataclass(slots=True, kw_only=True)
class _Run:
    """Adjacent signs, by their places in the list of delimiters."""

    first: int
    length: int
    signs: Delimiter
    """The first of them: all open and close alike."""
    taken: int = 0

    @property
    def left(self) -> int:
        return self.length - self.taken


def _pair_all(state: StateInline) -> None:
    _pair(state, state.delimiters)
    for meta in state.tokens_meta:
        if meta and "delimiters" in meta:
            _pair(state, meta["delimiters"])


def _pair(state: StateInline, delimiters: list[Delimiter]) -> None:
    if not delimiters:
        return
    depths = list(accumulate((_depth(token.content) for token in state.tokens), initial=0))
    # One list for all signs, so that no two pairs overlap.
    openers: list[_Run] = []
    for run in _runs(delimiters):
        while run.signs.close and run.left:
            opener = _find_opener(openers, run, depths)
            if opener is None or not _is_emphasis(state, opener, run):
                break
            del openers[openers.index(opener) + 1 :]
            _join(opener, run, delimiters)
            if not opener.left:
                openers.pop()
        if run.signs.open and run.left == run.length:
            openers.append(run)


def _depth(text: str) -> int:
    return sum(_DEPTH.get(character, 0) for character in text)


def _runs(delimiters: Sequence[Delimiter]) -> Iterator[_Run]:
    run: _Run | None = None
    for place, sign in enumerate(delimiters):
        if run is not None and _continues(run, sign):
            run.length += 1
            continue
        if run is not None:
            yield run
        run = _Run(first=place, length=1, signs=sign)
    if run is not None:
        yield run


def _continues(run: _Run, sign: Delimiter) -> bool:
    return sign.marker == run.signs.marker and sign.token == run.signs.token + run.length


def _find_opener(openers: Sequence[_Run], closer: _Run, depths: Sequence[int]) -> _Run | None:
    latest = reversed(openers[-_MOST_LOOKED_AT:])
    nearest = [run for run in latest if run.signs.marker == closer.signs.marker]
    equal = [run for run in nearest if run.left == closer.left]
    balanced = (
        run for run in equal if depths[run.signs.token + run.length] == depths[closer.signs.token]
    )
    # `***` may be bold and italic, which end at different places.
    longer = (run for run in nearest if max(run.length, closer.length) > 2)
    return next(balanced, None) or next(iter(equal), None) or next(longer, None)


def _is_emphasis(state: StateInline, opener: _Run, closer: _Run) -> bool:
    """Return whether a pair is meant: `__init__` and `_call_(x)` are names."""
    if opener.signs.marker != ord("_"):
        return True
    inside = state.tokens[opener.signs.token + opener.length : closer.signs.token]
    after = state.tokens[closer.signs.token + closer.length :][:1]
    is_name = opener.length > 1 and not any(" " in token.content for token in inside)
    return not is_name and not any(token.content.startswith("(") for token in after)


def _join(opener: _Run, closer: _Run, delimiters: Sequence[Delimiter]) -> None:
    for _ in range(min(opener.left, closer.left)):
        last = opener.first + opener.left - 1
        delimiters[last].end = closer.first + closer.taken
        opener.taken += 1
        closer.taken += 1
