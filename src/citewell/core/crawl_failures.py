"""Why a page of a crawl could not be read, kept as one text that people and programs read.

The kind comes first, so that what to do can be told from it: "busy: … answers with status 503".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from citewell.core.errors import (
    AddressRefused,
    ExtractionError,
    FetchTimeout,
    HostUnreachable,
    HttpStatusError,
    PageNeedsConsent,
    PageNeedsLogin,
    PageTooLarge,
    RenderFailed,
    RenderingUnavailable,
    RobotsDisallowed,
    TooManyRedirects,
)
from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from citewell.core.errors import CitewellError

FailureKind = Literal["busy", "refused", "too_large", "browser", "damaged", "other"]
"""What can be done about a page that could not be read.

busy       the site was down, slow or asked to wait: it may be read later
refused    the site does not show it to programs: it needs a login, or the site forbids it
too_large  it is larger than the server allows
browser    it needs a browser that is missing, or that broke
damaged    it arrived, but could not be read
other      anything else, and what older versions noted
"""

_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500


@frozen
class CrawlFailure:
    """Why a page could not be read."""

    kind: FailureKind
    reason: str


def note_of(error: CitewellError) -> str:
    """Return what is kept of an error."""
    return f"{_kind_of(error)}: {error.message}"


def parse_note(note: str) -> CrawlFailure:
    """Return what `note_of` kept; a note without a kind is of an older version."""
    name, _, reason = note.partition(": ")
    kind = next((known for known in get_args(FailureKind) if known == name), None)
    return CrawlFailure(kind=kind or "other", reason=reason if kind else note)


def may_pass(error: CitewellError) -> bool:
    """Return whether the trouble is the site's as a whole, and may be over later."""
    if isinstance(error, HttpStatusError):
        status = error.details.get("status")
        return isinstance(status, int) and (status >= _SERVER_ERROR or status == _TOO_MANY_REQUESTS)
    if isinstance(error, RobotsDisallowed):
        return error.details.get("may_pass") is True
    return isinstance(error, FetchTimeout | HostUnreachable)


def _kind_of(error: CitewellError) -> FailureKind:
    if may_pass(error):
        return "busy"
    if isinstance(error, HttpStatusError | PageNeedsLogin | PageNeedsConsent | AddressRefused):
        return "refused"
    if isinstance(error, PageTooLarge):
        return "too_large"
    if isinstance(error, RenderFailed | RenderingUnavailable):
        return "browser"
    if isinstance(error, ExtractionError | TooManyRedirects):
        return "damaged"
    return "other"
