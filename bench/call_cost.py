"""CPU time of one call of the tools that read a library, over a documentation site with vectors.

    python -m bench.call_cost [--site SITE] [--cache DIR] [--rounds 3] [--tool TOOL] [--json FILE]

The library comes from `bench.question_sites`; a copy of it is asked. "First time" is the median
over questions that were not asked before, "asked again" over the same ones in other words. CPU
time, with the models on one thread, so that a busy machine does not decide.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from bench.question_sites import DEFAULT_CACHE, SITES, copy_library

from citewell.app.open import App, open_app
from citewell.core.records import Caller
from citewell.core.settings import Settings
from citewell.tools.catalog import open_registry
from citewell.tools.registry import Registry

_QUESTIONS = sorted(Path(__file__).parent.glob("*_sites.jsonl"))
CALLER = Caller(session="bench")
# The first calls load models, codes and tables.
_LOADING_CALLS = 3

Arguments = Callable[[dict[str, Any]], dict[str, object]]


def arguments_of(site: str) -> dict[str, Arguments]:
    """Return, by the name of a row, how a line of the questions becomes the arguments of a call."""

    def stored_page(row: dict[str, Any]) -> dict[str, object]:
        page = row["page"] or row["start"]
        return {"url": SITES[site].page_url(page), "query": row["question"]}

    return {
        "search": lambda row: {"query": row["question"]},
        "kb_retrieve_evidence": lambda row: {"query": row["question"]},
        "kb_search": lambda row: {"query": row["question"]},
        "answer": stored_page,
        "status": lambda row: {},
    }


def questions_on(site: str) -> list[dict[str, Any]]:
    """Return the questions that were written for a site."""
    lines = [line for file in _QUESTIONS for line in file.read_text("utf-8").splitlines()]
    rows = [row for line in lines if (row := json.loads(line))["site"] == site]
    if not rows:
        raise SystemExit(f"no questions on {site}")
    return rows


def settings_for(library: Path, *, allowed_private_hosts: tuple[str, ...] = ()) -> Settings:
    """Return the settings of a server of a library, with the models on one thread."""
    return Settings(
        database_url=f"sqlite:///{library}",
        mcp_toolsets=("all",),
        inference_threads=1,
        page_stale_days=9_999,
        events=("none",),
        web_allowed_private_hosts=allowed_private_hosts,
    )


async def measure(
    app: App, registry: Registry, calls: Sequence[tuple[str, dict[str, object]]]
) -> tuple[list[float], int]:
    """Return the CPU milliseconds of each call, and how many ended in an error."""
    spent: list[float] = []
    errors = 0
    for tool, arguments in calls:
        started = time.process_time()
        result = await registry.call(tool, arguments, app=app, caller=CALLER)
        spent.append((time.process_time() - started) * 1000)
        errors += result.is_error
    return spent, errors


async def run(options: argparse.Namespace, library: Path) -> dict[str, float]:
    """Return the median of each tool over questions that were not asked before."""
    medians: dict[str, float] = {}
    for tool, arguments in arguments_of(options.site).items():
        if options.tool and tool not in options.tool:
            continue
        # A word in front makes a round's questions new to what remembers questions.
        rounds = [
            [(tool, arguments(_reworded(row, number))) for row in questions_on(options.site)]
            for number in range(options.rounds + 1)
        ]
        first, again, failed = await _ask_anew(settings_for(library), rounds)
        medians[tool] = round(statistics.median(first), 1)
        print(
            f"{tool:22} CPU ms a call: first time {medians[tool]:6.1f}, asked again "
            f"{statistics.median(again or first):6.1f}, worst {max(first):6.1f}; {failed} errors",
            flush=True,
        )
    return medians


async def _ask_anew(
    settings: Settings, rounds: Sequence[Sequence[tuple[str, dict[str, object]]]]
) -> tuple[list[float], list[float], int]:
    """Return the CPU milliseconds of the first round and of all others, and the errors.

    The application is opened for it: another tool's calls would have left the model's results.
    """
    registry = open_registry(settings)
    async with open_app(settings) as app:
        first, failed = await measure(app, registry, rounds[0])
        again: list[float] = []
        for calls in rounds[1:]:
            spent, errors = await measure(app, registry, calls)
            again += spent
            failed += errors
    return first[_LOADING_CALLS:], again, failed


_OPENERS = ("", "Please: ", "Question: ", "Help: ", "Again: ", "Hello, ", "Well, ", "So: ")


def _reworded(row: dict[str, Any], number: int) -> dict[str, Any]:
    return {**row, "question": _OPENERS[number % len(_OPENERS)] + row["question"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--site", default="python-django-doc", choices=list(SITES))
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tool", action="append", help="only this tool; repeatable")
    parser.add_argument("--json", type=Path, help="write the medians here")
    options = parser.parse_args()
    # Before numpy's first use: a thread that spins while it waits counts as work.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    kept = options.cache / f"{options.site}.db"
    if not kept.exists():
        print(f"no library at {kept}; make it with: python -m bench.question_sites {options.site}")
        return
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library.db"
        copy_library(kept, library)
        medians = anyio.run(partial(run, options, library))
    if options.json is not None:
        options.json.write_text(json.dumps(medians, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
