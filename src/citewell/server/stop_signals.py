"""What SIGINT and SIGTERM do while a server runs: they end it, and the exit code is 0."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def on_stop_signal(stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` at the first signal; a second one kills, should stopping hang."""
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}

    def handle(number: int, frame: object) -> None:
        for expected in STOP_SIGNALS:
            signal.signal(expected, signal.SIG_DFL)
        stop()

    for number in STOP_SIGNALS:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number in STOP_SIGNALS:
            signal.signal(number, before[number])
