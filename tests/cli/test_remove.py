"""`citewell remove` and `sites delete`: what leaves the index, and who is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.shell import Shell
from tests.cli.terminal import run_in_terminal

from citewell.cli.main import main


def urls(shell: Shell, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert main(["status", "--json", *shell.options]) == 0
    return [page["url"] for page in json.loads(capsys.readouterr().out)["pages"]]


def test_a_page_is_removed_by_its_url_and_by_its_id(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    storage, mooring = shell.site.url("/storage"), shell.site.url("/mooring")
    main(["ingest", storage, mooring, *shell.options])
    capsys.readouterr()

    assert main(["remove", storage, "--yes", *shell.options]) == 0
    assert capsys.readouterr().out == f"removed: {storage} (1 page)\n"
    assert urls(shell, capsys) == [mooring]

    main(["sites", "--json", *shell.options])
    [website] = json.loads(capsys.readouterr().out)["websites"]
    assert main(["remove", str(website["source_id"]), "--yes", *shell.options]) == 0
    assert urls(shell, capsys) == []


def test_a_folder_is_removed_by_its_path(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    (docs / "deep").mkdir(parents=True)
    (docs / "a.md").write_text("# A\n\nHerons nest.\n", encoding="utf-8")
    (docs / "deep" / "b.md").write_text("# B\n\nEgrets nest.\n", encoding="utf-8")
    main(["ingest", str(docs), *shell.options])

    assert main(["remove", str(docs), "--yes", *shell.options]) == 0

    assert urls(shell, capsys) == []
    assert (docs / "a.md").exists()


@pytest.mark.parametrize("is_folder_gone", [False, True])
def test_files_that_have_gone_leave_the_index_with_the_next_ingest(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path, is_folder_gone: bool
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# A\n\nHerons nest.\n", encoding="utf-8")
    main(["ingest", str(docs), *shell.options])
    (docs / "a.md").unlink()
    if is_folder_gone:
        docs.rmdir()
    capsys.readouterr()

    assert main(["ingest", str(docs), *shell.options]) == 0

    assert "removed 1" in capsys.readouterr().out
    assert urls(shell, capsys) == []


def test_what_is_not_indexed_cannot_be_removed(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["remove", "https://example.org/never", "--yes", *shell.options]) == 1
    assert "nothing is indexed under https://example.org/never" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["remove"], ["sites", "delete"]])
def test_without_a_person_to_ask_nothing_is_deleted(
    command: list[str], shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["ingest", shell.site.url("/storage"), *shell.options])

    assert main([*command, shell.site.url("/storage"), *shell.options]) == 2

    assert "add --yes" in capsys.readouterr().err
    assert urls(shell, capsys) == [shell.site.url("/storage")]


@pytest.mark.parametrize(("answer", "is_kept"), [(b"n\n", True), (b"y\n", False)])
def test_the_person_at_the_terminal_is_asked(
    answer: bytes, is_kept: bool, shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["ingest", shell.site.url("/storage"), *shell.options])

    shown = run_in_terminal(
        *("sites", "delete", shell.site.url("/storage")), *shell.options, keys=answer
    )

    assert "Delete? [y/N]" in shown
    assert ("Nothing was deleted." in shown) == is_kept
    assert "error" not in shown
    assert bool(urls(shell, capsys)) == is_kept


def test_a_pattern_stands_for_the_files_it_matches(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("a.md", "b.md", "c.txt"):
        (tmp_path / name).write_text(f"# {name}\n\nHerons nest.\n", encoding="utf-8")

    assert main(["ingest", str(tmp_path / "*.md"), *shell.options]) == 0
    listed = urls(shell, capsys)
    assert main(["ingest", str(tmp_path / "*.rst"), *shell.options]) == 2

    assert sorted(Path(url).name for url in listed) == ["a.md", "b.md"]
    assert "no file matches" in capsys.readouterr().err


def test_a_pattern_that_matches_nothing_is_reported_and_does_not_stop_the_others(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    nothing = str(tmp_path / "*.rst")

    assert main(["ingest", nothing, shell.site.url("/storage"), *shell.options]) == 1

    told = capsys.readouterr()
    assert f"no file matches {nothing!r}" in " ".join(told.err.split())
    assert "Storage modes" in told.out
    assert urls(shell, capsys) == [shell.site.url("/storage")]


def test_an_address_names_what_is_below_it_only_with_a_flag(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    top, pages = shell.site.url("/"), [shell.site.url("/mooring"), shell.site.url("/storage")]
    main(["ingest", *pages, *shell.options])
    capsys.readouterr()

    assert main(["remove", top, "--yes", *shell.options]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "2 pages below it are" in told
    assert f"citewell remove --below {top}" in told
    assert urls(shell, capsys) == pages

    assert main(["remove", "--below", top, "--yes", *shell.options]) == 0
    assert capsys.readouterr().out == f"removed: {top} (all below it, 2 pages)\n"
    assert urls(shell, capsys) == []
    assert main(["sites", "--json", *shell.options]) == 0
    assert json.loads(capsys.readouterr().out)["websites"] == []


@pytest.mark.parametrize("is_listed_with_slash", [False, True])
def test_a_command_that_is_repeated_removes_nothing_more(
    is_listed_with_slash: bool, shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    slash = "/" if is_listed_with_slash else ""
    page, below = shell.site.url(f"/guide{slash}"), shell.site.url("/guide/old")
    for url in ("/guide", "/guide/", "/guide/old"):
        shell.site.pages[url] = f"<title>{url}</title><main><p>Herons eat fish.</p></main>"
    main(["ingest", page, below, *shell.options])
    remove = ["remove", page, "--yes", *shell.options]

    assert main(remove) == 0
    assert urls(shell, capsys) == [below]
    assert main(remove) == 1
    assert urls(shell, capsys) == [below]
    main(["ingest", shell.site.url("/guide/"), *shell.options])
    assert main(["remove", shell.site.url("/guide"), "--yes", *shell.options]) == 1
    assert urls(shell, capsys) == [shell.site.url("/guide/"), below]


def test_a_site_goes_only_when_it_is_named_as_one(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    guide, page = shell.site.url("/guide/"), shell.site.url("/storage")
    shell.site.pages["/guide/"] = "<title>Guide</title><main><p>Herons eat fish.</p></main>"
    main(["ingest", "--site", guide, *shell.options])
    main(["ingest", page, *shell.options])
    capsys.readouterr()

    assert main(["remove", guide, "--yes", *shell.options]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "is a site of 1 page" in told
    assert f"citewell remove --site {guide}" in told
    assert main(["remove", "--site", page, "--yes", *shell.options]) == 1
    assert urls(shell, capsys) == [guide, page]

    capsys.readouterr()
    assert main(["remove", "--site", guide.rstrip("/"), "--yes", *shell.options]) == 0
    assert capsys.readouterr().out == f"removed: {guide} (the site, 1 page)\n"
    assert main(["remove", "--site", guide, "--yes", *shell.options]) == 1
    assert urls(shell, capsys) == [page]


@pytest.mark.parametrize("form", ["path", "url", "pattern"])
def test_files_are_named_alike_by_all_commands(
    form: str, shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    docs = tmp_path / "my docs"
    docs.mkdir()
    (docs / "a.md").write_text("# A\n\nHerons nest in May.\n", encoding="utf-8")
    (tmp_path / "my docs2.md").write_text("# B\n\nHerons nest in June.\n", encoding="utf-8")
    main(["ingest", str(docs), str(tmp_path / "my docs2.md"), *shell.options])
    named = {"path": str(docs), "url": docs.as_uri(), "pattern": str(tmp_path / "my doc?")}[form]
    capsys.readouterr()

    assert main(["status", named, "--json", *shell.options]) == 0
    status = json.loads(capsys.readouterr().out)
    assert main(["search", "When do herons nest?", "--url", named, "--json", *shell.options]) == 0
    sources = json.loads(capsys.readouterr().out)["sources"]

    assert [page["url"] for page in status["pages"]] == [(docs / "a.md").as_uri()]
    assert {source["url"] for source in sources} == {(docs / "a.md").as_uri()}
    if form != "pattern":
        assert main(["remove", named, "--yes", *shell.options]) == 0
        assert urls(shell, capsys) == [(tmp_path / "my docs2.md").as_uri()]


@pytest.mark.parametrize("command", [["status"], ["search", "herons", "--url"]])
def test_a_folder_of_which_nothing_is_indexed_is_named(
    command: list[str], shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    main(["ingest", shell.site.url("/storage"), *shell.options])
    capsys.readouterr()

    assert main([*command, str(tmp_path), *shell.options]) == 1

    assert f"citewell ingest {tmp_path}" in "".join(capsys.readouterr().err.split("\n"))


@pytest.mark.parametrize("is_added_before", [False, True])
def test_a_page_of_a_site_is_removed_and_left_out_from_then_on(
    is_added_before: bool, shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    guide, old = shell.site.url("/guide/"), shell.site.url("/guide/old/page")
    links = "<p>Herons eat fish, as <a href='old/page'>others</a> and <a href='new'>we</a> do.</p>"
    for path, text in {"": links, "old/page": "<p>Egrets nest.</p>", "new": "<p>Ibis.</p>"}.items():
        shell.site.pages[f"/guide/{path}"] = f"<title>Guide {path}</title><main>{text}</main>"
    add = ["ingest", "--site", guide, "--from", "links", *shell.options]
    if is_added_before:
        assert main(["ingest", old, *shell.options]) == 0
    assert main(add) == 0
    kept = [url for url in urls(shell, capsys) if url != old]
    assert len(kept) == 2

    assert main(["remove", "--below", shell.site.url("/guide/old/"), "--yes", *shell.options]) == 0
    assert f"{guide} leaves it out from now on." in capsys.readouterr().out
    assert main(["ingest", shell.site.url("/guide/old/page"), *shell.options]) == 0
    assert main(["remove", old, "--yes", *shell.options]) == 0
    assert urls(shell, capsys) == kept

    assert main(["sites", "refresh", guide, *shell.options]) == 0
    assert urls(shell, capsys) == kept
    assert main([*add, "--max-pages", "9"]) == 0
    assert urls(shell, capsys) == kept


def test_a_site_at_or_below_an_address_is_named_with_the_command_that_removes_it(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.site.pages["/guide/"] = "<title>Guide</title><main><p>Herons eat fish.</p></main>"
    main(["ingest", "--site", shell.site.url("/guide/"), *shell.options])
    capsys.readouterr()

    assert main(["remove", "--below", shell.site.url("/"), "--yes", *shell.options]) == 2

    told = " ".join(capsys.readouterr().err.split())
    assert "1 page at or below" in told
    assert f"citewell remove --site {shell.site.url('/guide/')}" in told
