"""Runs the groups of attacks and prints, for each, how many were tried and how many held.

A group is a module of this folder with `NAME` and `async def attack() -> AsyncIterator[Attempt]`.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from functools import partial

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


async def run(chosen: list[Group], *, shows_all: bool = False) -> int:
    """Run the groups; return how many attacks got through."""
    through = 0
    for group in chosen:
        attempts = [attempt async for attempt in group.attack()]
        held = sum(attempt.held for attempt in attempts)
        through += len(attempts) - held
        print(f"{group.name:20} tried {len(attempts):5}  held {held:5}", flush=True)
        for attempt in attempts:
            if shows_all or not attempt.held:
                verdict = "held" if attempt.held else "through"
                print(f"    {verdict}: {attempt.what}: {attempt.outcome}")
    return through


def main() -> int:
    """Return the exit code: 1 when an attack got through."""
    known = {group.name: group for group in groups()}
    said = "Attack Citewell, and print how many attacks of each group were tried and held."
    parser = argparse.ArgumentParser(prog="python -m bench.redteam", description=said)
    parser.add_argument("--quick", action="store_true", help="try a sample in long groups")
    parser.add_argument("--all", action="store_true", help="show what became of each attack")
    parser.add_argument("group", nargs="*", help=f"all, or some of: {', '.join(known)}")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.group if name not in known]:
        parser.error(f"no group is called {', '.join(unknown)}; choose from {', '.join(known)}")
    chosen = [known[name] for name in arguments.group or known]
    return 1 if anyio.run(partial(run, chosen, shows_all=arguments.all)) else 0


if __name__ == "__main__":
    sys.exit(main())
