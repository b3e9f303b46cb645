"""The usage of keys, for the shell and the console."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from citewell.core.errors import InvalidArgument, NotFound
from citewell.core.identity import UsageTotal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.identity import DailyUsage
    from citewell.store.access import AccessStore

_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")
_COLUMNS = tuple(field.name for field in fields(UsageTotal))


async def usage_summary(
    store: AccessStore,
    *,
    month: str | None = None,
    owner: str | None = None,
    project: str | None = None,
) -> list[UsageTotal]:
    """Return what was used, by key, tool and outcome.

    `month` is as 2026-03, or `all`; None means the current one. `owner` is a caller's key_hash,
    "" for calls without a key; None means everyone's. `project` leaves the calls of the keys that
    are limited to it.

    Raises:
        InvalidArgument: the month is not one.
        StoreError: the store cannot be read.
    """
    return await store.usage(month=checked_month(month), owner=owner, project=project)


def checked_month(month: str | None) -> str | None:
    """Return the month that the store is asked for: None means all.

    Raises:
        InvalidArgument: the month is not one.
    """
    if month is None:
        month = f"{datetime.now(UTC):%Y-%m}"
    if month != "all" and not _MONTH.fullmatch(month):
        raise InvalidArgument(f"{month!r} is not a month; write it as 2026-03, or all")
    return None if month == "all" else month


async def owner_of_key(store: AccessStore, name: str) -> str:
    """Return the owner that the calls of the key called `name` are recorded under.

    Raises:
        NotFound: no key was ever called that.
    """
    owners = [key.owner for key in await store.list_keys() if name in (key.name, key.hint)]
    if not owners:
        raise NotFound(f"there is no key called {name!r}", suggestion="See `citewell keys list`.")
    return owners[-1]


def usage_csv(totals: Sequence[UsageTotal]) -> str:
    """Return the totals as CSV with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {**asdict(total), "name": _plain(total.name), "hint": _plain(total.hint)}
        for total in totals
    )
    return text.getvalue()


def usage_text(totals: Sequence[UsageTotal]) -> str:
    """Return the totals as a table of text."""
    if not totals:
        return "No calls."
    heads = (
        *("month", "key", "tool", "outcome"),
        *("calls", "price", "units", "refunded", "tokens", "seconds"),
    )
    rows = [
        (
            total.month,
            shown_key(total),
            total.tool,
            total.outcome,
            f"{total.calls:,}",
            f"{total.price:,}",
            f"{total.units:,}",
            f"{total.refunded:,}",
            f"{total.tokens:,}",
            f"{total.milliseconds / 1000:,.1f}",
        )
        for total in totals
    ]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if place < 4 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (heads, *rows)
    ]
    units, calls = sum(total.units for total in totals), sum(total.calls for total in totals)
    return "\n".join([*lines, "", f"{calls:,} calls, {units:,} units"])


def shown_key(total: UsageTotal | DailyUsage) -> str:
    """Return how a key is shown: its name and the end of its token."""
    if not total.owner:
        return "(no key)"
    return f"{total.name or 'token'} …{total.hint}" if total.hint else total.name or "token"


def _plain(words: str | None) -> str:
    # A spreadsheet would run such a text as a formula, and callers choose the end of a token.
    text = words or ""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
