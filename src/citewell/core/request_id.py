"""The id of the HTTP request that is being answered."""

from __future__ import annotations

from contextvars import ContextVar

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""In the response, in each log line and in the log of calls; None outside of any request."""
