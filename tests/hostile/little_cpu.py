"""A limit of CPU time that a hostile input must not reach."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

# Of the inputs here, none takes half a second alone; a quadratic one takes minutes.
CPU_SECONDS = 4.0


@contextmanager
def little_cpu() -> Iterator[None]:
    """Fail when more CPU is used than a moment's: other work on the machine hardly counts."""
    before = time.process_time()
    yield
    assert time.process_time() - before < CPU_SECONDS
