"""Whether a regular expression takes more than linear time on the texts made against it."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.hostile.pattern_attacks import Attack, attacks_on

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Collection
    from types import FrameType

_LENGTH = 16_384
# A linear pattern takes about a millisecond for so many characters, a quadratic one some hundred.
_SUSPICIOUS_SECONDS = 0.015
# Most texts need no more than this: an eighth of the length, for which a linear pattern takes a
# tenth of a millisecond and a slow quadratic one more than a half.
_FIRST_LENGTH = _LENGTH // 8
_FIRST_SUSPICIOUS_SECONDS = 0.0006
# CPU time too is longer while others use the same core: the shortest of a few is the pattern's own.
_ROUNDS = 3
# Linear, but with so large a factor that a page of a few hundred kilobytes takes seconds.
_LONG_SECONDS = 0.04
# More than _LINEAR_RATIO times what is long: no question is left open.
_GIVE_UP_SECONDS = 0.4
# Four times the text: a linear pattern takes four times as long, a quadratic one sixteen times.
_FACTOR = 4
_LINEAR_RATIO = 9.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowPattern:
    """A text that a pattern takes too long for."""

    attack: Attack
    seconds: float
    ratio: float | None
    """How much longer four times the text takes; None where the text itself takes too long."""


class _Interrupted(Exception):
    pass


def find_slow_text(
    pattern: re.Pattern[Any], *, methods: Collection[str] = ("search",), longest: int | None = None
) -> SlowPattern | None:
    """Return a text whose time grows faster than its length; call it from the main thread.

    `methods` are those that the pattern is applied with. With `longest`, no text has more
    characters, and it is the time for one of that length that counts.
    """
    # `re` looks for signals while it matches, so even an exponential pattern is interrupted.
    previous = signal.signal(signal.SIGVTALRM, _interrupt)
    apply = _application(methods)
    length = longest or _LENGTH
    try:
        for attack in attacks_on(pattern):
            first = attack.text(min(length, _FIRST_LENGTH))
            if _seconds(apply, pattern, first) < _FIRST_SUSPICIOUS_SECONDS:
                continue
            seconds = _least_seconds(apply, pattern, attack.text(length))
            if seconds < _SUSPICIOUS_SECONDS:
                continue
            if seconds >= _LONG_SECONDS or longest:
                return SlowPattern(attack=attack, seconds=seconds, ratio=None)
            longer = _least_seconds(apply, pattern, attack.text(_FACTOR * length))
            if longer / seconds > _LINEAR_RATIO:
                return SlowPattern(attack=attack, seconds=seconds, ratio=longer / seconds)
    finally:
        signal.signal(signal.SIGVTALRM, previous)
    return None


def _application(methods: Collection[str]) -> Callable[[re.Pattern[Any], str | bytes], None]:
    if not set(methods) <= {"match", "fullmatch"}:
        return _search_all

    def match(pattern: re.Pattern[Any], text: str | bytes) -> None:
        for method in methods:
            getattr(pattern, method)(text)

    return match


def _search_all(pattern: re.Pattern[Any], text: str | bytes) -> None:
    for _ in pattern.finditer(text):
        pass


def _least_seconds(
    apply: Callable[[re.Pattern[Any], str | bytes], None], pattern: re.Pattern[Any], attack: str
) -> float:
    """Return the CPU time of applying the pattern, the shortest of a few."""
    least = _seconds(apply, pattern, attack)
    for _ in range(_ROUNDS - 1):
        if not _SUSPICIOUS_SECONDS <= least < _GIVE_UP_SECONDS:
            break
        least = min(least, _seconds(apply, pattern, attack))
    return least


def _seconds(
    apply: Callable[[re.Pattern[Any], str | bytes], None], pattern: re.Pattern[Any], attack: str
) -> float:
    """Return the CPU time of applying the pattern; where it is long, of the beginning of it."""
    text = attack.encode("utf-8", "replace") if isinstance(pattern.pattern, bytes) else attack
    start = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, _GIVE_UP_SECONDS)
        apply(pattern, text)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except _Interrupted:
        return _GIVE_UP_SECONDS
    return time.process_time() - start


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise _Interrupted
