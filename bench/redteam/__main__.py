"""Runs the groups of attacks and prints, for each, how many were tried and how many held.

With `--quick`, long groups try a sample.

A group is a module of this folder with `NAME` and `async def attack() -> AsyncIterator[Attempt]`.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys

import anyio
from bench import redteam
from bench.redteam.attempt import Group


def groups() -> list[Group]:
    """Return every group, by the order of its module's name."""
    found = []
    for info in pkgutil.iter_modules(redteam.__path__):
        module = importlib.import_module(f"bench.redteam.{info.name}")
        if hasattr(module, "NAME"):
            found.append(Group(name=module.NAME, attack=module.attack))
    return found


async def main(names: list[str]) -> int:
    """Run the named groups, or all; return how many attacks got through."""
    through = 0
    for group in groups():
        if names and group.name not in names:
            continue
        attempts = [attempt async for attempt in group.attack()]
        held = sum(attempt.held for attempt in attempts)
        through += len(attempts) - held
        print(f"{group.name:20} tried {len(attempts):5}  held {held:5}", flush=True)
        for attempt in attempts:
            if not attempt.held:
                print(f"    through: {attempt.what}: {attempt.outcome}")
    return through


if __name__ == "__main__":
    named = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    sys.exit(1 if anyio.run(main, named) else 0)
