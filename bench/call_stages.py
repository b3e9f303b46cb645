"""Where the CPU time of a `search` goes, stage by stage.

    python -m bench.call_stages [--site SITE] [--cache DIR] [--json FILE]

Asks the questions of `bench.call_cost` under a profiler, in every thread, and adds up the time of
our modules with what they call elsewhere. A profiler makes Python look slower than what is written
in C: the shares are scaled to the CPU time of calls without one. Milliseconds a call.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from types import CodeType

import anyio
from bench.call_cost import CALLER, arguments_of, questions_on, settings_for
from bench.question_sites import DEFAULT_CACHE, SITES, copy_library

from citewell.app.open import open_app
from citewell.tools.catalog import open_registry

_TOOL = "search"
_LOADING_CALLS = 5
# The first that a module's path begins with.
_STAGES = {
    "store/sqlite/vector": "search by vectors",
    "store/sqlite/word": "search by words",
    "store/bm25": "search by words",
    "store": "reading chunks and pages",
    "inference/span_reader": "reader",
    "inference/calibrated": "reranking",
    "inference/reranker": "reranking",
    "inference": "embedding",
    "retrieve": "retrieval",
    "core": "words, question, tokens",
    "answer": "quotes",
    "research": "support and assembly",
    "": "validation and result",
}
_OTHER = "event loop and threads"
_PACKAGE = "/citewell/"


class Profiles:
    """A profile of every thread that starts while it is active, and of this one."""

    def __init__(self) -> None:
        self._all: list[cProfile.Profile] = []

    def start(self) -> None:
        threading.setprofile(self._begin)
        self._begin()

    def stop(self) -> None:
        threading.setprofile(None)
        sys.setprofile(None)

    def seconds_by_stage(self) -> dict[str, float]:
        """Return the time of each stage; built-in functions count for whoever called them."""
        spent: defaultdict[str, float] = defaultdict(float)
        for profile in self._all:
            for row in profile.getstats():
                if isinstance(row.code, str):
                    continue
                built_in = (call for call in row.calls or () if isinstance(call.code, str))
                spent[_stage_of(row.code)] += row.inlinetime
                spent[_stage_of(row.code)] += sum(call.inlinetime for call in built_in)
        return spent

    def _begin(self, *_event: object) -> None:
        profile = cProfile.Profile(time.thread_time)
        self._all.append(profile)
        profile.enable()


def _stage_of(code: CodeType) -> str:
    if "/onnxruntime/" in code.co_filename:
        return "models"
    _, is_ours, path = code.co_filename.rpartition(_PACKAGE)
    if not is_ours:
        return _OTHER
    return next(stage for beginning, stage in _STAGES.items() if path.startswith(beginning))


async def ask(
    site: str, library: Path, profiles: Profiles | None
) -> tuple[float, dict[str, float]]:
    """Return the CPU milliseconds of a call, and the profiled seconds of each stage."""
    settings = settings_for(library)
    registry = open_registry(settings)
    arguments = arguments_of(site)[_TOOL]
    rows = questions_on(site)
    started = 0.0
    loading: dict[str, float] = {}
    if profiles is not None:
        profiles.start()
    async with open_app(settings) as app:
        for number, row in enumerate(rows):
            if number == _LOADING_CALLS:
                started = time.process_time()
                loading = profiles.seconds_by_stage() if profiles is not None else loading
            await registry.call(_TOOL, arguments(row), app=app, caller=CALLER)
        spent = time.process_time() - started
        stages = profiles.seconds_by_stage() if profiles is not None else {}
    if profiles is not None:
        profiles.stop()
    since = {stage: seconds - loading.get(stage, 0.0) for stage, seconds in stages.items()}
    return 1000 * spent / (len(rows) - _LOADING_CALLS), since


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--site", default="python-django-doc", choices=list(SITES))
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--json", type=Path, help="write the numbers here")
    options = parser.parse_args()
    # Before numpy's first use: a thread that spins while it waits counts as work.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library.db"
        copy_library(options.cache / f"{options.site}.db", library)
        milliseconds, _ = anyio.run(ask, options.site, library, None)
        _, stages = anyio.run(ask, options.site, library, Profiles())
    scale = milliseconds / sum(stages.values())
    ranked = sorted(stages.items(), key=lambda stage: -stage[1])
    found = {stage: round(scale * seconds, 1) for stage, seconds in ranked}
    for stage, share in found.items():
        print(f"{stage:30} {share:8.1f}")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
