"""`ask` and `ingest` of files and folders in place of URLs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import STORAGE, Shell

from citewell.cli.main import main

QUESTION = "What happens when the memory is full?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "the docs"
    (root / "guide").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "storage.html").write_text(STORAGE, encoding="utf-8")
    (root / "guide/mooring.md").write_text(
        "# Mooring\n\nA cord joins the buoy to the chain. See [modes](../storage.html#ring).\n",
        encoding="utf-8",
    )
    (root / ".git/notes.md").write_text("# Hidden\n\nThe memory is full.\n", encoding="utf-8")
    (root / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    return root


def run_json(
    capsys: pytest.CaptureFixture[str], shell: Shell, *arguments: str
) -> tuple[int, dict[str, Any]]:
    code = main([*arguments, "--json", *shell.options])
    return code, json.loads(capsys.readouterr().out)


def test_ask_answers_from_a_folder_and_cites_its_files(
    shell: Shell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = run_json(capsys, shell, "ask", str(folder), QUESTION)

    assert code == 0
    assert [source["url"] for source in found["sources"]][:1] == [
        (folder / "storage.html").as_uri()
    ]
    assert any("takes the place of the oldest" in each["text"] for each in found["evidence"])


def test_a_pattern_stands_for_its_files_and_status_takes_a_file_or_a_folder(
    shell: Shell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, found = run_json(capsys, shell, "ask", str(folder / "*.html"), QUESTION)
    code, status = run_json(capsys, shell, "status", str(folder / "storage.html"))

    assert found["stats"]["documents_searched"] == 1
    assert (code, status["documents"]) == (0, 1)
    assert run_json(capsys, shell, "status", str(folder))[1]["documents"] == 1


def test_ask_of_one_file_leaves_the_others_of_its_folder_out(
    shell: Shell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_json(capsys, shell, "ingest", str(folder))

    _, found = run_json(
        capsys, shell, "ask", str(folder / "guide/mooring.md"), "What joins the buoy to the chain?"
    )

    assert {source["url"] for source in found["sources"]} == {
        (folder / "guide/mooring.md").as_uri()
    }


def test_ingest_keeps_step_with_a_folder(
    shell: Shell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, first = run_json(capsys, shell, "ingest", str(folder))
    _, again = run_json(capsys, shell, "ingest", str(folder))
    (folder / "storage.html").unlink()
    (folder / "guide/mooring.md").write_text("# Mooring\n\nA chain of iron.\n", encoding="utf-8")
    (folder / "new.txt").write_text("The lamp blinks twice.", encoding="utf-8")
    _, later = run_json(capsys, shell, "ingest", str(folder))
    _, status = run_json(capsys, shell, "status")

    counts = ("indexed", "unchanged", "removed", "failed")
    assert [[each["paths"][0][name] for name in counts] for each in (first, again, later)] == [
        [2, 0, 0, 0],
        [0, 2, 0, 0],
        [2, 0, 1, 0],
    ]
    assert {page["url"] for page in status["pages"]} == {
        (folder / "new.txt").as_uri(),
        (folder / "guide/mooring.md").as_uri(),
    }


def test_a_file_that_cannot_be_read_is_told_and_its_stored_page_kept(
    shell: Shell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_json(capsys, shell, "ingest", str(folder))
    (folder / "storage.html").write_bytes(bytes(range(32)) * 100)

    _, told = run_json(capsys, shell, "ingest", str(folder))
    _, found = run_json(capsys, shell, "search", QUESTION)

    assert told["paths"][0]["failed"] == 1
    assert "binary" in told["paths"][0]["failures"][0]["error"]
    assert found["sources"][0]["url"] == (folder / "storage.html").as_uri()


def test_files_of_a_folder_that_cannot_be_read_are_warnings_and_named_ones_failures(
    shell: Shell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken, empty = folder / "broken.html", folder / "empty.md"
    broken.write_bytes(bytes(range(32)) * 100)
    empty.write_text("\n", encoding="utf-8")
    storage = str(folder / "storage.html")

    code, found = run_json(capsys, shell, "ask", str(folder), QUESTION)
    named, of_named = run_json(capsys, shell, "ask", storage, str(broken), QUESTION)
    alone = main(["ask", str(broken), QUESTION, *shell.options])

    assert (code, "failures" in found) == (0, False)
    assert found["evidence"]
    assert sorted(each["url"] for each in found["warnings"]) == [broken.as_uri(), empty.as_uri()]
    assert not any("JavaScript" in each["suggestion"] for each in found["warnings"])
    assert named == 1
    assert [failure["url"] for failure in of_named["failures"]] == [broken.as_uri()]
    assert alone == 1
    assert f"{broken.as_uri()} is binary" in capsys.readouterr().err


def test_a_file_that_is_not_read_is_named_once(
    shell: Shell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "empty.md").write_text("", encoding="utf-8")

    assert main(["ask", str(folder), QUESTION, *shell.options]) == 0

    [line] = [line for line in capsys.readouterr().out.split("\n") if "Not read" in line]
    assert line.count("empty.md") == 1


def test_an_empty_file_of_a_folder_is_skipped_and_a_damaged_one_fails_the_ingest(
    shell: Shell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = folder / "empty.md"
    empty.write_text("", encoding="utf-8")

    code, first = run_json(capsys, shell, "ingest", str(folder))
    alone = main(["ingest", str(empty), *shell.options])
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 damaged")
    capsys.readouterr()
    second, report = run_json(capsys, shell, "ingest", str(folder))

    assert (code, first["paths"][0]["skipped"], first["paths"][0]["failed"]) == (0, 1, 0)
    assert alone == 1
    assert (second, report["paths"][0]["skipped"], report["paths"][0]["failed"]) == (1, 1, 1)
    assert "damaged" in report["paths"][0]["failures"][0]["suggestion"]


def test_what_a_file_held_before_it_was_emptied_is_no_longer_quoted(
    shell: Shell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    storage = folder / "storage.html"
    run_json(capsys, shell, "ingest", str(folder))
    storage.write_text("", encoding="utf-8")

    _, found = run_json(capsys, shell, "ask", str(folder), QUESTION)

    assert storage.as_uri() not in [source["url"] for source in found["sources"]]


@pytest.mark.parametrize("command", [["ask", "{site}", QUESTION], ["ingest", "{site}"]])
def test_a_database_in_a_folder_that_is_not_there_is_refused(
    command: list[str], shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    database = tmp_path / "typo" / "index.db"
    arguments = [word.replace("{site}", shell.site.url("/storage")) for word in command]

    assert main([*arguments, "--database", str(database)]) == 1

    assert "there is no folder" in capsys.readouterr().err
    assert not database.parent.exists()


def test_a_new_database_is_announced_once(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ingest = ["ingest", shell.site.url("/storage"), *shell.options[2:]]
    ingest += ["--database", str(tmp_path / "new.db")]

    said = [(main(ingest), capsys.readouterr().err)[1] for _ in range(2)]

    assert said == [f"citewell: made a new library in {tmp_path / 'new.db'}\n", ""]


def test_links_between_files_lead_to_their_pages(
    shell: Shell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["ask", str(folder / "guide"), "See which modes?", *shell.options])

    assert code == 0
    assert f"({(folder / 'storage.html').as_uri()}#ring)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("ask", "{folder}", "https://a.example/", "Why?"), "not both at once"),
        (("ask", "{folder}", "Why?", "--constraint", "on Debian"), "--constraint is for URLs"),
        (("ask", "{folder}", "nothing.md", "Why?"), "there is no file or folder 'nothing.md'"),
        (("ingest", "{folder}/nothing"), "there is no file or folder called"),
        (("ingest", "nothing.md"), "'nothing.md' is neither a file or folder nor a URL\n"),
        (("ingest", "{folder}/.git/empty"), "no page below"),
        (("ingest", "{folder}/logo.png"), "is binary"),
    ],
    ids=["mixed", "constraint", "one missing", "missing", "no host", "empty", "binary"],
)
def test_what_cannot_be_done_is_said(
    shell: Shell,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    told: str,
) -> None:
    (folder / ".git/empty").mkdir()

    code = main([*(each.format(folder=folder) for each in arguments), *shell.options])

    streams = capsys.readouterr()
    assert code != 0
    assert told in streams.out + streams.err


def test_a_file_that_cannot_be_read_is_named_once_with_what_to_try(
    shell: Shell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logo = folder / "logo.png"

    main(["ingest", str(logo), *shell.options])
    main(["ingest", "./no-such-folder", *shell.options])

    streams = capsys.readouterr()
    assert f"- failed: {logo.as_uri()} is binary\n  try: HTML, Markdown," in streams.out
    assert "try: Check the path" in streams.err


def test_the_sources_that_sphinx_puts_beside_its_pages_are_no_pages(
    shell: Shell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = folder / "_sources"
    sources.mkdir()
    (sources / "storage.rst.txt").write_text("Storage modes\n=============\n", encoding="utf-8")

    _, before = run_json(capsys, shell, "ingest", str(folder))
    (folder / "searchindex.js").write_text("Search.setIndex({})", encoding="utf-8")
    _, after = run_json(capsys, shell, "ingest", str(folder))

    assert before["paths"][0]["indexed"] == 3
    assert (after["paths"][0]["unchanged"], after["paths"][0]["removed"]) == (2, 1)


def test_a_tool_never_reads_a_file(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = run_json(capsys, shell, "ask", "file:///etc/passwd", "Who is root?")

    assert code != 0
    assert "is not an http or https URL" in told["error"]["message"]


def test_man_pages_of_a_folder_are_read_packed_or_not(
    shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "man"
    folder.mkdir()
    page = (
        ".TH {0} 1\n.SH NAME\n{0} \\- wait for herons\n.SH OPTIONS\n.TP\n.B \\-{0}\nStand still.\n"
    )
    (folder / "wade.1").write_text(page.format("wade"), encoding="utf-8")
    (folder / "egret.3pm.gz").write_bytes(gzip.compress(page.format("egret").encode()))
    (folder / "libheron.so.6").write_bytes(b"\x7fELF")
    (folder / "notes.2").write_text("Not a man page.\n", encoding="utf-8")

    code, found = run_json(capsys, shell, "ingest", str(folder))
    packed = str(folder / "egret.3pm.gz")
    _, answer = run_json(capsys, shell, "ask", packed, "What does egret do?")

    assert (code, found["paths"][0]["indexed"]) == (0, 2)
    assert any("wait for herons" in each["text"] for each in answer["evidence"])


def test_a_man_page_that_cannot_be_unpacked_is_told(
    shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "man").mkdir()
    (tmp_path / "man/wade.1.gz").write_bytes(b"not packed")

    code, found = run_json(capsys, shell, "ingest", str(tmp_path / "man"))

    assert code == 1
    assert "it is damaged, or not in gzip" in json.dumps(found)
