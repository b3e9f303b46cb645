"""Ctrl-C: what was read stays, nobody goes on behind one's back, and the person is told."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest
from tests.cli.shell import STORAGE, Shell
from tests.cli.terminal import run_in_terminal, text_of
from tests.site import Response, wait_until

from citewell.cli.main import main
from citewell.cli.table import text_table
from citewell.core.jobs import JobDraft
from citewell.ingest.library_pages import utc_now
from citewell.jobs.runner import Pace
from citewell.store.open import open_store

# A test run in the background of a shell has SIGINT ignored, and so would what it starts.
IN_THE_FOREGROUND = """
import signal
from citewell.cli.main import main
from citewell.cli.table import text_table

signal.signal(signal.SIGINT, signal.default_int_handler)
raise SystemExit(main())
"""
GUIDE = """<!DOCTYPE html><html lang="en"><head><title>Guide</title></head><body><main><h1>Guide</h1>
<p>Read about <a href="/guide/storage">storage</a> and <a href="/guide/slow">slowness</a>.</p>
</main></body></html>"""


def interrupt(shell: Shell, *arguments: str, path: str) -> tuple[int, str]:
    """Run a command, press Ctrl-C when it asks for `path`, and return its exit code and words."""
    command = [sys.executable, "-c", IN_THE_FOREGROUND, *arguments, *shell.options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8") as process:
        wait_until(lambda: path in shell.site.paths(), seconds=120)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    return process.returncode, errors


def running_jobs(shell: Shell, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the numbers of the jobs that are running."""
    capsys.readouterr()
    main(["jobs", "--state", "running", "--json", *shell.options])
    return [str(job["job_id"]) for job in json.loads(capsys.readouterr().out)["jobs"]]


def test_a_site_that_was_stopped_waits_until_somebody_wants_it(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.site.pages["/guide/"] = GUIDE
    shell.site.pages["/guide/storage"] = STORAGE
    shell.site.pages["/guide/slow"] = Response(wait_seconds=600)
    add = ("ingest", "--site", shell.site.url("/guide/"), "--from", "links")

    code, told = interrupt(shell, *add, path="/guide/slow")

    assert code == 130
    assert re.search(r"Stopped\. Kept: \d+ pages? of http://127\.0\.0\.1:\d+/guide/\.", told)
    assert "citewell jobs retry 1" in told
    assert "Traceback" not in told
    main(["jobs", "--json", *shell.options])
    [job] = json.loads(capsys.readouterr().out)["jobs"]
    assert job["state"] == "cancelled"
    main(["jobs", *shell.options])
    listed = capsys.readouterr().out
    assert shell.site.url("/guide/") in listed
    assert "To continue: `citewell jobs retry 1`." in listed
    assert re.search(r"fetching \d/\? pages", listed)
    main(["sites", "--json", *shell.options])
    [site] = json.loads(capsys.readouterr().out)["websites"]
    assert (site["status"], site["error_message"]) == ("stopped", None)

    shell.site.requests.clear()
    # As when its terminal is closed: nobody gives the job back.
    with subprocess.Popen(
        [sys.executable, "-m", "citewell", *add, *shell.options], stderr=subprocess.DEVNULL
    ) as process:
        wait_until(lambda: "/guide/slow" in shell.site.paths(), seconds=120)
        [number] = running_jobs(shell, capsys)
        assert main(["jobs", "retry", number, *shell.options]) == 2
        assert f"job {number} is running already, in another process" in capsys.readouterr().err
        process.kill()

    shell.site.pages["/guide/slow"] = STORAGE.replace("Storage modes", "Slowness")
    started = time.monotonic()
    assert main([*add, *shell.options]) == 0
    # Not after the lease of the dead process.
    assert time.monotonic() - started < Pace().lease_seconds / 2
    assert "3 pages" in capsys.readouterr().out
    main(["jobs", *shell.options])
    assert "jobs retry" not in capsys.readouterr().out
    main(["jobs", "--json", *shell.options])
    [done] = [job for job in json.loads(capsys.readouterr().out)["jobs"] if job["state"] == "done"]
    assert done["result"]["failed"] == 0


def test_a_site_that_was_stopped_before_its_first_page_says_so(shell: Shell) -> None:
    shell.site.pages["/guide/"] = Response(wait_seconds=600)
    add = ("ingest", "--site", shell.site.url("/guide/"), "--from", "links")

    code, told = interrupt(shell, *add, path="/guide/")

    assert code == 130
    assert "kept" not in told.lower()
    assert "Stopped. Nothing was stored yet." in told


def test_a_page_that_was_stopped_says_that_the_rest_is_kept(shell: Shell) -> None:
    shell.site.pages["/slow"] = Response(wait_seconds=600)

    code, told = interrupt(shell, "ingest", shell.site.url("/slow"), path="/slow")

    assert code == 130
    assert (
        "Stopped. Run the same command again to go on; nothing that was stored is lost.\n" in told
    )
    assert "Traceback" not in told


@pytest.mark.parametrize("columns", [45, 200])
def test_a_list_fits_the_terminal(shell: Shell, columns: int) -> None:
    main(["ingest", shell.site.url("/storage"), *shell.options])

    shown = text_of(run_in_terminal("sites", *shell.options, columns=columns))

    assert "Storage modes" in shown
    assert max(map(len, shown.splitlines())) <= columns


def test_the_vectors_of_many_pages_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"sqlite:///{tmp_path / 'jobs.db'}"

    async def add_jobs() -> None:
        store = await open_store(address)
        for number in range(7):
            draft = JobDraft(kind="embed_page", key=str(number))
            await store.jobs.add_job(draft, now=utc_now())
        await store.aclose()

    anyio.run(add_jobs)

    assert main(["jobs", "--database", address]) == 0

    table, _, advice = capsys.readouterr().out.partition("\n\n")
    [_, line] = table.splitlines()
    assert line.startswith("7, 6, 5 and 4 more ")
    assert "7 pages" in line
    assert "start `citewell worker`" in advice


def test_a_table_that_is_too_wide_first_loses_its_empty_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "20")

    assert text_table(("job", "progress", "state"), [("1", "-", "cancelled")]) == (
        "job  state\n1    cancelled"
    )
