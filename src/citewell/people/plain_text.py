"""What people and agents write, without what a database cannot hold or a reader cannot see."""

from __future__ import annotations

import re

# Control characters but for tabs and line feeds (forms send a return before each), halves of
# characters, and the two marks that show a line in another order than it is stored: a person must
# see what the agent is told.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202d\u202e\ud800-\udfff]")


def plain_text(text: str) -> str:
    """Return `text` without such characters."""
    return _UNSEEN.sub("", text)
