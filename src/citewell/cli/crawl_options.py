"""Options of commands that read a whole site."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

from citewell.cli.parser import number_between
from citewell.core.errors import InvalidArgument
from citewell.core.library import ContentType, CrawlOptions, CrawlScope, Discovery
from citewell.core.records import Language

if TYPE_CHECKING:
    import argparse

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
_OPTIONS = {
    "discovery": "--from",
    "scope": "--scope",
    "max_depth": "--depth",
    "max_pages": "--max-pages",
    "include": "--include",
    "exclude": "--exclude",
    "language": "--language",
}
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
        type=number_between(0),
        default=plain.max_depth,
        metavar="N",
        help=f"how many links away to go (default {plain.max_depth})",
    )
    group.add_argument(
        "--max-pages",
        type=number_between(1),
        default=plain.max_pages,
        metavar="N",
        help=f"maximum pages to read (default {plain.max_pages})",
    )
    group.add_argument(
        "--include",
        action="append",
        metavar="GLOB",
        help="only paths that match, such as /docs/**; repeatable",
    )
    group.add_argument(
        "--exclude", action="append", metavar="GLOB", help="skip paths that match; repeatable"
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


def refuse_crawl_options(arguments: argparse.Namespace) -> None:
    """Refuse options of a whole site where only pages are read, which they would not change.

    Raises:
        InvalidArgument: one of them was given.
    """
    plain, chosen = CrawlOptions(), crawl_options(arguments)
    for name, option in _OPTIONS.items():
        if getattr(chosen, name) != getattr(plain, name):
            raise InvalidArgument(f"{option} is for whole sites: add --site")


def parse_duration(text: str) -> float | None:
    """Return the seconds of `90s`, `30m`, `12h`, `7d` or `2w`; None for `never`.

    Raises:
        InvalidArgument: it is none of these.
    """
    if text == "never":
        return None
    match = _DURATION.fullmatch(text.strip().lower())
    seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    if seconds < 1:
        raise InvalidArgument(f"{text!r} is not a duration; write 90s, 30m, 12h, 7d, 2w or never")
    return seconds
