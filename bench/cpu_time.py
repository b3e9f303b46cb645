"""The CPU time of processes, with all those below them (Linux)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def processes_below(parent: int) -> Iterator[int]:
    """Give a process and all that it and its children started."""
    yield parent
    try:
        for task in Path(f"/proc/{parent}/task").iterdir():
            for child in (task / "children").read_text("utf-8").split():
                yield from processes_below(int(child))
    except (FileNotFoundError, ProcessLookupError):
        # It has ended meanwhile.
        return


def cpu_seconds(parent: int, *, without: int | None = None) -> float:
    """Return the CPU time of a process and of those below it, but for the one of `without`."""
    return sum(_own_seconds(each) for each in processes_below(parent) if each != without)


def _own_seconds(process: int) -> float:
    """Return the CPU time of a process and of its children that have ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS
