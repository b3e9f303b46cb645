"""Files of a docs folder that take long: they are read in other processes, within limits."""

from __future__ import annotations

import logging
import os
import re
import time
from typing import TYPE_CHECKING

import pytest

from citewell.core.records import Caller
from citewell.core.settings import Settings
from citewell.docsite.folder import DocsFolder
from citewell.docsite.site.export import export_site
from citewell.docsite.site.website import Website
from citewell.tools.docs.front import DocsFront
from citewell.web.blocking_sandbox import BlockingSandbox

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

# Each takes this process several times as long where it does the work itself.
MOST_CPU_SECONDS = 0.6
HEADINGS = "# Zebra head\n" * 60_000
COSTLY = "[" * 120_000


def folder_of(root: Path, *, sandbox: BlockingSandbox | None = None, **pages: str) -> DocsFolder:
    for name, text in pages.items():
        (root / f"{name}.md").write_text(text, encoding="utf-8")
    return DocsFolder.open(root, sandbox=sandbox)


async def test_a_large_page_is_indexed_and_read_in_another_process(tmp_path: Path) -> None:
    before = time.process_time()
    folder = folder_of(tmp_path, heads=HEADINGS, small="# Heron\n\nIt eats fish.\n")
    front = DocsFront(folder, Settings(docs_root=str(tmp_path)))
    calls: list[dict[str, object]] = [
        {"path": "heads.md"},
        {"path": "heads.md", "sections": ["zebra-head-59999"]},
        {"path": "heads.md", "start_line": 59_000},
    ]
    results = [
        await front.call("get_doc_page", arguments, caller=Caller(session="t"))
        for arguments in calls
    ]
    used = time.process_time() - before

    assert [result.is_error for result in results] == [False] * 3
    assert results[0].structured["total_lines"] == 60_000
    assert results[1].structured["content"] == "# Zebra head"
    assert used < MOST_CPU_SECONDS


async def test_an_unknown_section_of_a_large_page_is_refused_as_of_a_small_one(
    tmp_path: Path,
) -> None:
    words = "Fish and frogs. " * 10_000
    folder = folder_of(tmp_path, large=f"# Heron\n\n{words}\n", small="# Heron\n\nFish.\n")
    front = DocsFront(folder, Settings(docs_root=str(tmp_path)))

    errors = [
        await front.call(
            "get_doc_page",
            {"path": f"{name}.md", "sections": ["Egret"]},
            caller=Caller(session="t"),
        )
        for name in ("large", "small")
    ]

    texts = [re.sub(r"\d+|large|small", "", error.text) for error in errors]
    assert errors[0].is_error
    assert texts[0] == texts[1]


def test_a_page_is_rendered_in_another_process_and_once(tmp_path: Path) -> None:
    website = Website(folder_of(tmp_path, heads="## Zebra *head*\n" * 2_000), base_url="")

    before = time.process_time()
    pages = [website.get("/heads.html") for _ in range(3)]
    used = time.process_time() - before

    assert pages[0] is not None
    assert b"Zebra <em>head</em>" in pages[0].body
    assert pages[2] is pages[0]
    assert used < MOST_CPU_SECONDS


def test_a_page_that_takes_too_long_says_so_and_the_others_are_shown(tmp_path: Path) -> None:
    sandbox = BlockingSandbox(cpu_seconds=0.5)
    folder = folder_of(tmp_path, sandbox=sandbox, costly=COSTLY, heron="# Heron\n\nFish.\n")

    website = Website(folder, base_url="")
    costly, heron = website.get("/costly.html"), website.get("/heron.html")
    report = export_site(folder, tmp_path.parent / f"{tmp_path.name}-out")

    assert costly is not None
    assert b"This page cannot be shown: reading the page took more than" in costly.body
    assert heron is not None
    assert b"<p>Fish.</p>" in heron.body
    assert (report.pages, report.not_rendered) == (2, ("costly.md",))


def test_a_file_that_exceeds_its_limits_is_left_out_once_for_all(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heads = "# Zebra head\n" * 100_000
    with caplog.at_level(logging.WARNING):
        sandbox = BlockingSandbox(cpu_seconds=0.01)
        folder = folder_of(tmp_path, sandbox=sandbox, heads=heads, heron="# Heron\n\nFish.\n")
        before = time.process_time()
        folder.refresh()

    assert list(folder.paths) == ["heron.md"]
    assert [record.message for record in caplog.records if "left out" in record.message] == [
        "heads.md is left out: reading the page took more than 0 seconds"
    ]
    assert time.process_time() - before < MOST_CPU_SECONDS


def test_an_unusable_file_is_reported_once_however_often_it_is_seen(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "\x1b[31mred.md").write_text("# Red\n", encoding="utf-8")
    with (tmp_path / "sparse.md").open("wb") as file:
        file.truncate(5_000_001)

    with caplog.at_level(logging.WARNING):
        folder = folder_of(tmp_path, heron="# Heron\n")
        for _ in range(3):
            folder.refresh()

    assert list(folder.paths) == ["heron.md"]
    assert sorted(record.message for record in caplog.records) == [
        "pipe.md is left out: it is not a plain file of at most 5,000,000 bytes",
        "sparse.md is left out: it is not a plain file of at most 5,000,000 bytes",
        "␛[31mred.md is left out: its name holds control characters",
    ]
