"""Pages of an older extractor, read again in the background after an upgrade."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.drafts import FETCHED_AT, draft
from tests.jobs.shelves import open_shelf
from tests.postgres import empty_library
from tests.site import running_site
from tests.stored import html_response

from citewell.core.jobs import JobDraft
from citewell.ingest.extract.version import EXTRACTOR_VERSION
from citewell.store.open import open_store

pytestmark = pytest.mark.anyio

URL = "https://birds.example/herons"
RESPONSE = html_response(
    URL, "<main><h1>Herons</h1><p>Herons wade.</p><p>They eat fish.</p></main>"
)


async def put_old_page(address: str) -> int:
    store = await open_store(address, model="hashing")
    put = await store.put_page(replace(draft(URL, "Herons wade."), response=RESPONSE, extractor=0))
    await store.aclose()
    return put.source_id


async def test_a_process_that_polls_reads_outdated_pages_again_and_notes_what_changed() -> None:
    with empty_library() as address, running_site({}) as site:
        source_id = await put_old_page(address)

        async with open_shelf(site, address=address) as shelf:
            await shelf.library.run_until_idle()

            page = await shelf.store.get_page(source_id)
            jobs = await shelf.store.jobs.list_jobs()

    assert page is not None
    assert "They eat fish." in page.text
    assert page.info.extractor == EXTRACTOR_VERSION
    assert [(job.kind, job.state) for job in jobs] == [("reread_pages", "done")]
    result = json.loads(jobs[0].result or "{}")
    assert (result["read"], result["report"]["changed"]) == (1, 1)
    assert result["report"]["pages"][0]["url"] == URL
    assert site.requests == []


async def test_a_command_leaves_outdated_pages_alone() -> None:
    with (
        empty_library() as address,
        running_site({"/": "<p>Egrets.</p>"}) as site,
    ):
        source_id = await put_old_page(address)

        async with open_shelf(site, address=address, polls=False) as shelf:
            await shelf.ingester.ingest(site.url("/"), project="default")
            page = await shelf.store.get_page(source_id)
            jobs = await shelf.store.jobs.list_jobs()

    assert page is not None
    assert (page.text, page.info.extractor, jobs) == ("Herons wade.", 0, [])


async def test_the_rereading_can_be_cancelled() -> None:
    with running_site({}) as site:
        async with open_shelf(site, polls=False) as shelf:
            rereading = JobDraft(kind="reread_pages", key="extractor 1")
            job, _ = await shelf.store.jobs.add_job(rereading, now=FETCHED_AT)

            cancelled = await shelf.library.cancel_job(job.job_id, project="default")

            assert cancelled.state == "cancelled"
