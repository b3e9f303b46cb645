"""What the commands of the library share: open parts, one result, options of a crawl."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import anyio

from citewell.app.open import open_app
from citewell.app.parts import PartName, Parts
from citewell.cli.main import EXIT_TOOL_ERROR
from citewell.cli.terminal import print_error, print_text, showing_progress
from citewell.cli.tool_call import configure_log
from citewell.core.errors import CitewellError, InvalidArgument, NotFound, SettingsError
from citewell.core.library import ContentType, CrawlOptions, CrawlScope, Discovery
from citewell.core.records import Language
from citewell.core.results import OnProgress
from citewell.tools.results import error_result
from citewell.web.urls import canonical_url

if TYPE_CHECKING:
    from citewell.core.library import Website
    from citewell.core.settings import Settings

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
CONTENT_TYPES = get_args(ContentType)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command prints: `text` for a person, `structured` for a program."""

    text: str
    structured: dict[str, Any]
    has_failed: bool = False


Work = Callable[[Parts, OnProgress], Awaitable[Outcome]]


def run_library_command(
    work: Work,
    arguments: argparse.Namespace,
    settings: Settings,
    *,
    needs: tuple[PartName, ...] = ("store", "library"),
) -> int:
    """Do the work with the parts it needs, print its outcome and return the exit code.

    Raises:
        SettingsError: a setting is wrong.
    """
    configure_log(settings, verbose=getattr(arguments, "verbose", False))
    try:
        outcome = anyio.run(partial(_run, work, settings, needs))
    except SettingsError:
        raise
    except CitewellError as error:
        structured = error_result(error).structured
        if arguments.json:
            _print_json(structured)
        else:
            print_error(structured["error"])
        return EXIT_TOOL_ERROR
    if arguments.json:
        _print_json(outcome.structured)
    else:
        print_text(outcome.text)
    return EXIT_TOOL_ERROR if outcome.has_failed else 0


async def _run(work: Work, settings: Settings, needs: tuple[PartName, ...]) -> Outcome:
    with showing_progress() as on_progress:
        async with open_app(settings, role="command") as app:
            return await work(await app.open(*needs), on_progress)


async def find_website(parts: Parts, target: str) -> Website:
    """Return the website that an id or a URL names.

    Raises:
        NotFound: there is none.
    """
    library, project = parts.store.library, parts.settings.project
    if target.isdecimal():
        found = await library.get_website(int(target), project=project)
    else:
        found = await library.find_website(canonical_url(target), project=project)
    if found is None:
        raise NotFound(
            f"there is no website {target}", suggestion="`citewell sites list` shows them."
        )
    return found


def add_crawl_options(parser: argparse.ArgumentParser) -> None:
    """Declare how a whole site is gone through."""
    plain = CrawlOptions()
    group = parser.add_argument_group("options of a whole site")
    group.add_argument(
        "--from",
        dest="discovery",
        choices=get_args(Discovery),
        default=plain.discovery,
        help="where its URLs come from (default auto: llms.txt, else sitemap, else links)",
    )
    group.add_argument(
        "--scope",
        choices=get_args(CrawlScope),
        default=plain.scope,
        help="what belongs to it: below the URL's folder, its host, or its domain (default path)",
    )
    group.add_argument(
        "--depth",
        type=_number_from(0),
        default=plain.max_depth,
        metavar="N",
        help=f"how many links away to go (default {plain.max_depth})",
    )
    group.add_argument(
        "--max-pages",
        type=_number_from(1),
        default=plain.max_pages,
        metavar="N",
        help=f"most pages to read (default {plain.max_pages})",
    )
    group.add_argument(
        "--include",
        action="append",
        metavar="GLOB",
        help="only such paths, as /docs/**; repeatable",
    )
    group.add_argument(
        "--exclude", action="append", metavar="GLOB", help="no such paths; repeatable"
    )
    group.add_argument(
        "--language",
        choices=get_args(Language),
        help="only pages in this language; mixed ones pass",
    )


def crawl_options(arguments: argparse.Namespace) -> CrawlOptions:
    """Return the options that `add_crawl_options` declared."""
    return CrawlOptions(
        discovery=arguments.discovery,
        scope=arguments.scope,
        max_depth=arguments.depth,
        max_pages=arguments.max_pages,
        include=tuple(arguments.include or ()),
        exclude=tuple(arguments.exclude or ()),
        language=arguments.language,
    )


def parse_duration(text: str) -> float | None:
    """Return the seconds of `90s`, `30m`, `12h`, `7d` or `2w`; None for `never`.

    Raises:
        InvalidArgument: it is none of these.
    """
    if text == "never":
        return None
    found = _DURATION.fullmatch(text.strip().lower())
    seconds = float(found[1]) * _SECONDS[found[2]] if found else 0.0
    if seconds < 1:
        raise InvalidArgument(f"{text!r} is no duration; write 90s, 30m, 12h, 7d, 2w or never")
    return seconds


def _number_from(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{text} is below {least}")
        return value

    return number


def _print_json(structured: dict[str, Any]) -> None:
    print(json.dumps(structured, ensure_ascii=False, indent=2))
