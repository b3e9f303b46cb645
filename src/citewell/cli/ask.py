"""`citewell ask`: a question about one or more URLs."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.cli.answer_options import add_answer_options, add_question_options, answer_printer
from citewell.cli.local_paths import expand_arguments, local_paths, no_match
from citewell.cli.parser import number_between
from citewell.cli.tool_call import Unread, call_tool
from citewell.core.errors import InvalidArgument, UnsupportedContent

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from citewell.app.open import App
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings

DESCRIPTION = """\
Answer a question from web pages, or from files and folders of this machine. Pages that are not
indexed, or whose copy is old, are fetched and indexed first, files when they have changed; then the
passages that answer the question are printed word for word, with their sources. When the pages do
not answer it, the brief says so."""

# What `answer` accepts; its module takes long to import.
_MOST_URLS = 20

EXAMPLES = """\
  citewell ask https://docs.python.org/3/library/asyncio-task.html "How do I cancel a task?"
  citewell ask https://a.example/guide https://b.example/guide "How do the two differ?"
  citewell ask ./docs "How do I add a user?"
  citewell ask URL "How is it installed?" --constraint "on Debian" --budget 2000
  citewell ask URL "What is the default port?" --json | jq '.evidence[0].text'"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `ask`."""
    # Written by hand: argparse cannot say that both a page and a question are required.
    parser.usage = "citewell ask [options] URL [URL ...] QUESTION"
    parser.add_argument(
        "urls", nargs="*", metavar="URL", help="page, file or folder to read; several are allowed"
    )
    parser.add_argument("question", metavar="QUESTION", help="the question, in quotes")
    add_answer_options(parser)
    parser.add_argument(
        "--constraint",
        action="append",
        dest="constraints",
        metavar="TEXT",
        help="a requirement for the evidence, such as “must include code”; repeatable",
    )
    parser.add_argument(
        "--known-context", metavar="TEXT", help="what you know already and do not want repeated"
    )
    parser.add_argument(
        "--expansion-budget",
        type=number_between(0, 20),
        metavar="N",
        help="rounds of following links, 0 to 20; 0 reads the given pages only",
    )
    add_question_options(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Ask and print the brief."""
    _check_positions(arguments.urls, arguments.question)
    arguments.urls, unmatched = expand_arguments(arguments.urls)
    if unmatched:
        raise no_match(unmatched)
    paths = local_paths(arguments.urls)
    if paths:
        return _ask_of_files(paths, arguments, settings)
    if len(arguments.urls) > _MOST_URLS:
        raise InvalidArgument(
            f"ask takes at most {_MOST_URLS} URLs, not {len(arguments.urls)}: "
            "index them with `citewell ingest`, then ask with `citewell search`"
        )
    tool_arguments = {
        "url": arguments.urls,
        "query": arguments.question,
        "intent": arguments.intent,
        "version": arguments.version,
        "known_context": arguments.known_context,
        "constraints": arguments.constraints,
        "expansion_budget": arguments.expansion_budget,
    }
    return call_tool(
        "answer",
        tool_arguments,
        arguments=arguments,
        settings=settings,
        show=answer_printer(arguments, arguments.question),
    )


def _ask_of_files(paths: Sequence[Path], arguments: argparse.Namespace, settings: Settings) -> int:
    """Bring the index into step with the files, then search below them."""
    from citewell.app.local_pages import url_prefix

    for option in ("known_context", "constraints", "expansion_budget", "version"):
        if getattr(arguments, option) is not None:
            name = option.removesuffix("s") if option == "constraints" else option
            raise InvalidArgument(f"--{name.replace('_', '-')} is for URLs, not for files")
    tool_arguments = {
        "query": arguments.question,
        "intent": arguments.intent,
        "scope": {"repositories": [url_prefix(path) for path in paths]},
    }
    return call_tool(
        "search",
        tool_arguments,
        arguments=arguments,
        settings=settings,
        beforehand=partial(_index_files, paths),
        show=answer_printer(arguments, arguments.question),
    )


async def _index_files(paths: Sequence[Path], app: App, on_progress: OnProgress) -> Unread:
    """Bring the index into step with the files; return those that could not be read.

    Raises:
        UnsupportedContent: none could be read.
    """
    from citewell.app.local_pages import index_path, is_only_a_warning, open_late_corpus

    corpus = await open_late_corpus(app)
    reports = [(path, await index_path(corpus, path, on_progress=on_progress)) for path in paths]
    failed = {url: error for _, report in reports for url, error in report.failed.items()}
    if failed and not any(report.pages or report.unchanged for _, report in reports):
        reason = next(iter(failed.values()))
        said = reason.message
        if len(failed) > 1:
            said = f"none of the {len(failed)} files can be read; the first: {said}"
        raise UnsupportedContent(said, suggestion=reason.suggestion)
    failures: list[dict[str, str]] = []
    warnings: list[dict[str, str]] = []
    for path, report in reports:
        for url, error in report.failed.items():
            shape = {"url": url, "reason": error.message, "suggestion": error.suggestion}
            is_warning = is_only_a_warning(path, error, reads_all=False)
            (warnings if is_warning else failures).append(shape)
    return Unread(failures=failures, warnings=warnings)


def _check_positions(urls: list[str], question: str) -> None:
    """Catch the easy slips: no question, no page, and a question without quotes.

    Raises:
        InvalidArgument: one of them was made.
    """
    is_url = question.startswith(("http://", "https://"))
    if len(urls) == 1 and " " in urls[0] and (is_url or Path(question).exists()):
        turned = shlex.join(["citewell", "ask", question, urls[0]])
        raise InvalidArgument(f"the question comes last; did you mean: {turned}")
    if urls and is_url:
        raise InvalidArgument(f"the last argument is the question, but {question} is a URL")
    is_page = " " not in question.strip() and not question.endswith("?")
    if not urls and is_page:
        raise InvalidArgument(f"the question is missing after {question}")
    if not urls:
        raise InvalidArgument(
            "a URL, a file or a folder to read is missing before the question; to ask what is "
            f"indexed already: citewell search {shlex.quote(question)}"
        )
    words = [url for url in urls[1:] if "." not in url and "/" not in url]
    if words:
        raise InvalidArgument(f"put the question in quotes: {words[0]!r} is not a URL")
