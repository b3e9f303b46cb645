"""Options of commands that read a whole site."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, get_args

from citewell.core.errors import InvalidArgument
from citewell.core.library import ContentType, CrawlOptions, CrawlScope, Discovery
from citewell.core.records import Language

if TYPE_CHECKING:
    from collections.abc import Callable

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
CONTENT_TYPES = get_args(ContentType)


def add_crawl_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a crawl."""
    plain = CrawlOptions()
    group = parser.add_argument_group("options of a whole site")
    group.add_argument(
        "--from",
        dest="discovery",
        choices=get_args(Discovery),
        default=plain.discovery,
        help="where its URLs come from (default auto: the first of the others that names any)",
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
        type=positive_number,
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
        "--exclude", action="append", metavar="GLOB", help="leave out paths that match; repeatable"
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


def positive_number(text: str) -> int:
    """Return the number of an option that is at least 1."""
    return _number_from(1)(text)


def _number_from(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{text} is below {least}")
        return value

    return number
