"""Versions: quotes of the version asked for, definitions first, and how long sync takes.

Installs eight packages in two versions each from the registries into a scratch folder, indexes them
by words as `citewell sync` does, and asks tests/versions/questions.tsv, each question for both
versions. Then the definitions of symbols of three packages, none of which was used to make the
rules, are asked for by four wordings.

    python -m bench.versions [FOLDER]    keeps the installations in FOLDER for another run
"""

from __future__ import annotations

import csv
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from citewell.app.open import App, open_app
from citewell.core.records import Caller, SearchFilter
from citewell.core.settings import Settings
from citewell.tools.limits import limited_registry
from citewell.tools.research.search import TOOL as SEARCH

if TYPE_CHECKING:
    from collections.abc import Sequence

QUESTIONS = Path(__file__).parent.parent / "tests" / "versions" / "questions.tsv"
PYTHON = {
    "anyio": ("3.7.1", "4.6.2"),
    "attrs": ("21.4.0", "24.2.0"),
    "click": ("7.1.2", "8.1.7"),
    "httpx": ("0.23.3", "0.28.1"),
    "tenacity": ("6.3.1", "9.0.0"),
}
NPM = {"commander": ("8.3.0", "12.1.0"), "ky": ("0.33.3", "1.7.2"), "zod": ("3.22.4", "4.1.5")}
UNTOUCHED = {"starlette": "0.41.0", "rich": "13.9.4", "jinja2": "3.1.4"}
SYMBOLS_PER_PACKAGE = 50
DEPENDENCIES = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question for one version."""

    package: str
    question: str
    version: str
    answer: str


def install_python(folder: Path, name: str, version: str) -> None:
    """Install a package alone, as a project that depends on it."""
    site = folder / ".venv" / "lib" / "python3.12" / "site-packages"
    if site.exists():
        return
    site.mkdir(parents=True)
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(site)]
    subprocess.run([*command, f"{name}=={version}"], check=True, stderr=subprocess.DEVNULL)
    text = f'[project]\nname = "bench"\ndependencies = ["{name}=={version}"]\n'
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def install_npm(folder: Path, name: str, version: str) -> None:
    """Install a package of npm, as a project that depends on it."""
    if (folder / "node_modules").exists():
        return
    folder.mkdir(parents=True)
    text = json.dumps({"dependencies": {name: version}})
    (folder / "package.json").write_text(text, encoding="utf-8")
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    subprocess.run(command, cwd=folder, check=True)


def sync(database: str, *arguments: str) -> tuple[float, float]:
    """Run `citewell sync`; return the seconds it took and those of CPU, all its processes'."""
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "citewell", "sync", *arguments, "--yes"]
    environment = {"CITEWELL_EMBEDDER": "none", "CITEWELL_DATABASE_URL": database}
    subprocess.run(
        [*command, "--database", database],
        check=True,
        capture_output=True,
        # Without its PYTHONPATH another checkout than this one could be measured.
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            **environment,
        },
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return time.perf_counter() - started, cpu


def load_questions() -> list[Asked]:
    """Return each question once for the old and once for the new version."""
    asked = []
    with QUESTIONS.open(encoding="utf-8") as file:
        for number, row in enumerate(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)):
            versions = (PYTHON | NPM)[row["package"]]
            for version, answer in zip(
                versions, (row["old answer"], row["new answer"]), strict=True
            ):
                # People name a version whole, or without its last number.
                spelt = version if number % 2 else version.rpartition(".")[0]
                question = row["question"].format(version=spelt)
                asked.append(
                    Asked(package=row["package"], question=question, version=version, answer=answer)
                )
    return asked


async def search(app: App, question: str) -> tuple[list[dict[str, object]], dict[int, str]]:
    """Return the evidence of `search`, and the version of each of its sources."""
    registry = limited_registry([SEARCH], app.settings)
    caller = Caller(session="bench", project=app.settings.project)
    result = await registry.call("search", {"query": question}, app=app, caller=caller)
    found = result.structured
    versions = {each["number"]: each.get("version", "") for each in found.get("sources", [])}
    return found.get("evidence", []), versions


async def ask_versions(app: App) -> None:
    """Print how often the right version answers, and how often another one is quoted."""
    questions = load_questions()
    for name, own in (("first 50", questions[:100]), ("second 50", questions[100:])):
        print(f"{name} questions, each for both versions")
        await _ask_all(app, own)


def one_line(text: str) -> str:
    """Return code or prose as one line, as it would be without a line for each parameter."""
    return re.sub(r",? \)", ")", re.sub(r"\( ", "(", " ".join(text.split())))


