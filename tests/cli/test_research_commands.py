"""`ask`, `ingest`, `search` and `status` on a real site and a real index."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import STORAGE, Shell, make_database
from tests.site import Response, wait_until

from citewell import __version__
from citewell.cli.main import main


def run_json(
    capsys: pytest.CaptureFixture[str], shell: Shell, *arguments: str
) -> tuple[int, dict[str, Any]]:
    code = main([*arguments, "--json", *shell.options])
    return code, json.loads(capsys.readouterr().out)


def test_ask_prints_a_brief_with_its_sources(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    url = shell.site.url("/storage")

    code = main(["ask", url, "What happens when the memory is full?", *shell.options])

    streams = capsys.readouterr()
    assert code == 0
    assert streams.err == ""
    assert url in streams.out
    assert "[SOURCES]" in streams.out
    assert "takes the place of the oldest" in streams.out
    assert "\x1b" not in streams.out


def test_ask_takes_several_urls_and_options_between_them(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    urls = [shell.site.url("/storage"), shell.site.url("/mooring")]
    question = "How long is the rubber cord, and when are samples dropped?"

    code = main(
        [*shell.options, "ask", urls[0], "--json", urls[1], "--intent", "factual", question]
    )

    found = json.loads(capsys.readouterr().out)
    assert code == 0
    assert found["answered"]
    assert {source["url"] for source in found["sources"]} == set(urls)


def test_citations_are_words_of_the_page(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = run_json(
        capsys, shell, "ask", shell.site.url("/storage"), "When are new samples dropped?"
    )

    assert code == 0
    assert found["evidence"]
    assert all(quote["text"] in STORAGE for quote in found["evidence"])


def test_a_small_budget_makes_a_small_brief(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    question = ["ask", shell.site.url("/storage"), "What happens when the memory is full?"]

    main([*question, "--budget", "200", *shell.options])
    small = capsys.readouterr().out
    main([*question, *shell.options])
    large = capsys.readouterr().out

    assert len(small) < len(large)


def test_ingested_pages_are_found_by_search_without_fetching(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    storage, mooring = shell.site.url("/storage"), shell.site.url("/mooring")
    assert main(["ingest", storage, mooring, *shell.options]) == 0
    assert "Indexed 2" in capsys.readouterr().out
    fetched = shell.site.paths()

    code, found = run_json(capsys, shell, "search", "rubber cord", "--url", mooring)

    assert code == 0
    assert [source["url"] for source in found["sources"]] == [mooring]
    assert shell.site.paths() == fetched


def test_a_url_that_fails_does_not_spoil_the_others(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    urls = [shell.site.url("/storage"), shell.site.url("/gone")]

    code, found = run_json(capsys, shell, "ingest", *urls)

    assert code == 1
    assert [page["status"] for page in found["pages"]] == ["indexed", "failed"]


def test_an_answer_without_one_of_its_pages_is_an_answer_and_a_failure(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    urls = [shell.site.url("/storage"), shell.site.url("/gone")]

    code, found = run_json(capsys, shell, "ask", *urls, "What happens when the memory is full?")

    assert code == 1
    assert found["answered"]
    assert [failure["url"] for failure in found["failures"]] == [urls[1]]


def test_searching_a_page_that_is_not_indexed_is_an_error_that_says_what_to_do(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    stored, missing = shell.site.url("/storage"), shell.site.url("/mooring")
    main(["ingest", stored, *shell.options])
    capsys.readouterr()

    code = main(["search", "rubber cord", "--url", missing, *shell.options])

    assert code == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: {missing} is not indexed.")
    assert f"citewell ingest {missing}" in said
    code, result = run_json(
        capsys, shell, "search", "memory is full", "--url", stored, "--url", missing
    )
    assert code == 1
    assert result["evidence"]
    assert [failure["url"] for failure in result["failures"]] == [missing]


def test_more_urls_than_a_tool_takes_come_from_stdin(
    shell: Shell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [f"/page-{number}" for number in range(23)]
    shell.site.pages.update(dict.fromkeys(paths, STORAGE))
    lines = "\n".join(["# my pages", "", *map(shell.site.url, paths)])
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))

    code, found = run_json(capsys, shell, "ingest", "-")

    assert (code, found["indexed"] + found["unchanged"], found["failed"]) == (0, 23, 0)


def test_errors_speak_of_options_and_commands(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    make_database(shell.options[1])
    assert main(["search", "", *shell.options]) == 2
    of_question = capsys.readouterr().err
    assert main(["status", "https://example.org/never", *shell.options]) == 1
    of_page = capsys.readouterr().err

    assert of_question.startswith("error: the question is empty [")
    assert "query" not in of_question
    assert "`citewell ingest`" in of_page
    assert "Call " not in of_page


@pytest.mark.slow
def test_ingest_makes_the_vectors_before_it_ends(
    shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env_file = tmp_path / "granite.env"
    env_file.write_text(f"CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS={shell.site.host}\n", encoding="utf-8")
    shell = Shell(site=shell.site, options=(*shell.options[:2], "--env-file", str(env_file)))
    run_json(capsys, shell, "ingest", shell.site.url("/storage"))

    _, found = run_json(capsys, shell, "status", "--no-urls")

    assert found["embedded_chunks"] == found["chunks"] > 0


def test_status_tells_what_is_indexed(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    url = shell.site.url("/storage")
    main(["ingest", url, *shell.options])
    capsys.readouterr()

    _, everything = run_json(capsys, shell, "status")
    _, counted = run_json(capsys, shell, "status", "--no-urls")
    _, one = run_json(capsys, shell, "status", url)

    assert [page["title"] for page in everything["pages"]] == ["Storage modes"]
    assert (counted["documents"], "pages" in counted) == (1, False)
    assert one["pages"] == everything["pages"]
    assert everything["version"] == __version__
    assert everything["database"].endswith("kB)")
    assert everything["model"] is None


def test_status_begins_with_the_database(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    main(["ingest", shell.site.url("/storage"), *shell.options])
    capsys.readouterr()

    assert main(["status", *shell.options]) == 0

    first, database, model, *_ = capsys.readouterr().out.splitlines()
    assert first == f"Citewell {__version__}"
    assert re.fullmatch(r"Database: /.*/index\.db \(\d+ kB\)", database)
    assert model == "Embedding model: none"


@pytest.mark.parametrize(
    "command",
    ["status", "search x", "jobs", "sites list", "sites delete 1", "keys list", "usage", "reindex"],
)
def test_a_command_that_reads_refuses_a_missing_database_and_names_it(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = tmp_path / "typo.db"

    code = main([*command.split(), "--database", f"sqlite:///{database}"])

    assert code == 1
    assert f"there is no database {database}" in " ".join(capsys.readouterr().err.split())
    assert not database.exists()


def test_migrate_refuses_a_source_that_does_not_exist(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "typo.db", tmp_path / "new.db"

    code = main(["migrate", "--from", f"sqlite:///{source}", "--to", f"sqlite:///{target}"])

    assert code == 1
    assert str(source) in capsys.readouterr().err.replace("\n", "")
    assert list(tmp_path.iterdir()) == []


def test_a_question_the_page_does_not_answer_is_no_failure(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = run_json(
        capsys, shell, "ask", shell.site.url("/mooring"), "Who won the chess tournament of 1972?"
    )

    assert (code, found["answered"]) == (0, False)


def test_a_failed_call_tells_what_to_try_on_stderr(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["ask", shell.site.url("/gone"), "What is it?", *shell.options])

    streams = capsys.readouterr()
    assert code == 1
    assert streams.out == ""
    assert streams.err.startswith("error: ")
    assert "[NOT_FOUND]" in streams.err
    assert "try: Check the URL" in streams.err


def test_a_failed_call_is_an_error_object_with_json(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["ingest", shell.site.url("/storage"), *shell.options])
    capsys.readouterr()

    code, found = run_json(capsys, shell, "status", "https://example.org/never")

    assert code == 1
    assert list(found) == ["error"]
    assert found["error"]["code"] == "NOT_FOUND"


def test_an_index_that_cannot_be_opened_is_an_error_with_both_forms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"this is no database, but long enough to look like a file" * 40)
    database = ["--database", f"sqlite:///{broken}"]

    assert main(["status", *database]) == 1
    assert capsys.readouterr().err.startswith("error: ")
    assert main(["status", "--json", *database]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "BACKEND_UNAVAILABLE"


def test_verbose_shows_the_log_on_stderr(shell: Shell) -> None:
    url = shell.site.url("/storage")
    result = subprocess.run(
        [sys.executable, "-m", "citewell", "--verbose", "ask", url, "herons", *shell.options],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )

    assert result.returncode == 0
    assert "tool call answer" in result.stderr
    assert "tool call" not in result.stdout


# A test run in the background of a shell has SIGINT ignored, and so would what it starts.
IN_THE_FOREGROUND = """
import signal
from citewell.cli.main import main

