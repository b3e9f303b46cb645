"""Looking for quotes and anchors in pages, in another process unless there is little to search.

The nearest text of a page of megabytes takes seconds to find. Threads that do so hold up all other
calls of this process; the other one has a limit, ends with its caller, and is shared fairly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from citewell.answer.verify import (
    Verification,
    are_on_screen,
    have_in_order,
    verify_quotes,
)
from citewell.core.html_anchors import missing_anchors
from citewell.core.off_loop import in_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from citewell.web.sandbox import Sandbox

_Found = TypeVar("_Found")

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
    verdicts = await _look(verify_quotes, quotes, text, cpu_seconds, sandbox=sandbox)
    return [Verification(**plain) for plain in verdicts]


async def hold_in_order(
    stretches: Sequence[tuple[str, str]], text: str, *, sandbox: Sandbox
) -> list[bool]:
    """Return whether `text` holds the two ends of each stretch; see `have_in_order`.

    Raises:
        ExtractionError: it took too long.
    """
    return await _look(have_in_order, stretches, text, sandbox=sandbox)


async def look_for_anchors(anchors: Sequence[str], html: str, *, sandbox: Sandbox) -> set[str]:
    """Return those of `anchors` that HTML does not name.

    Raises:
        ExtractionError: it took too long.
    """
    return set(await _look(missing_anchors, anchors, html, sandbox=sandbox))


async def are_quotes_shown(
    quotes: Sequence[str], screen: bytes, text: str, *, sandbox: Sandbox
) -> list[bool]:
    """Return whether the page of `text` shows each quote on its screen; see `are_on_screen`.

    Raises:
        ExtractionError: it took too long.
    """
    # What is packed says nothing of its size.
    return await _look(are_on_screen, quotes, screen, sandbox=sandbox, length=len(text))


async def _look(
    function: Callable[..., list[_Found]],
    wanted: Sequence[object],
    page: str | bytes,
    *arguments: object,
    sandbox: Sandbox,
    length: int | None = None,
) -> list[_Found]:
    """Return what `function` finds of all that is `wanted` in a page, which it reads once."""
    if not wanted:
        return []
    is_short = len(wanted) * (len(page) if length is None else length) <= _SHORT_CHARACTERS
    run = in_thread if is_short else sandbox.run
    return await run(function, wanted, page, *arguments)