async def _ask_all(app: App, questions: Sequence[Asked]) -> None:
    counts: Counter[str] = Counter()
    for asked in questions:
        evidence, versions = await search(app, asked.question)
        label = f"{asked.package} {asked.version}"
        answer = one_line(asked.answer)
        right = [
            place
            for place, each in enumerate(evidence)
            if versions[int(str(each["source"]))] == label and answer in one_line(str(each["text"]))
        ]
        others = {version for version in versions.values() if version.startswith(asked.package)}
        counts["answered"] += bool(right)
        counts["answered first"] += bool(right and right[0] == 0)
        counts["wrong version"] += bool(others - {label})
        if not right:
            print(f"  missed: {asked.question} (wanted {asked.answer!r})")
    for name in ("answered", "answered first", "wrong version"):
        print(f"{name:16} {counts[name] / len(questions):.2f} of {len(questions)}")


async def ask_definitions(app: App) -> None:
    """Print how often the first quote is the definition of the symbol asked for."""
    right = total = 0
    for name, version in UNTOUCHED.items():
        symbols = await symbols_of(app, f"pypi:{name}@{version}/")
        chosen = random.Random(21).sample(symbols, min(SYMBOLS_PER_PACKAGE, len(symbols)))
        own = 0
        for number, symbol in enumerate(chosen):
            short = ".".join(symbol.split(".")[-2:])
            wordings = (symbol, short.lower(), f"What does {short} do?", f"signature of {short}")
            evidence, _ = await search(app, wordings[number % 4])
            heading = str(evidence[0].get("section", "")) if evidence else ""
            is_right = heading.lower().endswith(short.lower())
            own += is_right
            if not is_right:
                print(f"  missed: {wordings[number % 4]} (first: {heading or 'nothing'})")
        print(f"definition first {own / len(chosen):.2f} of {len(chosen)} on {name}")
        right, total = right + own, total + len(chosen)
    print(f"definition first {right / total:.2f} of {total}")


async def symbols_of(app: App, prefix: str) -> list[str]:
    """Return the qualified names that headings of a package's pages consist of."""
    where = SearchFilter(project=app.settings.project, url_prefix=prefix)
    store = (await app.open("store")).store
    headings: set[str] = set()
    for page in await store.list_pages(where, limit=1_000):
        whole = await store.get_page(page.source_id)
        headings |= {each.heading.replace("`", "") for each in whole.sections} if whole else set()
    # Headings that end with `*` list what has no section of its own.
    return sorted(name for name in headings if "." in name and not {" ", "*"} & set(name))


def time_sync(scratch: Path) -> None:
    """Print how long a project with many direct dependencies takes, and a second run."""
    environment = Path(sys.prefix)
    listing = [sys.executable, "-m", "pip", "list", "--format", "json"]
    installed = json.loads(subprocess.run(listing, check=True, capture_output=True).stdout)
    names = [each["name"] for each in installed if each["name"] != "citewell"][:DEPENDENCIES]
    folder = scratch / "many"
    folder.mkdir(exist_ok=True)
    text = f'[project]\nname = "bench"\ndependencies = {json.dumps(names)}\n'
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    with tempfile.TemporaryDirectory() as place:
        arguments = (str(folder), "--environment", str(environment))
        first = sync(f"sqlite:///{place}/many.db", *arguments)
        second = sync(f"sqlite:///{place}/many.db", *arguments)
    print(f"sync of {len(names)} dependencies {first[0]:.1f} s, again {second[0]:.1f} s")
    print(f"its CPU time {first[1]:.1f} s, again {second[1]:.1f} s")


async def run(scratch: Path) -> None:
    """Install, index, ask and print."""
    database = f"sqlite:///{scratch}/versions.db"
    pairs = [(name, version) for name, both in PYTHON.items() for version in both]
    for name, version in (*pairs, *UNTOUCHED.items()):
        install_python(scratch / f"{name}-{version}", name, version)
        sync(database, str(scratch / f"{name}-{version}"))
    for name, both in NPM.items():
        for version in both:
            install_npm(scratch / f"{name}-{version}", name, version)
            sync(database, str(scratch / f"{name}-{version}"))
    settings = Settings(database_url=database, embedder="none")
    async with open_app(settings, role="command") as app:
        await ask_versions(app)
        await ask_definitions(app)
    time_sync(scratch)


def main() -> int:
    """Run in a folder that is kept, or in one that is not."""
    if len(sys.argv) > 1:
        scratch = Path(sys.argv[1]).resolve()
        scratch.mkdir(parents=True, exist_ok=True)
        anyio.run(run, scratch)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(run, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
