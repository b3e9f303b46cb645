"""Memory under mixed calls: whether what the server holds levels off.

    python -m bench.soak [--site SITE] [--cache DIR] [--minutes 20] [--json FILE]

Calls every tool of `bench.call_cost` in turn on a copy of its library, each time with questions
in other words, and reports the resident memory as it goes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path

import anyio
from bench.call_cost import CALLER, arguments_of, questions_on, settings_for
from bench.question_sites import DEFAULT_CACHE, SITES

from citewell.app.open import open_app
from citewell.tools.catalog import open_registry

_SAMPLES = 40
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def resident_megabytes() -> float:
    """Return the resident memory of this process (Linux)."""
    resident = int(Path("/proc/self/statm").read_text("utf-8").split()[1])
    return resident * _PAGE_BYTES / 1e6


async def soak(site: str, library: Path, *, minutes: float) -> list[tuple[int, float]]:
    """Return the number of calls made so far with the memory at that time, again and again."""
    settings = settings_for(library)
    registry = open_registry(settings)
    rows, tools = questions_on(site), arguments_of(site)
    curve: list[tuple[int, float]] = []
    started, calls = time.monotonic(), 0
    async with open_app(settings) as app:
        while (passed := time.monotonic() - started) < minutes * 60:
            row = rows[calls // len(tools) % len(rows)]
            row = {**row, "question": f"{row['question']} ({calls})"}
            for tool, arguments in tools.items():
                await registry.call(tool, arguments(row), app=app, caller=CALLER)
                calls += 1
            if passed > len(curve) * minutes * 60 / _SAMPLES:
                curve.append((calls, round(resident_megabytes(), 1)))
                print(f"{passed / 60:5.1f} min {calls:6} calls {curve[-1][1]:7.1f} MB", flush=True)
    return curve


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--site", default="python-django-doc", choices=list(SITES))
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--json", type=Path, help="write the curve here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library.db"
        shutil.copyfile(options.cache / f"{options.site}.db", library)
        curve = anyio.run(partial(soak, options.site, library, minutes=options.minutes))
    half = curve[len(curve) // 2 :]
    grown = half[-1][1] - half[0][1]
    print(f"second half: {grown:+.1f} MB in {half[-1][0] - half[0][0]} calls")
    if options.json is not None:
        options.json.write_text(json.dumps(curve) + "\n", "utf-8")


if __name__ == "__main__":
    main()
