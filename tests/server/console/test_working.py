"""What the pages of the consoles show while people work with them, without a browser."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from tests.server.console.serving import DIRECTIVES, console, form_token
from tests.server.shelf import Shelf
from tests.server.tiny import serving

from citewell.core.jobs import JobDraft, JobProgress
from citewell.store.open import open_store

pytestmark = pytest.mark.anyio


async def test_the_bar_shows_how_far_the_step_is_that_is_named_beside_it(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    progress = JobProgress(
        stage="embedding",
        pages_done=68,
        pages_total=68,
        chunks=1438,
        chunks_done=128,
        percent=82,
        message="128 of 1,438 chunks embedded",
    )
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    store = await open_store(shelf.settings.database_url)
    await store.jobs.add_job(JobDraft(kind="process_website", key="1"), now=now)
    job = await store.jobs.take_job("test", now=now, lease_seconds=3600)
    assert job is not None
    await store.jobs.heartbeat(
        job.job_id, lease=job.lease, now=now, lease_seconds=3600, progress=progress
    )
    await store.aclose()
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        work = (await http.get("/library/work")).text

    assert '<progress max="100" value="8"' in work
    assert "128 of 1,438 chunks embedded" in work


async def test_an_address_that_cannot_be_read_stays_in_its_form() -> None:
    async with console() as http:
        form = {"form_token": form_token((await http.get("/library")).text)}
        filled = {"url": "http://127.0.0.1:9/x", "kind": "site", "tags": "birds", **form}
        preview = await http.post("/library/preview", data=filled)

    assert preview.status_code >= 400
    assert 'class="error field-problem"' in preview.text
    assert ['value="http://127.0.0.1:9/x"' in preview.text, 'value="birds"' in preview.text] == [
        True,
        True,
    ]
    assert '<input type="radio" name="kind" value="site" checked>' in preview.text


async def test_everything_is_deleted_after_a_second_click_without_scripts_too() -> None:
    async with console() as http:
        page = (await http.get(DIRECTIVES)).text

    asked = page.partition("Delete waiting and delivered…</summary>")[2]
    assert f'action="{DIRECTIVES}/deleted"' in asked.partition("</details>")[0]
    assert page.count(f'action="{DIRECTIVES}/deleted"') == 1


async def test_a_reload_of_an_answer_cites_nothing_again() -> None:
    asked = {"q": "What does the grey heron eat?"}
    stream = {"Accept": "text/event-stream"}
    async with console() as http:
        form = {"form_token": form_token((await http.get("/library")).text), **asked}
        await http.post("/ask", data=form, headers=stream)
        for _ in range(2):
            await http.get("/", params=asked)
        reloaded = (await http.get("/citations")).text
        await http.post("/ask", data=form, headers=stream)
        asked_again = (await http.get("/citations")).text

    assert "quote-card" in reloaded
    assert " times)" not in reloaded
    assert "(2 times)" in asked_again


async def test_a_page_that_cannot_be_asked_says_why_in_sentences() -> None:
    asked = {"q": "What does the grey heron eat?"}
    urls = "https://birds.example/herons http://127.0.0.1:9/x"
    async with console() as http:
        form = {"form_token": form_token((await http.get("/library")).text), **asked}
        answer = (await http.post("/ask", data={**form, "urls": urls})).text

    assert "127.0.0.1 is a private or reserved address. Only public" in answer
