"""Remove characters that a database cannot store or a reader cannot see."""

from __future__ import annotations

import re

# Control characters except tab and line feed (forms send a carriage return before it), lone
# surrogates, and the two marks that reverse the order of a line: people must see exactly the
# text that the agent gets.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202d\u202e\ud800-\udfff]")


def plain_text(text: str) -> str:
    """Return `text` without such characters."""
    return _UNSEEN.sub("", text)
