"""CPU seconds, user and system, of the commands of the shell on a library that is there.

    python -m bench.command_speed [FILE …] [--runs 9]

Indexes the files (by default the example site), then runs each command as a process of its own.
The least of the runs is what the command takes when nothing else disturbs the caches.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

EXAMPLE_SITE = Path("examples/site")
QUESTION = "How do I cancel a task?"


def cpu_seconds(command: Sequence[str], env: dict[str, str]) -> float:
    """Return what one run takes, with the processes that it starts."""
    before = os.times()
    subprocess.run(command, env=env, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return (
        after.children_user - before.children_user + after.children_system - before.children_system
    )


def main() -> None:
    """Index the files and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", metavar="FILE", nargs="*", default=[str(EXAMPLE_SITE)])
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    citewell = [sys.executable, "-m", "citewell"]
    commands = {
        "--help": ["--help"],
        "status": ["status"],
        "jobs": ["jobs"],
        "sites list": ["sites", "list"],
        "search": ["search", QUESTION],
        "ask, stored file": ["ask", options.files[0], QUESTION],
    }
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "CITEWELL_DATABASE_URL": f"sqlite:///{folder}/library.db"}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        subprocess.run([*citewell, "ingest", *options.files], env=env, check=True)
        print("| command | CPU s, least | median |\n| --- | --- | --- |")
        for name, words in commands.items():
            taken = [cpu_seconds([*citewell, *words], env) for _ in range(options.runs)]
            print(f"| `{name}` | {min(taken):.2f} | {statistics.median(taken):.2f} |")


if __name__ == "__main__":
    main()
