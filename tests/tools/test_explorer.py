"""What the corpus explorer shows: quotes where they stand, pages, links, jobs and usage."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.drafts import draft
from tests.tools.library import ME, Library, open_library

from citewell.core.errors import ScopeViolation
from citewell.core.jobs import JobDraft
from citewell.core.library import WebsiteDraft
from citewell.core.records import Caller
from citewell.tools import explorer
from citewell.tools.registry import Call
from citewell.tools.webapp.ask import count_corpus

pytestmark = pytest.mark.anyio

ANN = Caller(session="s", key_hash="hash-ann", scopes=frozenset({"read", "write"}))
BEN = Caller(session="s", key_hash="hash-ben", scopes=frozenset({"read", "write"}))
ADMIN = Caller(session="s", key_hash="hash-admin")


def seen_by(caller: Caller, library: Library) -> Call:
    return Call(parts=library.parts, caller=caller)


async def test_pages_are_listed_a_part_at_a_time_and_only_of_the_project() -> None:
    secret = draft("https://secret.example/", "Hidden.", title="Secret", project="other")
    pages = [draft(f"https://p.example/{n}", f"Page {n}.", title=f"P{n}") for n in range(51)]
    async with open_library(*pages, secret) as library:
        call = seen_by(ME, library)
        first = await explorer.list_pages(call)
        second = await explorer.list_pages(call, after_source_id=first[-1].info.source_id)
        stats = await count_corpus(call)

    assert (len(first), len(second), stats.pages) == (explorer.PAGES_AT_ONCE, 1, 51)
    assert "Secret" not in {page.info.title for page in first + second}


async def test_jobs_are_shown_with_the_address_they_work_on() -> None:
    now = datetime.now(UTC)
    async with open_library() as library:
        store = library.parts.store
        website, _ = await store.library.add_website(
            WebsiteDraft(url="https://site.example/"), now=now
        )
        drafts = [
            JobDraft(kind="process_website", key=str(website.source_id)),
            JobDraft(kind="process_website", key="7", project="other"),
        ]
        for job in drafts:
            await store.jobs.add_job(job, now=now, run_at=datetime(2100, 1, 1, tzinfo=UTC))
        shown = await explorer.list_jobs(seen_by(ME, library))

    assert [(view.url, view.job.state) for view in shown] == [("https://site.example/", "waiting")]


async def test_a_key_sees_its_own_usage_and_an_admin_all() -> None:
    async with open_library() as library:
        for caller in (ANN, BEN):
            library.parts.access.meter.begin("status", caller).end(outcome="ok", text="heron")
        seen = {
            caller.owner: {
                total.owner for total in await explorer.list_usage(seen_by(caller, library))
            }
            for caller in (ANN, ADMIN)
        }

    assert seen == {"hash-ann": {"hash-ann"}, "hash-admin": {"hash-ann", "hash-ben"}}


async def test_a_key_that_may_not_search_may_not_look() -> None:
    blind = replace(ANN, toolsets=frozenset({"people"}))
    async with open_library() as library:
        call = seen_by(blind, library)
        with pytest.raises(ScopeViolation):
            await explorer.list_pages(call)
