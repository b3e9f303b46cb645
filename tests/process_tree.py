"""The processes below one, as the system lists them in /proc."""

from __future__ import annotations

import os
from pathlib import Path


def processes_below(pid: int | None = None) -> dict[int, str]:
    """Return the living descendants of a process, of this one if none is named, with their commands."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (parent := _parent_of(int(entry.name))) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    found: dict[int, str] = {}
    waiting = children.get(os.getpid() if pid is None else pid, [])
    while waiting:
        one = waiting.pop()
        found[one] = command_of(one)
        waiting.extend(children.get(one, []))
    return found


def is_alive(pid: int) -> bool:
    """Return whether a process runs; one that only waits to be reaped does not."""
    return _parent_of(pid) is not None


def command_of(pid: int) -> str:
    try:
        return (
            Path(f"/proc/{pid}/cmdline")
            .read_bytes()
            .replace(b"\0", b" ")
            .decode("utf-8", "replace")
        )
    except OSError:
        return ""


def private_bytes(pid: int) -> int:
    """Return the memory that a process shares with no other."""
    try:
        counts = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0
    return (int(counts[1]) - int(counts[2])) * os.sysconf("SC_PAGE_SIZE")


def _parent_of(pid: int) -> int | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, parent = stat.rpartition(")")[2].split()[:2]
    return None if state in "ZX" else int(parent)