signal.signal(signal.SIGINT, signal.default_int_handler)
raise SystemExit(main())
"""


def test_ctrl_c_stops_at_once_and_quietly(shell: Shell) -> None:
    shell.site.pages["/slow"] = Response(wait_seconds=600)
    command = [sys.executable, "-c", IN_THE_FOREGROUND, "ask", shell.site.url("/slow"), "When?"]

    with subprocess.Popen([*command, *shell.options], stderr=subprocess.PIPE) as process:
        wait_until(lambda: "/slow" in shell.site.paths(), seconds=60)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)

    assert process.returncode == 130
    assert b"Traceback" not in errors


def test_a_question_alone_is_told_what_is_missing(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", "How do I moor it?", *shell.options]) == 2

    told = " ".join(capsys.readouterr().err.split())
    assert "a URL, a file or a folder to read is missing" in told
    assert "citewell search 'How do I moor it?'" in told


def test_the_address_of_a_site_names_all_its_pages(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.site.pages["/guide/"] = (
        '<title>Guide</title><main><p>Welcome to the <a href="/guide/birds">birds</a>.</p></main>'
    )
    shell.site.pages["/guide/birds"] = (
        "<title>Birds</title><main><p>The heron eats two pounds of fish a day.</p></main>"
    )
    shell.site.pages["/guide/alone"] = "<title>Alone</title><main><p>Nothing leads here.</p></main>"
    main(["ingest", shell.site.url("/guide/alone"), *shell.options])
    main(["ingest", "--site", shell.site.url("/guide/"), *shell.options])
    capsys.readouterr()

    command = ["search", "How much fish does the heron eat?", "--url", shell.site.url("/guide/")]
    assert main([*command, "--json", *shell.options]) == 0

    result = json.loads(capsys.readouterr().out)
    # With the page below it that was read by itself.
    assert result["stats"]["documents_searched"] == 3
    assert "two pounds" in result["evidence"][0]["text"]


def test_a_site_cut_at_its_limit_names_the_option(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.site.pages["/guide/"] = (
        '<title>Guide</title><main><p>See the <a href="/guide/birds">birds</a>.</p></main>'
    )
    shell.site.pages["/guide/birds"] = "<title>Birds</title><main><p>Herons eat.</p></main>"
    site = ["ingest", "--site", shell.site.url("/guide/"), *shell.options]

    main([*site, "--max-pages", "1"])
    cut = " ".join(capsys.readouterr().out.split())
    main([*site, "--max-pages", "5"])
    whole = capsys.readouterr().out

    assert "there are more: to read them, add the site again with a higher --max-pages" in cut
    assert "2 pages" in whole


def test_a_private_host_is_refused_with_the_setting_that_allows_it(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    options = shell.options[:2]

    assert main(["ingest", shell.site.url("/storage"), *options]) == 1

    told = "".join(capsys.readouterr().err.split())
    assert f"CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS={shell.site.host}" in told
