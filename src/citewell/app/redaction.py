"""What of a call may stand in the log: no secrets, no long text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECRET_NAME = re.compile(r"token|secret|password|api_?key|authorization|cookie", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"(?i)(bearer\s+)\S+|(?<=://)[^/@\s]+@|\b(sk-|ghp_|xox[bp]-)\S+")
_MAX_CHARACTERS = 120
# Made once: json.dumps would make one a call.
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)


def redact(text: str) -> str:
    """Return `text` without bearer tokens, URL credentials and well-known kinds of keys."""
    return _SECRET_VALUE.sub("[redacted]", text)


def summarise_arguments(arguments: Mapping[str, object]) -> str:
    """Return the arguments of a call as one short line of JSON."""
    short = {
        name[:40]: "[redacted]" if _SECRET_NAME.search(name) else _shorten(value)
        for name, value in list(arguments.items())[:12]
    }
    return _ENCODER.encode(short)


def _shorten(value: object) -> object:
    if isinstance(value, int | float | bool) or value is None:
        return value
    text = redact(value if isinstance(value, str) else json.dumps(value, default=str))
    if len(text) <= _MAX_CHARACTERS:
        return text
    return f"{text[:_MAX_CHARACTERS]}… ({len(text)} characters)"
