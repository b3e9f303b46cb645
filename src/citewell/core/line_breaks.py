"""Where long names can be broken into lines."""

from __future__ import annotations

import re

# Between the parts of `http.server.HTTPServer`, `send_response_only` and `a/b`, not at a full stop.
_BETWEEN_PARTS = re.compile(r"(?<=\w)(?:[./:]+|_+)(?=\w)")


def with_break_points(text: str, mark: str) -> str:
    """Return the text with `mark` after every dot, underscore, slash or colon inside a name."""
    return _BETWEEN_PARTS.sub(lambda between: between.group() + mark, text)
