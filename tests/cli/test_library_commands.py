"""`sites`, `jobs`, `worker` and `ingest --site` in a shell."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.cli.shell import Shell
from tests.site import Response

from citewell.cli.main import main


def run(shell: Shell, *arguments: str) -> int:
    return main([*shell.options, *arguments])


def run_json(shell: Shell, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    run(shell, *arguments, "--json")
    shape: dict[str, Any] = json.loads(capsys.readouterr().out)
    return shape


def test_a_page_is_added_listed_shown_refreshed_and_deleted(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    url = shell.site.url("/storage")

    codes = [run(shell, "sites", "add", url), run(shell, "sites"), run(shell, "sites", "show", url)]
    shown = capsys.readouterr().out
    codes += [run(shell, "sites", "refresh", "1"), run(shell, "sites", "delete", "1", "--yes")]
    told = capsys.readouterr().out

    assert codes == [0, 0, 0, 0, 0]
    assert f"completed: Storage modes — {url} (id 1, 1 page, 2 chunks)" in shown
    assert "1 of 1 website" in shown
    assert "pages      1 with 2 chunks" in shown
    assert "1 unchanged, 0 changed" in told
    assert f"deleted: {url} (id 1, 1 page, 2 chunks)" in told
    assert run_json(shell, capsys, "sites") == {"websites": [], "total_count": 0}


def test_a_page_that_fails_is_told_by_the_exit_code_and_the_job(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(shell, "sites", "add", shell.site.url("/missing"))
    told = capsys.readouterr().out
    [website] = run_json(shell, capsys, "sites", "list", "--status", "failed")["websites"]
    [job] = run_json(shell, capsys, "jobs", "--state", "failed")["jobs"]

    assert code == 1
    assert f"To drop it: `citewell sites delete {website['source_id']}`." in told
    assert "does not exist" in website["error_message"]
    assert (job["state"], job["kind"]) == ("failed", "process_website")


def test_work_on_a_deleted_website_is_not_offered_again(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "sites", "add", shell.site.url("/nowhere"))
    run(shell, "sites", "delete", shell.site.url("/nowhere"), "--yes")
    capsys.readouterr()

    assert run(shell, "jobs") == 0

    listed = capsys.readouterr().out
    assert "(deleted)" in listed
    assert "jobs retry" not in listed


def test_work_in_the_background_is_done_by_a_worker(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "sites", "add", shell.site.url("/storage"), "--background")
    capsys.readouterr()
    [job] = run_json(shell, capsys, "jobs")["jobs"]
    code = run(shell, "worker", "--until-idle")
    [website] = run_json(shell, capsys, "sites")["websites"]

    assert job["state"] == "waiting"
    assert code == 0
    assert website["status"] == "completed"


def test_a_waiting_job_is_cancelled_and_retried(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "sites", "add", shell.site.url("/storage"), "--background")
    codes = [run(shell, "jobs", "cancel", "1"), run(shell, "jobs", "cancel", "1")]
    codes += [run(shell, "jobs", "retry", "1", "--background"), run(shell, "jobs", "show", "1")]
    codes += [run(shell, "jobs")]
    out = capsys.readouterr().out

    assert codes == [0, 0, 0, 0, 0]
    assert "job 1: cancelled" in out
    assert "job 1: waiting" in out
    assert out.count("if there is none, start `citewell worker`") == 3
    assert f"website   {shell.site.url('/storage')}\n" in out
    assert "lease" not in out
    assert run(shell, "jobs", "cancel", "99") == 1
    run(shell, "worker", "--until-idle")
    assert run(shell, "jobs", "retry", "1") == 1
    assert "job 1: done, so it cannot be tried again" in capsys.readouterr().out


def test_a_job_that_is_retried_is_done_without_a_server(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "sites", "add", shell.site.url("/late"))
    still = run(shell, "jobs", "retry", "1")
    shell.site.pages["/late"] = shell.site.pages["/storage"]
    capsys.readouterr()

    assert still == 1
    assert run(shell, "jobs", "retry", "1") == 0
    assert capsys.readouterr().out == "job 1: done\n"
    [website] = run_json(shell, capsys, "sites")["websites"]
    assert website["status"] == "completed"


def test_a_whole_site_is_ingested(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    menu = '<a href="storage">s</a> <a href="mooring">m</a>'
    shell.site.pages["/"] = f"<html><title>Buoy</title><main><h1>Buoy</h1><p>See {menu}</p></main>"

    code = run(shell, "ingest", "--site", shell.site.url("/"), "--exclude", "/mooring")
    out = capsys.readouterr().out

    assert code == 0
    assert out.startswith("completed: Buoy")
    assert "2 pages" in out


def test_pages_of_a_site_that_fail_are_listed_with_advice_and_tried_again_alone(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    pages, url = shell.site.pages, shell.site.url
    names = ("index.html", "closed", "busy")
    pages["/book/sitemap.xml"] = Response(
        body="".join(
            [
                "<urlset>",
                *(f"<url><loc>{url('/book/' + n)}</loc></url>" for n in names),
                "</urlset>",
            ]
        ).encode(),
        headers={"Content-Type": "application/xml"},
    )
    pages["/book/index.html"] = "<title>The book</title><main><p>A book about reeds.</p></main>"
    pages["/book/closed"] = Response(status=403, body=b"no")
    pages["/book/busy"] = Response(status=503, body=b"later")

    code = run(shell, "ingest", "--site", url("/book/"))
    told = capsys.readouterr().out
    pages["/book/busy"] = "<title>Busy</title><main><p>It answers again.</p></main>"
    shell.site.requests.clear()
    again = run_json(shell, capsys, "sites", "refresh", url("/book/"), "--failed")

    assert code == 1
    assert "The book — " in told, "a folder is named by its index"
    assert f"- failed: {url('/book/busy')} answers with status 503\n  try: `citewell sites" in told
    assert f"- failed: {url('/book/closed')} answers with status 403\n  try: The site" in told
    [website] = again["websites"]
    assert [(page["url"], page["kind"]) for page in website["failures"]] == [
        (url("/book/closed"), "refused")
    ]
    assert "/book/index.html" not in shell.site.paths()
    pages["/book/closed"] = "<title>Open</title><main><p>It is open to all now.</p></main>"
    assert run(shell, "sites", "refresh", url("/book/"), "--failed") == 0
    assert run(shell, "sites", "refresh", url("/book/"), "--failed") == 0
    assert "no page failed" in capsys.readouterr().out


def test_pages_that_are_ingested_become_entries_of_the_library(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "ingest", shell.site.url("/storage"), "--tag", "buoy")
    capsys.readouterr()

    [website] = run_json(shell, capsys, "sites")["websites"]

    assert (website["status"], website["tags"], website["source_id"]) == ("completed", ["buoy"], 1)


def test_a_schedule_is_set_and_stopped(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    url = shell.site.url("/storage")

    run(shell, "sites", "add", url, "--every", "12h")
    capsys.readouterr()
    [daily] = run_json(shell, capsys, "sites")["websites"]
    run(shell, "sites", "show", url)
    shown = capsys.readouterr().out
    run(shell, "sites", "add", url, "--every", "never")
    capsys.readouterr()
    [never] = run_json(shell, capsys, "sites")["websites"]

    assert daily["refresh_seconds"] == 43_200
    assert never["refresh_seconds"] is None
    assert "every 12 hours" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("sites", "delete", "7", "--yes"), 1, "there is no website 7"),
        (("sites", "delete"), 2, "required: WEBSITE"),
        (("sites", "refresh"), 2, "needs a website"),
        (("sites", "delte", "7"), 2, "did you mean delete?"),
        (("jobs", "retry"), 2, "required: JOB"),
        (("sites", "add", "nonsense"), 2, "is not a URL"),
        (("sites", "add", "https://a.example/", "--every", "soon"), 2, "is not a duration"),
    ],
    ids=["unknown", "no-site", "nothing", "slip", "no-job", "no-url", "no-duration"],
)
def test_mistakes_are_told_with_an_exit_code(
    shell: Shell,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    assert run(shell, *arguments) == code
    assert message in capsys.readouterr().err


def test_refreshing_what_is_stale_leaves_fresh_websites_alone(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "sites", "add", shell.site.url("/storage"))
    capsys.readouterr()

    assert run(shell, "sites", "refresh", "--stale") == 0
    assert capsys.readouterr().out == "Nothing is stale.\n"


def test_a_page_that_is_gone_is_reported_and_its_copy_kept(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    url = shell.site.url("/storage")
    run(shell, "ingest", url)
    del shell.site.pages["/storage"]
    capsys.readouterr()

    code = run(shell, "ingest", "--force", url)

    said = capsys.readouterr()
    assert code == 1
    assert "is kept; remove the page if it is gone for good" in said.out + said.err


def test_a_list_that_is_empty_for_its_options_says_so(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(shell, "sites", "list", "--status", "failed") == 0
    assert "No websites." in capsys.readouterr().out
    main(["ingest", shell.site.url("/storage"), *shell.options])
    capsys.readouterr()

    assert run(shell, "sites", "list", "--status", "failed") == 0

    assert capsys.readouterr().out == "None of 1 website is listed by these options.\n"


def test_refreshing_a_page_that_is_gone_fails(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.site.pages["/apples"] = "<title>Apples</title><main><p>Apples are red.</p></main>"
    url = shell.site.url("/apples")
    assert run(shell, "sites", "add", url) == 0
    assert run(shell, "sites", "show", url) == 0
    assert "refreshes  not by itself" in capsys.readouterr().out
    del shell.site.pages["/apples"]

    assert run(shell, "sites", "refresh", url) == 1

    assert "gone" in capsys.readouterr().out
