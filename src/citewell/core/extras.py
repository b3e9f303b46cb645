"""How extras are installed, for messages that name one that is missing."""

from __future__ import annotations


def install_command(extra: str) -> str:
    """Return the command that installs an extra, and the one for a checkout."""
    return f"pip install 'citewell[{extra}]' (from a checkout: pip install '.[{extra}]')"
