"""Looking for quotes in pages, in another process unless the page is short.

The nearest text of a page of megabytes takes seconds to find. Threads that do so hold up all other
calls of this process; the other one has a limit, ends with its caller, and is shared fairly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.answer.verify import (
    Verification,
    has_in_order,
    is_on_screen,
    verify_as_plain_data,
    verify_quote,
)
from citewell.core.off_loop import in_thread

if TYPE_CHECKING:
    from citewell.web.sandbox import Sandbox

# Some 10 ms, as long as a search.
_SHORT_CHARACTERS = 5_000


async def look_for_quote(
    quote: str, text: str, *, sandbox: Sandbox, start: int | None = None
) -> Verification:
    """Return whether `text` still holds `quote`; see `verify_quote`.

    Raises:
        ExtractionError: it took too long.
    """
    if len(text) <= _SHORT_CHARACTERS:
        return await in_thread(lambda: verify_quote(quote, text, start=start))
    plain = await sandbox.run(verify_as_plain_data, quote, text, start)
    return Verification(**plain)


async def holds_in_order(ends: tuple[str, str], text: str, *, sandbox: Sandbox) -> bool:
    """Return whether `text` holds the two ends of a stretch; see `has_in_order`.

    Raises:
        ExtractionError: it took too long.
    """
    if len(text) <= _SHORT_CHARACTERS:
        return await in_thread(has_in_order, *ends, text)
    return await sandbox.run(has_in_order, *ends, text)


async def is_quote_shown(quote: str, screen: bytes, text: str, *, sandbox: Sandbox) -> bool:
    """Return whether the page of `text` shows the quote on its screen; see `is_on_screen`.

    Raises:
        ExtractionError: it took too long.
    """
    if len(text) <= _SHORT_CHARACTERS:
        return await in_thread(is_on_screen, quote, screen)
    return await sandbox.run(is_on_screen, quote, screen)
