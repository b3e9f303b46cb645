"""Text that a caller supplied, which every result marks as such."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic.json_schema import SkipJsonSchema

from citewell.core.boundary import SUPPLIED
from citewell.core.text import one_line
from citewell.tools.untrusted import OwnText, PageLabel

if TYPE_CHECKING:
    from datetime import datetime

    from citewell.core.records import Caller, PageOrigin

# Left out of tools/list to save tokens: the names explain themselves.
Supplied = Annotated[bool | None, SkipJsonSchema()]
"""True for text that a caller supplied; left out otherwise."""
FetchedAt = Annotated[OwnText | None, SkipJsonSchema()]
"""When a page was fetched, or its file read."""
SuppliedAt = Annotated[OwnText | None, SkipJsonSchema()]
"""When it was supplied; then there is no `fetched_at`."""
SuppliedBy = Annotated[PageLabel | None, SkipJsonSchema()]
"""Who supplied it; counts as page text, since callers choose their names."""

_MAX_NAME_CHARACTERS = 60
_MAX_NAMES = 5


def is_supplied(origin: PageOrigin) -> bool | None:
    """Return True for supplied text, otherwise None, which results leave out."""
    return True if origin == "supplied" else None


def shape_moment(moment: datetime, origin: PageOrigin) -> dict[str, str]:
    """Return `fetched_at` of a page, or `supplied_at` of supplied text."""
    name = "supplied_at" if origin == "supplied" else "fetched_at"
    return {name: moment.isoformat(timespec="seconds")}


def add_supplier(before: str, caller: Caller) -> str:
    """Return the names of all suppliers of a text, the caller last.

    A name is followed by the end of the key, since callers choose their names.
    """
    if caller.key_hash is None:
        name = "the user of this machine" if caller.is_local else "an anonymous caller"
    else:
        claimed = one_line(caller.user or "")[:_MAX_NAME_CHARACTERS].replace(";", ",")
        name = f"{claimed or 'a caller'} (…{caller.key_hint})"
    earlier = [other for other in before.split("; ") if other not in ("", name)]
    return "; ".join([*earlier, name][-_MAX_NAMES:])


def render_supplied(supplied_by: str | None) -> str:
    """Return the words for supplied text, with the supplier if known."""
    return SUPPLIED if supplied_by is None else f"{SUPPLIED}: {supplied_by}"
