"""Tries Citewell with clients of other makers: `python -m bench.clients [LABEL …] [--write]`.

Each client runs in an environment of its own, made on first use, against real servers on loopback;
`make test` installs those of `tests/clients`. `--write` puts the table into docs/clients.md.
"""

from __future__ import annotations

import re
import sys
import time

from bench.clients.environments import ROOT
from bench.clients.node_clients import NODE_CLIENTS
from bench.clients.python_clients import PYTHON_CLIENTS, McpRemote
from bench.clients.surroundings import Client, Outcomes, surroundings

DOCUMENT = ROOT / "docs" / "clients.md"
COLUMNS = {
    "tools": "tools",
    "instructions": "instructions",
    "answer": "answer",
    "progress": "progress",
    "errors": "errors",
    "model": "a model's call",
    "ask_user": "`ask_user`",
    "resources": "resources",
    "prompts": "prompts",
    "changes": "changes",
    "OAuth": "OAuth",
}


CLIENTS: list[Client] = [*PYTHON_CLIENTS, *NODE_CLIENTS, McpRemote()]


def main() -> int:
    """Run the clients that are named, or all; 1 when something does not work."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    chosen = [each for each in CLIENTS if not arguments or each.label in arguments]
    rows, failures = [], []
    with surroundings() as around:
        for client in chosen:
            started = time.monotonic()
            version, outcomes = client.run(around)
            print(f"{client.label} {version}: {time.monotonic() - started:.0f} s", flush=True)
            rows.append(f"| {client.label} {version} | {_cells(outcomes)} |")
            failures += [
                f"{client.label}, {feature}: {outcome}"
                for feature, outcome in outcomes.items()
                if outcome not in (None, "ok")
            ]
    head = f"| client | {' | '.join(COLUMNS.values())} |"
    table = "\n".join([head, "| --- |" + " --- |" * len(COLUMNS), *rows])
    print(f"\n{table}\n")
    print("\n".join(failures) or "Everything that a client offers works.")
    if "--write" in sys.argv[1:]:
        _write(table)
    return 1 if failures else 0


def _cells(outcomes: Outcomes) -> str:
    marks = {"ok": "✓", None: "–"}
    return " | ".join(marks.get(outcomes.get(column), "✗") for column in COLUMNS)


def _write(table: str) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    between = re.compile(r"(?<=<!-- client matrix -->\n).*?(?=<!-- /client matrix -->)", re.DOTALL)
    assert between.search(text), "docs/clients.md has a place for the table"
    DOCUMENT.write_text(between.sub(lambda _: f"{table}\n", text), encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
