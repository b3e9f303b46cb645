"""Whether a failed job is worth another attempt, and when."""

from __future__ import annotations

import random
from datetime import timedelta

from citewell.core.errors import (
    CitewellError,
    FetchTimeout,
    HostUnreachable,
    HttpStatusError,
    InferenceError,
    RenderFailed,
    RobotsDisallowed,
    StoreError,
)
from citewell.web.http_client import may_pass

MAX_ATTEMPTS = 5
_LONGEST_WAIT_SECONDS = 3_600.0


def is_passing(error: CitewellError) -> bool:
    """Return whether the same work can succeed later."""
    if isinstance(error, HostUnreachable):
        return may_pass(error)
    if isinstance(error, HttpStatusError):
        status = error.details.get("status")
        return isinstance(status, int) and (status >= 500 or status == 429)
    if isinstance(error, RobotsDisallowed):
        return error.details.get("may_pass") is True
    return isinstance(error, FetchTimeout | StoreError | InferenceError | RenderFailed)


def wait_before_retry(
    error: CitewellError, *, attempts: int, first_wait_seconds: float
) -> timedelta | None:
    """Return how long to wait before the next attempt; None if there is no point in one.

    Each wait is twice the one before, and at least the Retry-After of the site.
    """
    if attempts >= MAX_ATTEMPTS or not is_passing(error):
        return None
    seconds = first_wait_seconds * 2 ** (attempts - 1) * random.uniform(1.0, 1.25)
    asked = error.details.get("retry_after")
    if isinstance(asked, int | float):
        seconds = max(seconds, float(asked))
    return timedelta(seconds=min(seconds, _LONGEST_WAIT_SECONDS))
