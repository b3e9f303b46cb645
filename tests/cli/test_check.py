"""`citewell check` on documents that quote the site."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.cli.shell import Shell, make_database, run_citewell

from citewell.cli.main import main

TRUE = "When the memory is full new samples are dropped."
CHANGED = "When the memory is full old samples are dropped."
FALSE = "Whales sing for many hours in warm winter nights."


def check(
    shell: Shell, capsys: pytest.CaptureFixture[str], path: Path, text: str, *options: str
) -> tuple[int, dict[str, str]]:
    """Return the exit code, and the verdict of each quote or link."""
    path.write_text(text, encoding="utf-8")
    code = main(["check", str(path), "--json", *options, *shell.options])
    rows = json.loads(capsys.readouterr().out)["references"]
    return code, {row["quote"] or row["url"]: row["verdict"] for row in rows}


def test_quotes_and_links_are_compared_with_pages_of_the_web(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    url, gone = shell.site.url("/storage"), shell.site.url("/no-such-page")
    text = f"“{TRUE}” ({url})\n\n> {CHANGED}\n> — {url}\n\n“{FALSE}” {url}\n\n[x]({gone})\n"

    code, verdicts = check(shell, capsys, tmp_path / "notes.md", text)

    assert code == 1
    assert verdicts == {TRUE: "exact", CHANGED: "changed", FALSE: "gone", gone: "unreachable"}
    assert [request.path for request in shell.site.requests].count("/storage") == 1


@pytest.mark.parametrize("option", ["--live", "--library"])
def test_an_address_that_is_none_is_judged_alone_and_shown_with_its_line(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str
) -> None:
    good, bad = tmp_path / "good.md", tmp_path / "bad.md"
    url = shell.site.url("/storage")
    assert main(["ingest", url, *shell.options]) == 0
    good.write_text(f"“{TRUE}” ({url})\n", encoding="utf-8")
    bad.write_text(
        "a [g](http://[/) b\n\nhttp://a:99999/\n\nhttp://example.com:99999/\n\n"
        f"“{TRUE}” (http://a..:x/)\n\n“{FALSE}” ({url})\n",
        encoding="utf-8",
    )
    capsys.readouterr()

    code = main(["check", str(bad), str(good), option, "--json", *shell.options])

    rows = json.loads(capsys.readouterr().out)["references"]
    assert code == 1
    assert [(row["file"], row["line"], row["verdict"]) for row in rows] == [
        (str(bad), 1, "unreachable"),
        (str(bad), 3, "unreachable"),
        (str(bad), 7, "unreachable"),
        (str(bad), 9, "gone"),
        (str(good), 1, "exact"),
    ]
    assert "is not a URL" in rows[0]["explanation"]


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        ("a%00b", "gone"),
        ("x" * 3_000, "gone"),
        ("x/" * 3_000, "gone"),
        ("%ff%fe", "gone"),
        ("//[/a", "unreachable"),
    ],
)
def test_a_relative_link_that_no_file_can_have_is_judged_alone(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path, path: str, verdict: str
) -> None:
    (tmp_path / "there.md").write_text("x", encoding="utf-8")
    text = f'<a href="{path}">x</a> and [y](there.md)\n'
    (tmp_path / "notes.md").write_text(text, encoding="utf-8")

    code = main(["check", str(tmp_path / "notes.md"), "--library", "--json", *shell.options])

    rows = json.loads(capsys.readouterr().out)["references"]
    assert (code, [row["verdict"] for row in rows]) == (1, [verdict, "found"])


def test_a_document_without_faults_passes_from_the_library_alone(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    url, other = shell.site.url("/storage"), shell.site.url("/mooring")
    assert main(["ingest", url, *shell.options]) == 0
    capsys.readouterr()
    asked = len(shell.site.requests)
    text = f"<html><body><p>“{TRUE}” <a href='{url}#journal'>Storage</a></p><p>{other}</p></body>"

    code, verdicts = check(shell, capsys, tmp_path / "notes.html", text, "--library")

    assert (code, verdicts) == (0, {TRUE: "exact", other: "not_indexed"})
    assert len(shell.site.requests) == asked


def test_json_holds_no_character_that_a_terminal_obeys(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    url, quote = shell.site.url("/storage"), "\x9b2J\x9d0;x\x9c \u202e\u2028 words of a pirate"
    (tmp_path / "notes.md").write_text(f"“{quote}” ({url})", encoding="utf-8")

    main(["check", str(tmp_path / "notes.md"), "--json", *shell.options])

    printed = capsys.readouterr().out
    assert printed.replace("\n", "").isprintable()
    assert "words of a pirate" in json.loads(printed)["references"][0]["quote"]


def test_the_text_says_where_and_how_a_quote_differs(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "notes.md"
    path.write_text(f"A line.\n\n“{CHANGED}” {shell.site.url('/storage')}\n", encoding="utf-8")

    code = main(["check", str(path), *shell.options])
    said = capsys.readouterr().out

    assert code == 1
    assert f"{path}:3: changed:" in said
    assert "[-old-]{+new+}" in said


def test_a_document_cannot_add_lines_to_what_is_said_of_it(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "notes\n1 quotes and links: 1 exact.\u202e.md"
    path.write_text(f"“{CHANGED}” {shell.site.url('/storage')}\n", encoding="utf-8")

    main(["check", str(path), *shell.options])
    said = capsys.readouterr().out

    assert "notes␊1 quotes and links: 1 exact.�.md:1: changed:" in said
    assert len(said.splitlines()) == 3


def test_a_huge_or_missing_document_is_refused(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    huge = tmp_path / "huge.md"
    huge.write_bytes(b"x" * 2_000_001)

    codes = [main(["check", str(path), *shell.options]) for path in (huge, tmp_path / "none.md")]

    assert codes == [2, 2]
    said = capsys.readouterr().err
    assert "more than 2,000,000 bytes" in said
    assert "cannot be read: No such file" in said


@pytest.mark.parametrize("command", ["check", "check-draft"])
def test_a_file_that_is_no_text_is_refused(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    path = tmp_path / "herons.docx"
    path.write_bytes(b'PK\3\4\0\0"one two three four five"\xff')

    assert main([command, str(path), *shell.options]) == 2
    assert "herons.docx is not a text file" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "check-draft", "verify"])
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path, command: str) -> None:
    pipe = tmp_path / "pipe.md"
    os.mkfifo(pipe)
    make_database(f"sqlite:///{tmp_path / 'pages.db'}")

    refused = run_citewell(tmp_path, command, str(pipe), CITEWELL_EMBEDDER="none")

    assert refused.returncode == (1 if command == "verify" else 2)
    assert "cannot be read: it is not a regular file" in refused.stderr


def test_a_link_to_an_anchor_that_the_page_lacks_is_gone(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    url = shell.site.url("/storage")
    good, bad = f"{url}#ring", f"{url}#not-there"
    others = [f"{url}#top", f"{url}#/route", f"{url}#L12"]
    text = "\n\n".join(f"[x]({link})" for link in (good, bad, *others))

    live, fetched = check(shell, capsys, tmp_path / "notes.md", text)
    main(["ingest", url, *shell.options])
    capsys.readouterr()
    stored, kept = check(shell, capsys, tmp_path / "notes.md", text, "--library")

    expected = {good: "found", bad: "gone", **dict.fromkeys(others, "found")}
    assert (live, fetched) == (stored, kept) == (1, expected)


def test_links_to_hosts_that_are_reserved_for_examples_are_left_out(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    hosts = ["example.org", "docs.example.com:8080", "wiki.example", "site.test"]
    links = "\n\n".join(f"<https://{host}/guide>" for host in hosts)
    lookalike = shell.site.url("/no-such-page?at=docs.example")

    code, verdicts = check(shell, capsys, tmp_path / "notes.md", f"{links}\n\n<{lookalike}>\n")

    assert (code, verdicts) == (1, {lookalike: "unreachable"})


def test_relative_links_lead_to_files_and_to_anchors_that_they_have(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    guide = "# Guide\n\n## Set up & go\n\n## Twice\n\n## Twice\n\n<a name='own'></a>\n"
    (tmp_path / "docs" / "guide.md").write_text(guide, encoding="utf-8")
    (tmp_path / "a b.svg").write_text("<svg/>", encoding="utf-8")
    good = [
        "./docs/guide.md",
        "docs/guide.md#set-up--go",
        "docs/guide.md#set-up-go",
        "docs/guide.md#twice-1",
        "docs/guide.md#own",
        "docs/guide.html",
        "docs/guide",
        "docs/",
        "a%20b.svg",
        "#notes",
    ]
    bad = ["./missing.md", "docs/guide.md#no-such", "#nowhere", "../../gone.png"]
    left_out = ["mailto:a@b.c", "//cdn.example/x.js", "{{ base }}/x.md"]
    text = "\n".join(
        ["# Notes", *(f"[x]({link})" for link in (*good, *bad, *left_out)), "`[x](code.md)`"]
    )

    code, verdicts = check(
        shell, capsys, tmp_path / "notes.md", f"{text}\n[y](/rooted)\n<img src='no.png'>\n"
    )

    assert code == 1
    assert verdicts == {
        **dict.fromkeys(good, "found"),
        **dict.fromkeys((*bad, "no.png"), "gone"),
        "/rooted": "not_checked",
    }


def test_relative_links_of_html_are_checked_and_said_to_be_broken_by_line(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "notes.html"
    links = "<p id='here'><a href='#here'>up</a>\n<a href='missing.html'>x</a></p>"
    path.write_text(f"<html><body><h1>Ponds</h1>\n{links}</body></html>", encoding="utf-8")

    code = main(["check", str(path), *shell.options])
    said = capsys.readouterr().out

    assert code == 1
    assert f"{path}:3: gone: missing.html\n    There is no file missing.html.\n" in said
    assert said.endswith("2 quotes and links: 1 found, 1 gone.\n")
