"""What keys have used, as a person sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.app.usage import usage_summary

if TYPE_CHECKING:
    from citewell.core.identity import UsageTotal
    from citewell.tools.registry import Call


async def list_usage(call: Call, *, month: str | None = None) -> list[UsageTotal]:
    """Return what the caller's key has used in a month; with the scope `admin`, what all have.

    Raises:
        InvalidArgument: the month is not one.
    """
    await call.parts.access.meter.write_out()
    owner = None if "admin" in call.caller.scopes else call.caller.key_hash or ""
    return await usage_summary(call.parts.store.access, month=month, owner=owner)
