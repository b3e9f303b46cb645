"""`citewell doctor`: what this machine lacks, and how to mend it."""

from __future__ import annotations

import json
import shutil
import tomllib
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import anyio

from citewell.app.checkup import (
    Finding,
    check_browser,
    check_database,
    check_model,
    check_network,
)
from citewell.cli.client_files import NAME, parse_json_with_comments
from citewell.cli.clients import CLIENTS, Client, client_file
from citewell.cli.database import describe_database
from citewell.cli.main import EXIT_TOOL_ERROR
from citewell.cli.terminal import print_text
from citewell.cli.work import add_json_option, configure_log
from citewell.core.errors import InvalidArgument, SettingsError
from citewell.store.open import database_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from citewell.core.settings import Settings

DESCRIPTION = """\
Check whether the network, certificates, a browser, the database, the model and the configuration of
your MCP clients are in order. Each problem comes with a fix; the exit code is 1 if there is any.
Nothing is changed."""

EXAMPLES = """\
  citewell doctor
  citewell doctor --offline
  citewell doctor --url https://docs.python.org/3/ --json"""

_MARKS = {"ok": "✓", "note": "·", "problem": "✗"}
_UNREADABLE = "it cannot be read"
_PAGE = "https://example.org/"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `doctor`."""
    parser.add_argument("--url", default=_PAGE, metavar="URL", help=f"page to fetch ({_PAGE})")
    parser.add_argument("--offline", action="store_true", help="do not try the network")
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Look at everything and print what was found."""
    configure_log(settings, verbose=getattr(arguments, "verbose", False))
    url = None if arguments.offline else arguments.url
    findings = anyio.run(partial(_look, settings, url))
    if arguments.json:
        print(json.dumps({"findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        database = describe_database(settings.database_url)
        print_text("\n".join([f"Database: {database}", "", *_lines(findings)]))
    return EXIT_TOOL_ERROR if any(finding.state == "problem" for finding in findings) else 0


async def _look(settings: Settings, url: str | None) -> list[Finding]:
    findings = [] if url is None else [await check_network(settings, url)]
    findings += [
        check_browser(settings),
        await check_database(settings),
        await check_model(settings),
    ]
    return [*findings, *_check_clients()]


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        yield f"{_MARKS[finding.state]} {finding.name:<{width}}  {finding.message}"
        if finding.fix:
            yield f"  {'':<{width}}  fix: {finding.fix}"


def _check_clients() -> list[Finding]:
    findings = []
    for name, client in CLIENTS.items():
        file = client_file(client)
        if not file.exists():
            continue
        state = _problem_with(file, client)
        fix = f"citewell config {name} --write"
        if state is None:
            findings.append(Finding(name=name, state="ok", message=f"{file} starts Citewell"))
        elif state == "":
            message = f"{file} does not name Citewell"
            findings.append(Finding(name=name, state="note", message=message, fix=fix))
        else:
            message = f"{file}: {state}"
            if state.startswith(_UNREADABLE):
                fix = f"correct the file; `citewell config {name}` prints the entry to add"
            findings.append(Finding(name=name, state="problem", message=message, fix=fix))
    return findings or [
        Finding(
            name="clients",
            state="note",
            message="no file of an MCP client was found",
            fix="citewell config CLIENT --write",
        )
    ]


def _problem_with(file: Path, client: Client) -> str | None:
    """Return what is wrong with a client's file; empty if it lacks Citewell, None if nothing."""
    try:
        text = file.read_text(encoding="utf-8-sig")
        if client.form == "yaml":
            return None if f"{NAME}:" in text else ""
        is_toml = client.form == "toml"
        settings = tomllib.loads(text) if is_toml else parse_json_with_comments(text or "{}")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, InvalidArgument) as error:
        return f"{_UNREADABLE}: {error}"
    servers = settings.get(client.servers_key)
    entry = servers.get(NAME) if isinstance(servers, dict) else None
    if not isinstance(entry, dict):
        return ""
    command = entry.get("command")
    if isinstance(command, str) and shutil.which(command) is None:
        return f"the command {command} does not exist"
    environment = entry.get("env")
    address = environment.get("CITEWELL_DATABASE_URL") if isinstance(environment, dict) else None
    try:
        database_file(str(address or ""))
    except SettingsError as error:
        return error.message
    return None
