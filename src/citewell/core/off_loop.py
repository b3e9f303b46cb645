"""Computing beside the event loop, so that what waits for it goes on meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import anyio.lowlevel

from citewell.core.places import Places

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import TypeVarTuple, Unpack

    Arguments = TypeVarTuple("Arguments")

Result = TypeVar("Result")

# Only one thread runs Python at a time; the second lets a short computation overtake a long one.
_THREADS = 2
_places: anyio.lowlevel.RunVar[Places] = anyio.lowlevel.RunVar("computing")


async def in_thread(
    function: Callable[[Unpack[Arguments]], Result], *arguments: *Arguments
) -> Result:
    """Return what `function`, which computes and waits for nothing, returns in another thread."""
    try:
        places = _places.get()
    except LookupError:
        places = Places(_THREADS)
        _places.set(places)
    return await places.run(function, *arguments)
