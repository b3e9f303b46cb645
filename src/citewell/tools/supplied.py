"""Text that a caller passed in: every result says so, and none calls it fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic.json_schema import SkipJsonSchema

from citewell.tools.untrusted import OwnText

if TYPE_CHECKING:
    from datetime import datetime

    from citewell.core.records import PageOrigin

# Left out of tools/list, which is paid for in every conversation: the names speak for themselves.
Supplied = Annotated[bool | None, SkipJsonSchema()]
"""True for text that a caller supplied; left out otherwise."""
FetchedAt = Annotated[OwnText | None, SkipJsonSchema()]
"""When a page was fetched, or its file read."""
SuppliedAt = Annotated[OwnText | None, SkipJsonSchema()]
"""When it was supplied; such a page has no `fetched_at`."""


def is_supplied(origin: PageOrigin) -> bool | None:
    """Return True for supplied text; None, which results leave out, for all other."""
    return True if origin == "supplied" else None


def shape_moment(moment: datetime, origin: PageOrigin) -> dict[str, str]:
    """Return when a page was fetched, or when its text was supplied, under the name that fits."""
    name = "supplied_at" if origin == "supplied" else "fetched_at"
    return {name: moment.isoformat(timespec="seconds")}
