"""Work on a file of the docs folder, bounded in time and memory by its size.

What a small file can cost where the work is linear is little, so it is done in place.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.lowlevel
from anyio import to_thread

from citewell.web.blocking_sandbox import BlockingSandbox

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

SMALL_BYTES = 100_000

# More would only wait for the processes that do the work.
_THREADS = 4
_places: anyio.lowlevel.RunVar[anyio.CapacityLimiter] = anyio.lowlevel.RunVar("docs files")


@cache
def docs_sandbox() -> BlockingSandbox:
    """Return the processes that read the files of docs folders, started on first use."""
    return BlockingSandbox(preload=("citewell.docsite.site.page_content",))


def by_size(
    size: int,
    function: Callable[..., T],
    *arguments: object,
    sandbox: BlockingSandbox | None = None,
) -> T:
    """Return what `function`, whose work is linear, makes of a file of `size` bytes.

    It returns plain data only. Large files are read in `sandbox`, `docs_sandbox` if it is None.

    Raises:
        ExtractionError: it exceeds the limits of a file of this size.
    """
    if size <= SMALL_BYTES:
        return function(*arguments)
    return (sandbox or docs_sandbox()).run(size, function, *arguments)


async def by_size_beside(size: int, function: Callable[..., T], *arguments: object) -> T:
    """Return the same as `by_size`, while the event loop goes on.

    Raises:
        ExtractionError: as `by_size`.
    """
    if size <= SMALL_BYTES:
        return function(*arguments)
    try:
        places = _places.get()
    except LookupError:
        places = anyio.CapacityLimiter(_THREADS)
        _places.set(places)
    work = partial(docs_sandbox().run, size, function, *arguments)
    return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=places)
