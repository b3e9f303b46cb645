"""One page of pictures: the numbers of this tree beside the last that were committed.

    python -m bench.dashboard [--cache DIR] [--sites DIR] [--keep] [NAME …]

Runs the programs below, writes their numbers to bench/results.json and draws bench/dashboard.html
from them and from the results.json of HEAD. The library that is asked is ingested first where it is
missing, which takes a few minutes. Numbers that got worse by more than a tenth (quality:
by .005) are red on the page and named at the end. A program that fails or lacks its data is named
too, and its last numbers stay, as do those of `million` and `postgres`, which take long and run
only when they are named. `--keep` draws the page and runs nothing.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.pictures import curves, stacked_bar
from bench.question_sites import DEFAULT_CACHE, DEFAULT_SITES

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "bench" / "results.json"
PAGE = ROOT / "bench" / "dashboard.html"
# Small enough that its library is made in a run, and with questions of its own.
_SITE = "postfix-doc"
_PYTHON_DOCS = "python3.11-doc/usr/share/doc/python3.11/html"
_HIGHER_IS_BETTER = ("calls/s", "pages/s", "chunks/s", "nDCG")
_LOAD = "load average at the end of a program"
_WORSE = 0.1
_ESTIMATED_SIZES = (1e7, 1e8)
_KEEP_OTHER_SIZES = ("growth",)
_WORSE_QUALITY = 0.005

Numbers = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program that writes its numbers as JSON."""

    title: str
    module: str
    options: tuple[str, ...]
    group: str = ""
    """Whose numbers it adds to; a group of its own where this is empty."""
    runs_by_default: bool = True


def programs(cache: Path, sites: Path) -> dict[str, Program]:
    """Return the programs of the page by name; together they take less than a quarter hour."""
    library = ("--site", _SITE, "--cache", str(cache))
    return {
        "calls": Program(
            title="CPU of a call, ms (Postfix documentation)",
            module="bench.call_cost",
            options=(*library, "--rounds", "0"),
        ),
        "load": Program(
            title="Under load",
            module="bench.under_load",
            options=(*library, "--seconds", "20"),
        ),
        "stages": Program(
            title="CPU of a search by stage, ms",
            module="bench.call_stages",
            options=library,
        ),
        "growth": Program(
            title="CPU of a search by the size of the library, ms (SQLite)",
            module="bench.growth",
            options=("--cache", str(cache), "--sizes", "10000,100000"),
        ),
        "million": Program(
            title="",
            module="bench.growth",
            options=("--cache", str(cache)),
            group="growth",
            runs_by_default=False,
        ),
        "postgres": Program(
            title="The same on PostgreSQL",
            module="bench.growth",
            options=("--cache", str(cache), "--store", "postgres", "--sizes", "10000,100000"),
            runs_by_default=False,
        ),
        "ingest": Program(
            title="Ingest (Python documentation, 200 pages; 10 with vectors)",
            module="bench.ingest_speed",
            options=(
                *("--site", str(sites / _PYTHON_DOCS)),
                *("--pages", "200", "--embedded-pages", "10"),
            ),
        ),
        "start": Program(
            title="CPU from the start of a process to its first answer",
            module="bench.startup",
            options=("--search",),
        ),
        "memory": Program(
            title="Resident memory under mixed calls, MB",
            module="bench.soak",
            options=(*library, "--minutes", "2"),
        ),
        "quality": Program(
            title="Quality",
            module="bench.quality",
            options=("k8s_glossary_en", "k8s_glossary_ja", "--sites", str(sites)),
        ),
    }


def make_library(cache: Path, sites: Path) -> None:
    """Ingest the site that is asked, with its vectors, as far as that was not done."""
    places = ("--cache", str(cache), "--sites", str(sites))
    command = [sys.executable, "-m", "bench.question_sites", _SITE, *places]
    subprocess.run(command, cwd=ROOT, check=True)


