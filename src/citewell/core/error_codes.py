"""The codes by which programs distinguish kinds of errors."""

from __future__ import annotations

from typing import Literal

ErrorCode = Literal[
    "INVALID_ARGUMENT",
    "SCOPE_VIOLATION",
    "BACKEND_UNAVAILABLE",
    "TIMEOUT",
    "BUDGET_EXCEEDED",
    "INTERNAL_ERROR",
    "NOT_FOUND",
    "RATE_LIMITED",
    "OVERLOADED",
]
