"""What keys have used, and the log of calls, as a person sees them."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from citewell.access.authority import visible_calls
from citewell.app.usage import checked_month, shown_key, usage_summary
from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from citewell.core.identity import CallQuery, DailyUsage, LoggedCall, UsageTotal
    from citewell.tools.tool import Call

CALLS_AT_ONCE = 50


@frozen
class UsageSum:
    """What was used under one name: of a key, a user, a tool or a day."""

    name: str
    calls: int
    failed: int
    units: int
    tokens: int


@frozen
class UsageView:
    """What was used in a month, added up in four ways."""

    total: UsageSum
    by_day: Sequence[UsageSum]
    """Every day of the month, oldest first; the others have most calls first."""
    by_key: Sequence[UsageSum]
    by_user: Sequence[UsageSum]
    by_tool: Sequence[UsageSum]


async def list_usage(call: Call, *, month: str | None = None) -> list[UsageTotal]:
    """Return what the caller's key has used in a month; with the scope `admin`, all it oversees.

    Raises:
        InvalidArgument: the month is not one.
    """
    await call.parts.access.meter.write_out()
    seen = visible_calls(call.caller)
    return await usage_summary(
        call.parts.store.access, month=month, owner=seen.owner, project=seen.project
    )


async def list_months(call: Call, *, shown: str) -> list[str]:
    """Return the months with calls, this one and the one `shown`, newest first."""
    months = {total.month for total in await list_usage(call, month="all")}
    return sorted({*months, f"{datetime.now(UTC):%Y-%m}", shown} - {"all"}, reverse=True)


async def view_usage(call: Call, *, month: str | None = None) -> UsageView:
    """Return the same calls as `list_usage`, by day, key, user and tool.

    Raises:
        InvalidArgument: the month is not one.
    """
    await call.parts.access.meter.write_out()
    wanted, seen = checked_month(month), visible_calls(call.caller)
    days = await call.parts.store.access.daily_usage(
        month=wanted, owner=seen.owner, project=seen.project
    )
    return UsageView(
        total=_sum("", days),
        by_day=_with_idle_days(_sums(days, lambda usage: usage.day), wanted),
        by_key=_most_first(_sums(days, shown_key)),
        by_user=_most_first(_sums(days, lambda usage: usage.user or "")),
        by_tool=_most_first(_sums(days, lambda usage: usage.tool)),
    )


async def list_calls(call: Call, query: CallQuery) -> list[LoggedCall]:
    """Return calls of the caller's key, newest first; with the scope `admin`, all it oversees.

    Raises:
        InvalidArgument: the month is not one.
    """
    await call.parts.access.meter.write_out()
    seen = visible_calls(call.caller)
    wanted = replace(
        query,
        month=checked_month(query.month),
        owner=seen.owner,
        project=seen.project,
        limit=CALLS_AT_ONCE,
    )
    return await call.parts.store.access.list_calls(wanted)


def _sums(days: Sequence[DailyUsage], name_of: Callable[[DailyUsage], str]) -> list[UsageSum]:
    named: dict[str, list[DailyUsage]] = {}
    for usage in days:
        named.setdefault(name_of(usage), []).append(usage)
    return [_sum(name, usages) for name, usages in named.items()]


def _sum(name: str, usages: Sequence[DailyUsage]) -> UsageSum:
    return UsageSum(
        name=name,
        calls=sum(usage.calls for usage in usages),
        failed=sum(usage.failed for usage in usages),
        units=sum(usage.units for usage in usages),
        tokens=sum(usage.tokens for usage in usages),
    )


def _with_idle_days(sums: Sequence[UsageSum], month: str | None) -> list[UsageSum]:
    """Return every day of a month up to today, also those without a call."""
    if month is None:
        return list(sums)
    by_day = {usage.name: usage for usage in sums}
    year, number = int(month[:4]), int(month[5:])
    names = [f"{month}-{day:02}" for day in range(1, monthrange(year, number)[1] + 1)]
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    return [by_day.get(name) or _sum(name, ()) for name in names if name <= today]


def _most_first(sums: Sequence[UsageSum]) -> list[UsageSum]:
    return sorted(sums, key=lambda usage: (-usage.calls, usage.name))
