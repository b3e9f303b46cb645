"""Symbols of installed Python packages: is the first quote the definition that Python itself names?

Imports the packages in their own environment to list what users can import, with the module and the
qualified name under which each is defined: twelve functions or classes and eighteen methods of each
package, inherited ones included. Indexes the environment by words, as `citewell sync` does, and
asks in the four wordings of `bench.definitions`.

    python -m bench.installed_symbols ENVIRONMENT PACKAGE… [--seed N]
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import tempfile
from pathlib import Path

import anyio
from bench.definitions import wordings
from bench.versions import search, sync

from citewell.app.open import App, open_app
from citewell.core.settings import Settings

TOPS, METHODS = 12, 18
# Runs in the environment, so it has nothing but the standard library.
LIST_SYMBOLS = """
import importlib, inspect, json, pkgutil, sys
top = sys.argv[1]
package = importlib.import_module(top)
modules = [top] + [i.name for i in pkgutil.walk_packages(package.__path__, top + ".")]
hidden = {"tests", "legacy", "__main__"}
names = {}
for module in modules:
    parts = module.split(".")
    if any(p.startswith("_") for p in parts) or len(parts) > 4 or hidden & set(parts):
        continue
    try:
        space = importlib.import_module(module)
    except BaseException:
        continue
    listed = getattr(space, "__all__", None)
    for name in listed or [n for n in dir(space) if not n.startswith("_")]:
        found = getattr(space, name, None)
        home = getattr(found, "__module__", "") or ""
        is_passed_on = home != module
        if not callable(found) or home.split(".")[0] != top:
            continue
        if is_passed_on and len(parts) > len(home.split(".")):
            continue
        if is_passed_on and listed is None and not hasattr(space, "__path__"):
            continue
        names[f"{module}.{name}"] = getattr(found, "__qualname__", name)
        for member in dir(found) if inspect.isclass(found) else ():
            owner = next((k for k in found.__mro__ if member in k.__dict__), None)
            if member.startswith("_") or owner.__module__.split(".")[0] != top:
                continue
            value = owner.__dict__[member]
            value = getattr(value, "__func__", value)
            kinds = (inspect.isfunction, inspect.ismethoddescriptor)
            if isinstance(value, property) or any(kind(value) for kind in kinds):
                names[f"{module}.{name}.{member}"] = f"{owner.__qualname__}.{member}"
json.dump(names, sys.__stdout__)
"""


def list_symbols(python: Path, package: str, *, seed: int) -> list[tuple[str, str]]:
    """Return some names that users can import, each with the qualified name of its definition."""
    command = [str(python), "-W", "ignore", "-c", LIST_SYMBOLS, package]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    names: dict[str, str] = json.loads(listed[listed.rindex('{"') :])  # a package may print
    chance = random.Random(seed)
    tops = [name for name in sorted(names) if names[name].count(".") == 0]
    methods = [name for name in sorted(names) if names[name].count(".") == 1]
    chosen = chance.sample(tops, min(TOPS, len(tops)))
    chosen += chance.sample(methods, min(METHODS, len(methods)))
    return [(name, names[name]) for name in chosen]


def is_definition(heading: str, quote: str, name: str, defined: str) -> bool:
    """Return whether a quote defines a name: as itself, its origin, or in a class."""
    section = heading.rpartition("›")[2].strip().lower()
    last = defined.rpartition(".")[2].lower()
    listed = re.search(rf"(?m)(?:def |^){re.escape(last)}[(:]", quote.lower())
    if "." not in defined:
        return section.endswith(f".{last}") or (section.endswith(".*") and listed is not None)
    own = {".".join(each.lower().split(".")[-2:]) for each in (name, defined)}
    owners = {each.partition(".")[0] for each in own}
    is_listed = section.rpartition(".")[2] in owners and listed is not None
    return any(section.endswith(each) for each in own) or is_listed


async def ask(app: App, symbols: list[tuple[str, str]]) -> int:
    """Print what was not quoted first, and return how many definitions were."""
    right = 0
    for number, (name, defined) in enumerate(symbols):
        question = wordings(name)[number % 4]
        evidence, _ = await search(app, question)
        heading = str(evidence[0].get("section", "")) if evidence else ""
        quote = str(evidence[0].get("text", "")) if evidence else ""
        is_right = is_definition(heading, quote, name, defined)
        right += is_right
        if not is_right:
            print(f"  missed: {question} (defined as {defined}; first: {heading or 'nothing'})")
    return right


async def run(environment: Path, packages: list[str], *, seed: int) -> None:
    """Index, ask and print."""
    with tempfile.TemporaryDirectory() as scratch:
        text = f'[project]\nname = "bench"\ndependencies = {json.dumps(packages)}\n'
        (Path(scratch) / "pyproject.toml").write_text(text, encoding="utf-8")
        database = f"sqlite:///{scratch}/symbols.db"
        sync(database, scratch, "--environment", str(environment))
        total = asked = 0
        async with open_app(
            Settings(database_url=database, embedder="none"), role="command"
        ) as app:
            for package in packages:
                symbols = list_symbols(environment / "bin" / "python", package, seed=seed)
                right = await ask(app, symbols)
                print(f"definition first {right} of {len(symbols)} on {package}")
                total, asked = total + right, asked + len(symbols)
    print(f"definition first {total / asked:.3f} of {asked}")


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("environment", type=Path)
    parser.add_argument("packages", nargs="+", help="names that are imported as they are installed")
    parser.add_argument("--seed", type=int, default=5)
    given = parser.parse_args()
    anyio.run(lambda: run(given.environment.resolve(), given.packages, seed=given.seed))


if __name__ == "__main__":
    main()
