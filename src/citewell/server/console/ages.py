"""How long ago something was, in words; the same as scripts of the pages say later on."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.server.console.texts import Texts

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
_LONGEST_SECONDS = 31 * 86_400
_GRACE_SECONDS = 60


def age_of(text: str, texts: Texts, *, now: datetime | None = None) -> str:
    """Return how long ago a moment was, or how far ahead it is; its date beyond a month."""
    moment = datetime.fromisoformat(text)
    seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    if seconds > 0:
        # So that "in a week", set a moment ago, is not shown as "in six days".
        seconds += min(_GRACE_SECONDS, seconds / 100)
    if abs(seconds) > _LONGEST_SECONDS:
        return text[:10]
    unit, length = next(
        ((unit, length) for unit, length in _UNITS if abs(seconds) >= length), _UNITS[-1]
    )
    count = int(abs(seconds) // length)
    if unit == "second" and count == 0:
        return texts("age.now")
    if unit == "day" and count == 1:
        return texts("age.tomorrow" if seconds > 0 else "age.yesterday")
    return texts(f"age.{unit}s_{'ahead' if seconds > 0 else 'ago'}", count=count)
