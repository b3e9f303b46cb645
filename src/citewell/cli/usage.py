"""`citewell usage`: what each key has used."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import anyio

from citewell.app.open import open_app
from citewell.app.usage import owner_of_key, usage_csv, usage_summary, usage_text
from citewell.cli.terminal import print_json, print_text
from citewell.cli.work import add_json_option

if TYPE_CHECKING:
    import argparse

    from citewell.core.identity import UsageTotal
    from citewell.core.settings import Settings

DESCRIPTION = """\
Show how many calls each key has made of each tool, what they cost in units
(CITEWELL_TOOL_PRICES), and how many tokens and seconds they took: this month, another one (UTC),
or all of them."""

EXAMPLES = """\
  citewell usage
  citewell usage --key ann --month 2026-03
  citewell usage --month all --csv > usage.csv
  citewell usage --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `usage`."""
    parser.add_argument("--key", metavar="NAME", help="only of this key: its name, or its end")
    parser.add_argument("--month", metavar="MONTH", help="as 2026-03, or all (default this one)")
    parser.add_argument("--csv", action="store_true", help="print comma-separated values")
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the totals."""
    totals = anyio.run(partial(_load_usage, arguments, settings))
    if arguments.json:
        print_json([asdict(total) for total in totals])
    elif arguments.csv:
        print(usage_csv(totals), end="")
    else:
        print_text(usage_text(totals))
    return 0


async def _load_usage(arguments: argparse.Namespace, settings: Settings) -> list[UsageTotal]:
    async with open_app(settings, role="command") as app:
        access = (await app.open("store")).store.access
        owner = None if arguments.key is None else await owner_of_key(access, arguments.key)
        return await usage_summary(access, month=arguments.month, owner=owner)
