"""No regular expression of the package takes more than linear time, whatever text it meets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from tests.hostile.check_patterns import LONGEST_TEXTS

# Patterns that are put together while the program runs: from escaped words, or from parts that are
# checked where they are written.
BUILT_AT_RUN_TIME = {
    "citewell.cli.client_files": "an escaped name and whole lines, in a file of the user's own",
    "citewell.cli.main": "the name of a setting",
    "citewell.cli.quoted_text": "backticks or spaces at the beginning of a line",
    "citewell.cli.shell_errors": "collected as `_PHRASES`",
    "citewell.core.boundary": "an alternative of escaped strings and one class: each step is linear",
    "citewell.core.definitions": "an escaped name between single marks",
    "citewell.docsite.site.pages": "escaped words as alternatives",
    "citewell.docsite.site.render": "a random mark and digits",
    "citewell.docsite.site.stored_text": "a run of escaped words",
    "citewell.ingest.content_types.anchoring": "escaped words with spaces between; cut before",
    "citewell.ingest.content_types.labels": "collected as `_PATTERNS`",
    "citewell.ingest.extract.html.title": "an escaped name after one dash",
    "citewell.ingest.extract.markdown.page": "the name of an element that was matched before",
    "citewell.ingest.extract.markdown.set_aside": "digits between two marks",
    "citewell.ingest.packages.docstrings": "an escaped name before brackets",
    "citewell.research.compare": "an escaped name between the ends of words",
    "citewell.research.frontier": "an escaped name",
    "citewell.research.release_notes": "an escaped name between the ends of words",
    "citewell.retrieve.releases": "an escaped name between the ends of words",
    "citewell.server.console.pages": "an escaped address before single marks",
    "citewell.tools.websites.field_words": "collected as `_PATTERNS`",
    "citewell.web.render.shell": "an id of letters, digits and dashes, of which at most twenty are looked for",
}
# What the package once had, and a page of a few hundred bytes could stop the server with.
SLOW_PATTERNS = {
    "exponential: comments before HTML": r"(<\?xml[^>]*>|<!--.*?-->|\s)*<(!doctype\s+html|html)\b",
    "cubic: the title of an llms.txt": r"(?m)^#\s+(.+?)\s*#*\s*$",
    "quadratic: the links of an llms.txt": (
        r"\[[^\]\n]*\]\(\s*<?([^()\s<>]+(?:\([^()\s]*\)[^()\s<>]*)*)>?[^)\n]*\)"
    ),
    "exponential: the text of a Markdown link": (
        r"\[((?:[^\[\]\\]|\\.|!?\[[^\[\]]*\](?:\([^()\s]*\))?)*)\](?:\(\s*([^\s()]*)\s*\))?"
    ),
    "linear, but many seconds for a megabyte: a button of a consent dialog": (
        r"(?i)<(?:button|a|input)\b[^<>]{0,300}?[>\"'][^<]{0,600}?(?:accept|agree|allow all|consent)"
    ),
    "quadratic: TeX in Markdown": r"\\\((.+?)\\\)|\\\[(.+?)\\\]",
}


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return _check()


def test_every_pattern_takes_linear_time(report: dict[str, Any]) -> None:
    assert report["slow"] == []


def test_all_patterns_are_checked_or_accounted_for(report: dict[str, Any]) -> None:
    assert len(report["places"]) > 300
    assert set(report["places"]) >= LONGEST_TEXTS.keys()
    built = {place.partition(":")[0] for place in report["built_at_run_time"]}
    assert built == BUILT_AT_RUN_TIME.keys()


def test_slow_patterns_are_noticed() -> None:
    report = _check(*SLOW_PATTERNS.values())

    assert [slow["place"] for slow in report["slow"]] == [*SLOW_PATTERNS.values()]


def _check(*patterns: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.check_patterns", *patterns],
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    report: dict[str, Any] = json.loads(done.stdout)
    return report
