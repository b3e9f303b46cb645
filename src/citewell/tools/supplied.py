"""Text that a caller passed in: every result says so, and none calls it fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic.json_schema import SkipJsonSchema

from citewell.core.boundary import SUPPLIED
from citewell.core.text import one_line
from citewell.tools.untrusted import OwnText, PageLabel

if TYPE_CHECKING:
    from datetime import datetime

    from citewell.core.records import Caller, PageOrigin

# Left out of tools/list, which is paid for in every conversation: the names speak for themselves.
Supplied = Annotated[bool | None, SkipJsonSchema()]
"""True for text that a caller supplied; left out otherwise."""
FetchedAt = Annotated[OwnText | None, SkipJsonSchema()]
"""When a page was fetched, or its file read."""
SuppliedAt = Annotated[OwnText | None, SkipJsonSchema()]
"""When it was supplied; such a page has no `fetched_at`."""
SuppliedBy = Annotated[PageLabel | None, SkipJsonSchema()]
"""Who supplied it. Callers choose the names that they go by, so they count as page words."""

_MAX_NAME_CHARACTERS = 60
_MAX_NAMES = 5


def is_supplied(origin: PageOrigin) -> bool | None:
    """Return True for supplied text; None, which results leave out, for all other."""
    return True if origin == "supplied" else None


def shape_moment(moment: datetime, origin: PageOrigin) -> dict[str, str]:
    """Return when a page was fetched, or when its text was supplied, under the name that fits."""
    name = "supplied_at" if origin == "supplied" else "fetched_at"
    return {name: moment.isoformat(timespec="seconds")}


def add_supplier(before: str, caller: Caller) -> str:
    """Return the names of all who supplied a text, with that of the caller as the last.

    A name that a caller chose is followed by the end of the key, which it did not choose.
    """
    if caller.key_hash is None:
        name = "the user of this machine" if caller.is_local else "an anonymous caller"
    else:
        claimed = one_line(caller.user or "")[:_MAX_NAME_CHARACTERS].replace(";", ",")
        name = f"{claimed or 'a caller'} (…{caller.key_hint})"
    earlier = [other for other in before.split("; ") if other not in ("", name)]
    return "; ".join([*earlier, name][-_MAX_NAMES:])


def render_supplied(supplied_by: str | None) -> str:
    """Return that a text was supplied, and by whom where that is known."""
    return SUPPLIED if supplied_by is None else f"{SUPPLIED}: {supplied_by}"
