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
    from citewell.app.pages import Removal
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings

DESCRIPTION = """\
Take pages out of the index, with their chunks and vectors. A URL names one page. With --site it
names the site that was added under it, with all its pages; with --below, the page and every page
below it. A file or a folder stands for its pages, an id (`citewell status`, `citewell sites`) for
its page or site. A page of a site goes alone, and the site leaves its address out from then on, as
if --exclude had named it. Says how many pages go and asks first, unless --yes; files on disk are
not touched."""

EXAMPLES = """\
  citewell remove https://docs.example/old.html
  citewell remove --site https://docs.example/
  citewell remove --below https://docs.example/archive/
  citewell remove ./docs --yes
  citewell remove 42"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `remove`."""
    parser.add_argument("names", nargs="+", metavar="NAME", help="URL, file, folder or id")
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--site",
        dest="reach",
        action="store_const",
        const="site",
        default="page",
        help="each URL is a site that was added, which goes with all its pages",
    )
    group.add_argument(
        "--below",
        dest="reach",
        action="store_const",
        const="below",
        help="each URL stands for its page and all pages below it",
    )
    parser.add_argument("--yes", action="store_true", help="delete without asking")
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Ask, delete, and print what is gone."""
    return run_work(partial(_remove, arguments), arguments, settings)


async def _remove(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    parts, project = await app.open(*REMOVE_NEEDS), app.settings.project
    reach = arguments.reach
    removals = [
        await find_removal(parts, name, project=project, reach=reach) for name in arguments.names
    ]
    listed = [_describe(removal) for removal in removals]
    refuse_unless_agreed(listed, is_agreed=arguments.yes)
    lines: list[str] = []
    shapes: list[dict[str, object]] = []
    for removal, line in zip(removals, listed, strict=True):
        sites = sorted(await remove(parts, removal, project=project, caller="citewell remove"))
        lines += [f"removed: {line}", *(f"  {site} leaves it out from now on." for site in sites)]
        shapes.append({"name": removal.name, "pages": removal.pages, "left_out_of": sites})
    return Outcome(text="\n".join(lines), structured={"removed": shapes})


def _describe(removal: Removal) -> str:
    prefix = {"page": "", "site": "the site, ", "below": "all below it, "}[removal.reach]
    return f"{removal.name} ({prefix}{counted(removal.pages, 'page')})"
