"""Looking for quotes in pages, in another process unless the page is short.

The nearest text of a page of megabytes takes seconds to find. Threads that do so hold up all other
calls of this process; the other one has a limit, ends with its caller, and is shared fairly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from citewell.answer.verify import (
    Verification,
    are_on_screen,
    has_in_order,
    verify_quotes,
)
from citewell.core.off_loop import in_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.web.sandbox import Sandbox

# Some 10 ms, as long as a search.
_SHORT_CHARACTERS = 5_000


async def look_for_quotes(
    quotes: Sequence[tuple[str, int | None]],
    text: str,
    *,
    sandbox: Sandbox,
    cpu_seconds: float = math.inf,
) -> list[Verification]:
    """Return whether `text` still holds each quote, which stood at its start; see `verify_quote`.

    Results of the last quotes are missing where `cpu_seconds` are over before; the first is there.

    Raises:
        ExtractionError: it took too long.
    """
    if not quotes:
        return []
    if len(text) <= _SHORT_CHARACTERS:
        verdicts = await in_thread(verify_quotes, quotes, text, cpu_seconds)
    else:
        verdicts = await sandbox.run(verify_quotes, quotes, text, cpu_seconds)
    return [Verification(**plain) for plain in verdicts]


async def look_for_quote(quote: str, text: str, *, sandbox: Sandbox) -> Verification:
    """Return whether `text` still holds the quote, wherever it stands.

    Raises:
        ExtractionError: it took too long.
    """
    (result,) = await look_for_quotes([(quote, None)], text, sandbox=sandbox)
    return result


async def holds_in_order(ends: tuple[str, str], text: str, *, sandbox: Sandbox) -> bool:
    """Return whether `text` holds the two ends of a stretch; see `has_in_order`.

    Raises:
        ExtractionError: it took too long.
    """
    if len(text) <= _SHORT_CHARACTERS:
        return await in_thread(has_in_order, *ends, text)
    return await sandbox.run(has_in_order, *ends, text)


async def are_quotes_shown(
    quotes: Sequence[str], screen: bytes, text: str, *, sandbox: Sandbox
) -> list[bool]:
    """Return whether the page of `text` shows each quote on its screen; see `are_on_screen`.

    Raises:
        ExtractionError: it took too long.
    """
    if not quotes:
        return []
    if len(text) <= _SHORT_CHARACTERS:
        return await in_thread(are_on_screen, quotes, screen)
    return await sandbox.run(are_on_screen, quotes, screen)
