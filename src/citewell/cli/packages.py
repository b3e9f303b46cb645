"""`citewell packages`: the versions that are indexed, and dropping those no longer needed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from citewell.cli.table import text_table
from citewell.cli.work import Outcome, add_json_option, run_work
from citewell.core.errors import InvalidArgument
from citewell.core.text import counted

if TYPE_CHECKING:
    import argparse

    from citewell.app.open import App
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings

DESCRIPTION = """\
List the products and versions whose documentation is indexed, with the folders that use them, or
drop some. `drop --old` deletes every version that no synced folder uses, but keeps the newest of a
product that none of them uses."""

EXAMPLES = """\
  citewell packages
  citewell packages drop django@3.2.25
  citewell packages drop "django<4" numpy
  citewell packages drop --old"""


ACTIONS = {
    "list": "list the indexed versions and the folders that use them (the default)",
    "drop": "delete the pages of versions",
}
DEFAULT_ACTION = "list"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of all actions, for the documentation."""
    parser.add_argument("action", metavar="ACTION", choices=ACTIONS, help=", ".join(ACTIONS))
    add_action_arguments(parser, "drop")


def add_action_arguments(parser: argparse.ArgumentParser, action: str) -> None:
    """Declare the arguments of one action."""
    if action == "drop":
        parser.add_argument(
            "names", nargs="*", metavar="NAME", help="what to drop, such as django@3.2.25 or django"
        )
        parser.add_argument("--old", action="store_true", help="drop every version not in use")
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """List the indexed versions, or drop some."""
    if arguments.action == "drop" and bool(arguments.names) == arguments.old:
        raise InvalidArgument("say what to drop: names such as django@3.2.25, or --old")
    work = _list if arguments.action == "list" else partial(_drop, arguments)
    return run_work(work, arguments, settings)


async def _list(app: App, on_progress: OnProgress) -> Outcome:
    from citewell.app.releases import list_known_releases

    known = await list_known_releases(await app.open("store"))
    rows = [
        (entry.release.product, entry.release.version, str(entry.pages), ", ".join(entry.used_in))
        for entry in known
    ]
    text = (
        text_table(("package", "version", "pages", "used in"), rows)
        if rows
        else "No versions are indexed: run `citewell sync` in a project folder."
    )
    structured = [
        {
            "product": entry.release.product,
            "version": entry.release.version,
            "pages": entry.pages,
            "used_in": list(entry.used_in),
        }
        for entry in known
    ]
    return Outcome(text=text, structured={"packages": structured})


async def _drop(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    from citewell.app.releases import drop_old_releases, drop_releases

    corpus = await app.open("store")
    dropped = (
        await drop_old_releases(corpus)
        if arguments.old
        else await drop_releases(corpus, arguments.names)
    )
    lines = [
        f"Dropped {release.label}: {counted(pages, 'page')}." for release, pages in dropped.items()
    ]
    structured = [
        {"product": release.product, "version": release.version, "pages": pages}
        for release, pages in dropped.items()
    ]
    return Outcome(text="\n".join(lines) or "Nothing to drop.", structured={"dropped": structured})