def run(program: Program) -> Numbers | None:
    """Return the numbers of a program, or None when it has none."""
    print(f"=== {program.module} ===", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "numbers.json"
        command = [sys.executable, "-m", program.module, *program.options, "--json", str(written)]
        ended = subprocess.run(command, cwd=ROOT, check=False).returncode
        if ended or not written.exists():
            return None
        return _flat(json.loads(written.read_text("utf-8")))


def _flat(numbers: Mapping[str, Any], above: str = "") -> Numbers:
    """Return nested numbers by the names on the way to them."""
    flat: Numbers = {}
    for name, value in numbers.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{above}{name}: ")
        else:
            flat[above + name] = float(value)
    return flat


def committed() -> dict[str, Numbers]:
    """Return the numbers that HEAD has."""
    command = ["git", "show", f"HEAD:{RESULTS.relative_to(ROOT).as_posix()}"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    found: dict[str, Numbers] = json.loads(shown.stdout) if shown.returncode == 0 else {}
    return found


def is_worse(name: str, before: float, now: float) -> bool:
    """Return whether a number got worse by more than chance; the machine's load says nothing."""
    if name == _LOAD:
        return False
    if "nDCG" in name:
        return now < before - _WORSE_QUALITY
    if any(word in name for word in _HIGHER_IS_BETTER):
        return now < before * (1 - _WORSE)
    return now > before * (1 + _WORSE) and now - before > 1


def draw(
    results: Mapping[str, Numbers], before: Mapping[str, Numbers], titles: Mapping[str, str]
) -> str:
    """Return the page."""
    parts = []
    for group, numbers in results.items():
        earlier = before.get(group, {})
        rows = "".join(_row(name, value, earlier.get(name)) for name, value in numbers.items())
        title = html.escape(titles.get(group, group))
        picture, table = _picture(group, numbers), f"<table>{rows}</table>"
        if picture:
            table = f"<details><summary>{len(numbers)} numbers</summary>{table}</details>"
        parts.append(f"<h2>{title}</h2>{picture}{table}")
    return _FRAME.replace("CONTENT", "".join(parts))


def _picture(group: str, numbers: Numbers) -> str:
    if group == "stages":
        return stacked_bar(numbers, unit="ms")
    if group in ("growth", "postgres"):
        searches = {
            name: curve
            for name, curve in _curves(numbers).items()
            if name not in ("storing a chunk with its vector", "memory taken, MB")
        }
        if not searches:
            return ""
        return curves(searches, unit="ms", axis="chunks", estimated_to=_ESTIMATED_SIZES) + (
            "<p>Dotted: estimated for 10 and 100 million chunks by the power law of the last two "
            "sizes, not measured.</p>"
        )
    if group == "memory":
        curve = {"resident": _curves(numbers).get("MB", [])}
        return curves(curve, unit="MB", axis="calls") if curve["resident"] else ""
    return ""


def _curves(numbers: Numbers) -> dict[str, list[tuple[float, float]]]:
    """Return the numbers whose names begin with a size, as curves by the rest of their names."""
    found: dict[str, list[tuple[float, float]]] = {}
    for name, value in numbers.items():
        size, _, what = name.partition(": ")
        if size.isdecimal():
            found.setdefault(what, []).append((float(size), value))
    return {what: sorted(curve) for what, curve in found.items()}


def _row(name: str, now: float, before: float | None) -> str:
    most = max(abs(now), abs(before or 0.0)) or 1.0
    is_red = before is not None and is_worse(name, before, now)
    bars = _bar(0, now / most, "#c0392b" if is_red else "#2874a6")
    if before is not None:
        bars += _bar(9, before / most, "#bbb")
    picture = f'<svg width="260" height="17" role="img" aria-label="{now:g}">{bars}</svg>'
    change = "" if not before else f"{100 * (now / before - 1):+.0f} %"
    beside = "" if before is None else f"{before:g}"
    return (
        f"<tr{' class=worse' if is_red else ''}><td>{html.escape(name)}</td><td>{picture}</td>"
        f"<td>{now:g}</td><td>{beside}</td><td>{change}</td></tr>\n"
    )


def _bar(top: int, share: float, colour: str) -> str:
    return f'<rect y="{top}" width="{max(1, round(256 * share))}" height="8" fill="{colour}"/>'


_FRAME = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Citewell: benchmarks</title>
<style>
body { font: 15px system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
td { padding: .15rem .6rem; text-align: right } td:first-child { text-align: left }
.worse { color: #c0392b; font-weight: bold }
</style>
<h1>Benchmarks</h1>
<p>Blue: this tree. Grey: the numbers committed before. Red: worse. Calls, pages and
chunks a second and nDCG are better when higher, all else when lower.</p>
CONTENT
</html>
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", nargs="*")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--keep", action="store_true", help="run nothing")
    options = parser.parse_args()
    cache, sites = options.cache.absolute(), options.sites.absolute()
    known = programs(cache, sites)
    before = committed()
    results: dict[str, Numbers] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    missing = []
    if not options.keep:
        make_library(cache, sites)
    default = [name for name, program in known.items() if program.runs_by_default]
    for name in () if options.keep else options.name or default:
        numbers, group = run(known[name]), known[name].group or name
        if numbers is None:
            missing.append(name)
        elif group in _KEEP_OTHER_SIZES:
            results[group] = results.get(group, {}) | numbers
        else:
            results[group] = numbers
        # Times grow with the load of the machine.
        results["machine"] = {_LOAD: round(os.getloadavg()[0], 1)}
        # After each: whoever stops a run keeps what was measured.
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    PAGE.write_text(
        draw(results, before, {name: each.title for name, each in known.items()}), "utf-8"
    )
    worse = [
        f"{group}: {name} {before[group][name]:g} → {value:g}"
        for group, numbers in results.items()
        for name, value in numbers.items()
        if name in before.get(group, {}) and is_worse(name, before[group][name], value)
    ]
    print(f"\n{PAGE.relative_to(ROOT)} and {RESULTS.relative_to(ROOT)} are written.")
    print(*(f"worse: {line}" for line in worse), sep="\n")
    print(*(f"no numbers: {name}" for name in missing), sep="\n")
    return 1 if worse or missing else 0


if __name__ == "__main__":
    sys.exit(main())
