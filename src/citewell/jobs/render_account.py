"""The outcome of a render, as the worker writes it and the requester reads it."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

from citewell.core.error_kinds import error_of_kind
from citewell.core.records import FetchedPage
from citewell.core.renders import RenderOutcome

if TYPE_CHECKING:
    from citewell.core.errors import CitewellError


def outcome_of_page(page: FetchedPage) -> RenderOutcome:
    """Return the outcome of a page that was rendered."""
    account = {
        "final_url": page.final_url,
        "status": page.status,
        "fetched_at": page.fetched_at.isoformat(),
        "redirects": page.redirects,
        "incomplete": page.incomplete,
    }
    return RenderOutcome(account=json.dumps(account), html=page.body)


def outcome_of_error(error: CitewellError) -> RenderOutcome:
    """Return the outcome of a page that could not be rendered."""
    account = {
        "error": error.message,
        "kind": type(error).__name__,
        "suggestion": error.suggestion,
        "details": error.details,
    }
    return RenderOutcome(account=json.dumps(account))


def page_of_outcome(outcome: RenderOutcome, url: str) -> FetchedPage:
    """Return the page that was requested as `url`.

    Raises:
        CitewellError: it could not be rendered; the same error that the worker met.
    """
    account = json.loads(outcome.account)
    if "error" in account:
        error = error_of_kind(account["kind"], account["error"])
        error.suggestion, error.details = account["suggestion"], account["details"]
        raise error
    return FetchedPage(
        url=url,
        final_url=account["final_url"],
        status=account["status"],
        kind="html",
        body=outcome.html,
        text=outcome.html.decode("utf-8"),
        fetched_at=datetime.fromisoformat(account["fetched_at"]),
        redirects=tuple(account["redirects"]),
        rendered=True,
        incomplete=account.get("incomplete", ""),
    )
