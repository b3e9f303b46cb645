"""The options that `ask` and `search` share, and how they print an answer."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from citewell.cli.parser import add_setting_option
from citewell.cli.work import add_json_option
from citewell.core.records import Intent

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping


def add_answer_options(parser: argparse.ArgumentParser) -> None:
    """Declare the forms of an answer, of which one can be chosen."""
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument(
        "--full", action="store_true", help="on a terminal: print every quote, uncut, with its id"
    )
    forms.add_argument(
        "--brief", action="store_true", help="print the brief that a model gets, as a pipe does"
    )
    add_json_option(forms)


def add_question_options(parser: argparse.ArgumentParser) -> None:
    """Declare what narrows the search for a question, and how long its answer may be."""
    parser.add_argument(
        "--intent",
        choices=get_args(Intent),
        help="kind of question; inferred from its words when left out",
    )
    parser.add_argument(
        "--version",
        metavar="VERSION",
        help='versions to search, such as 4.2, ">=4,<5" or latest',
    )
    add_setting_option(
        parser,
        "--budget",
        "mcp_response_token_budget",
        metavar="TOKENS",
        about="maximum tokens of the brief",
    )


def answer_printer(
    arguments: argparse.Namespace, question: str
) -> Callable[[Mapping[str, Any]], None] | None:
    """Return what prints an answer on a terminal; None where the brief was asked for."""
    if arguments.brief:
        return None
    return partial(_print, question=question, is_full=arguments.full, began=time.monotonic())


def _print(result: Mapping[str, Any], *, question: str, is_full: bool, began: float) -> None:
    # Imported late: rich's Markdown takes longer than the search, and a pipe needs none of it.
    from citewell.cli.answer_view import print_answer

    seconds = time.monotonic() - began
    print_answer(result, question=question, is_full=is_full, seconds=seconds)
