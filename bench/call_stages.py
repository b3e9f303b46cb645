"""Where the CPU time of a `search` goes, stage by stage.

    python -m bench.call_stages [--site SITE] [--cache DIR] [--json FILE]

Asks the questions of `bench.call_cost` and looks, every two milliseconds, which of our modules each
thread is in and how much CPU it used since. A profiler of calls would make Python look far slower
than the models, which are written in C++. Milliseconds a call.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import FrameType

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
    "core/screen": "links",
    "core/text_fragment": "links",
    "core/visible_text": "links",
    "core/folding": "links",
    "answer/links": "links",
    "core": "words, question, tokens",
    "answer": "quotes",
    "research": "support and assembly",
    "": "validation and result",
}
_OTHER = "event loop and threads"
_PACKAGE = "/citewell/"
_SAMPLE_SECONDS = 0.002


class Samples:
    """Looks every few milliseconds what each thread is at, and adds the CPU it used since."""

    def __init__(self) -> None:
        self.by_stage: Counter[str] = Counter()
        self._used: dict[int, int] = {}
        self._is_over = threading.Event()
        self._sampler = threading.Thread(target=self._sample, daemon=True)

    def start(self) -> None:
        # A thread that runs Python lets the sampler in after this time.
        sys.setswitchinterval(_SAMPLE_SECONDS / 2)
        self._sampler.start()

    def stop(self) -> None:
        self._is_over.set()
        self._sampler.join()

    def _sample(self) -> None:
        while not self._is_over.wait(_SAMPLE_SECONDS):
            frames = sys._current_frames()
            for thread in threading.enumerate():
                if thread is self._sampler or thread.ident not in frames:
                    continue
                used = _cpu_nanoseconds(thread.native_id)
                since = used - self._used.get(thread.ident, used)
                self._used[thread.ident] = used
                if since:
                    self.by_stage[_stage_of(frames[thread.ident])] += since


def _cpu_nanoseconds(native_id: int | None) -> int:
    try:
        return int(Path(f"/proc/self/task/{native_id}/schedstat").read_text("ascii").split()[0])
    except FileNotFoundError:
        # The thread has just ended.
        return 0


def _stage_of(innermost: FrameType) -> str:
    frame: FrameType | None = innermost
    while frame is not None:
        file = frame.f_code.co_filename
        if "/onnxruntime/" in file:
            return "models"
        _, is_ours, path = file.rpartition(_PACKAGE)
        if is_ours:
            return next(stage for start, stage in _STAGES.items() if path.startswith(start))
        frame = frame.f_back
    return _OTHER


async def ask(site: str, library: Path, samples: Samples) -> int:
    """Return how many calls were sampled."""
    settings = settings_for(library)
    registry = open_registry(settings)
    arguments = arguments_of(site)[_TOOL]
    rows = questions_on(site)
    async with open_app(settings) as app:
        for number, row in enumerate(rows):
            if number == _LOADING_CALLS:
                samples.start()
            await registry.call(_TOOL, arguments(row), app=app, caller=CALLER)
        samples.stop()
    return len(rows) - _LOADING_CALLS


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
        samples = Samples()
        calls = anyio.run(ask, options.site, library, samples)
    ranked = samples.by_stage.most_common()
    found = {stage: round(nanoseconds / 1e6 / calls, 1) for stage, nanoseconds in ranked}
    for stage, share in found.items():
        print(f"{stage:30} {share:8.1f}")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
