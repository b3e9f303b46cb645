"""The `citewell` commands of the documents, run in order, each document in a folder of its own.

A site on loopback stands in for every website that they name. Commands that run until they are
stopped are started by the tests of `e2e`; those that name what only their reader has (PostgreSQL,
citations, two versions of a package) by the tests of those commands. `deploy/rehearse` runs the
commands of docs/deploying.md.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas
from tests.site import Response, Site, running_site
from tests.test_docs_commands import DOCUMENTS, commands_of

from citewell.cli.main import main

_RUN_UNTIL_STOPPED = frozenset({("serve",), ("worker",), ("docs",), ("sync", "--watch")})
_NEED_MORE = frozenset({"migrate", "receipt", "verify", "compare"})
_LACK_THEIR_JOB = frozenset({("jobs", "retry"), ("jobs", "cancel"), ("jobs", "show")})
_URL = re.compile(r"https?://[^/\s]+")
# It lists examples of single commands, one from each, that are not a way through anything.
_RUN = [path for path in DOCUMENTS if path.name != "reference.md" and commands_of(path)]
# A command at a prompt with the lines that it prints.
_WITH_OUTPUT = re.compile(r"^\$ citewell (.+\n(?:(?!\$ |```).*\n)+)", re.MULTILINE)
_SHOWN = [shown for path in DOCUMENTS for shown in _WITH_OUTPUT.findall(path.read_text("utf-8"))]

PAGE = """<!DOCTYPE html><html lang="en"><head><title>Tasks</title></head><body><main>
<h1>Tasks</h1><p>To cancel a running task use its cancel method. A queue tells that all work is
done by its join method. Timeouts are set with asyncio.timeout. The default port is 8080.
The default limit is 40 tasks.</p>
<p><a href="/guide/next">Next</a></p></main></body></html>"""
DOCS = (
    "# Users\n\nTo add a user, run `adduser`. To rotate a key, make a new one and revoke the old.\n"
)
# It cites a page twice, once wrongly, and links to another.
INTRO = """# Shop

[The tasks](https://example.org/tasks.html) are described as follows:
"The default port is 8080." "The default limit is 50 tasks."

There is [a guide](https://example.org/guide/), too.
"""
PROJECT = '[project]\nname = "shop"\nversion = "1"\ndependencies = ["platformdirs"]\n'


@pytest.fixture
def site() -> Iterator[Site]:
    nothing = Response(status=404)
    pages = dict.fromkeys(("/robots.txt", "/sitemap.xml", "/llms.txt"), nothing)
    with running_site(pages) as running:
        running.default = PAGE
        yield running


@pytest.fixture
def folder(tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project like that of a reader, and settings that leave the rest of the machine alone."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "users.md").write_text(DOCS, encoding="utf-8")
    (tmp_path / "README.md").write_text("# Shop\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (tmp_path / "handbook.pdf").write_bytes(pdf("The notice period is four weeks."))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CITEWELL_DATABASE_URL", f"sqlite:///{tmp_path / 'library.db'}")
    monkeypatch.setenv("CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS", site.host)
    monkeypatch.setenv("CITEWELL_EMBEDDER", "none")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("document", _RUN, ids=lambda path: path.name)
def test_the_commands_of_a_document_run(
    document: Path, folder: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    # The library that the reader of a page on operating it has already.
    assert main(["ingest", site.url("/guide/")]) == 0

    for words in commands_of(document):
        if not runs_here(words):
            continue
        arguments = arguments_of(words, folder, site)
        expected = 1 if tuple(words[:2]) in _LACK_THEIR_JOB else 0
        assert main(arguments) == expected, f"{arguments}: {capsys.readouterr().err}"


@pytest.mark.parametrize("shown", _SHOWN)
def test_the_output_that_a_document_shows_is_printed(
    shown: str, folder: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    host = site.url("").rstrip("/")
    (folder / "docs" / "intro.md").write_text(_URL.sub(host, INTRO), encoding="utf-8")
    command, _, output = shown.partition("\n")

    main(arguments_of(shlex.split(command), folder, site))

    assert capsys.readouterr().out.replace(host, "https://example.org") == output


def test_the_commands_of_the_readme_are_run() -> None:
    readme = next(path for path in _RUN if path.name == "README.md")

    assert [words[0] for words in commands_of(readme) if runs_here(words)] == ["ask", "config"]


def runs_here(words: list[str]) -> bool:
    """Whether the command ends by itself and has all that it names."""
    ends = (words[0] == "worker" and "--until-idle" in words) or words[:2] == ["docs", "build"]
    stops = any(set(command) <= set(words[:3]) for command in _RUN_UNTIL_STOPPED)
    return (ends or not stops) and words[0] not in _NEED_MORE and "--help" not in words


def arguments_of(words: list[str], folder: Path, site: Site) -> list[str]:
    """The arguments as the shell would give them, with the site in place of others."""
    arguments: list[str] = []
    for word in words:
        if "*" in word and not word.startswith("/"):
            arguments += sorted(str(path.relative_to(folder)) for path in folder.glob(word))
        else:
            filled = {"JOB": "7", "URL": site.url("/guide/")}.get(word, word)
            arguments.append(_URL.sub(site.url("").rstrip("/"), filled))
    # A person at a terminal is asked.
    return [*arguments, "--yes"] if words[0] == "remove" and "--yes" not in words else arguments


def pdf(text: str) -> bytes:
    """A page with the text."""
    file = BytesIO()
    canvas = Canvas(file)
    canvas.drawString(72, 720, text)
    canvas.save()
    return file.getvalue()
