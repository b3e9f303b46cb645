"""`citewell remove`: pages, files and websites out of the index."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from citewell.app.pages import REMOVE_NEEDS, find_removal, remove
from citewell.cli.confirm import refuse_unless_agreed
from citewell.cli.work import Outcome, add_json_option, run_work
from citewell.core.text import counted

if TYPE_CHECKING:
    import argparse

    from citewell.app.open import App
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings

DESCRIPTION = """\
Take out of the index what a URL, a file, a folder or an id names, with its chunks and vectors. A
website goes with all its pages. A page of a site goes alone, and the site leaves its address out
from then on, as if --exclude had named it. Files on disk are not touched. Asks first, unless
--yes."""

EXAMPLES = """\
  citewell remove https://docs.example/old.html
  citewell remove ./docs --yes
  citewell remove 42"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `remove`."""
    parser.add_argument("names", nargs="+", metavar="NAME", help="URL, file, folder or id")
    parser.add_argument("--yes", action="store_true", help="delete without asking")
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Ask, delete, and print what is gone."""
    return run_work(partial(_remove, arguments), arguments, settings)


async def _remove(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    parts, project = await app.open(*REMOVE_NEEDS), app.settings.project
    removals = [await find_removal(parts, name, project=project) for name in arguments.names]
    listed = [f"{removal.name} ({counted(removal.pages, 'page')})" for removal in removals]
    refuse_unless_agreed(listed, is_agreed=arguments.yes)
    lines: list[str] = []
    shapes: list[dict[str, object]] = []
    for removal, line in zip(removals, listed, strict=True):
        sites = sorted(await remove(parts, removal, project=project, caller="citewell remove"))
        lines += [f"removed: {line}", *(f"  {site} leaves it out from now on." for site in sites)]
        shapes.append({"name": removal.name, "pages": removal.pages, "left_out_of": sites})
    return Outcome(text="\n".join(lines), structured={"removed": shapes})
