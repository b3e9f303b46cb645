"""Every promise of CitationStore, run once per backend."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.drafts import draft

from citewell.core.citations import Citation, CitationChange, CitationCounts, CitationDraft
from citewell.core.ids import citation_id, content_hash
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)
HERONS = "https://birds.example/herons"
TEXT = "Herons wade. They eat fish."


async def put(store: Store, text: str = TEXT, *, url: str = HERONS) -> int:
    return (await store.put_page(draft(url, text, title="Herons"))).source_id


def quoted(source_id: int, start: int = 0, end: int = 12, **changed: object) -> CitationDraft:
    made = CitationDraft(
        citation_id=citation_id(source_id, content_hash(TEXT), start, end),
        source_id=source_id,
        start=start,
        end=end,
        page_hash=content_hash(TEXT),
        section="Habits",
        quote=TEXT[start:end],
        tool="answer",
        question="Do herons wade?",
        owner="ann",
        project="default",
        user="Ann",
        agent="helper",
        handed_at=NOON,
    )
    return replace(made, **changed)  # type: ignore[arg-type]  # fields by name


async def listed(store: Store, owner: str = "ann", limit: int = 9) -> list[Citation]:
    return await store.citations.list_citations(owner, project="default", limit=limit)


async def judge_all(store: Store, verdict: str, *, text: str) -> list[bool]:
    return [
        await store.citations.judge(
            each,
            verdict,  # type: ignore[arg-type]  # one of the verdicts
            difference="[-wade-]{+stalk+}",
            page_hash=content_hash(text),
            now=NOON,
        )
        for each in await store.citations.list_to_judge(limit=9)
    ]


async def test_a_citation_is_remembered_with_its_page_and_asker(store: Store) -> None:
    page = await put(store)

    await store.citations.remember([quoted(page)])

    assert await listed(store) == [
        Citation(
            citation_id=quoted(page).citation_id,
            source_id=page,
            url=HERONS,
            title="Herons",
            section="Habits",
            start=0,
            end=12,
            quote="Herons wade.",
            tool="answer",
            question="Do herons wade?",
            user="Ann",
            agent="helper",
            times=1,
            handed_at=NOON,
            verdict="exact",
            difference="",
            judged_at=None,
        )
    ]


async def test_the_same_quote_for_the_same_question_is_counted(store: Store) -> None:
    page = await put(store)
    later = NOON + timedelta(hours=1)

    await store.citations.remember([quoted(page)])
    await store.citations.remember([quoted(page, handed_at=later)])
    await store.citations.remember([quoted(page, question="What do herons do?")])

    found = {each.question: (each.times, each.handed_at) for each in await listed(store)}
    assert found == {"Do herons wade?": (2, later), "What do herons do?": (1, NOON)}
    counts = await store.citations.count_citations("ann", project="default")
    assert counts == CitationCounts(by_verdict={"exact": 1})


async def test_what_belongs_to_another_owner_or_project_is_not_there(store: Store) -> None:
    page = await put(store)
    await store.citations.remember([quoted(page), quoted(page, project="other")])

    assert await listed(store, "bob") == []
    of_page = store.citations.citations_of_page
    assert await of_page(page, owner="bob", project="default", limit=9) == []
    assert await of_page(page, owner="ann", project="other", limit=9) == []
    assert len(await of_page(page, owner="ann", project="default", limit=9)) == 1
    assert (await store.citations.count_citations("bob", project="default")).total == 0
    assert await store.citations.forget("bob", project="default") == 0


async def test_the_list_goes_on_where_it_stopped(store: Store) -> None:
    page = await put(store)
    drafts = [
        quoted(page, handed_at=NOON + timedelta(minutes=minute // 2), question=f"{minute}?")
        for minute in range(7)
    ]
    await store.citations.remember(drafts)
    whole = await listed(store)

    pages = [await listed(store, limit=3)]
    while pages[-1]:
        more = await store.citations.list_citations(
            "ann", project="default", limit=3, offset=3 * len(pages)
        )
        pages.append(more)

    assert [each for part in pages for each in part] == whole
    assert [each.handed_at for each in whole] == sorted(
        (each.handed_at for each in drafts), reverse=True
    )


async def test_a_changed_page_has_its_citations_judged_once_for_all_owners(store: Store) -> None:
    page = await put(store)
    await store.citations.remember([quoted(page), quoted(page, owner="bob")])
    assert await store.citations.list_to_judge(limit=9) == []

    new = "Herons stalk. They eat fish."
    await put(store, new)
    counts = await store.citations.count_citations("ann", project="default")
    assert counts == CitationCounts(by_verdict={"exact": 1}, waiting=1)
    assert await judge_all(store, "changed", text=new) == [True]

    assert await store.citations.list_to_judge(limit=9) == []
    for owner in ("ann", "bob"):
        [citation] = await listed(store, owner)
        assert (citation.verdict, citation.judged_at) == ("changed", NOON)
        assert citation.difference == "[-wade-]{+stalk+}"
    changed = await store.citations.list_citations(
        "ann", project="default", limit=9, verdict="changed"
    )
    assert len(changed) == 1
    exact = await store.citations.list_citations("ann", project="default", limit=9, verdict="exact")
    assert exact == []


async def test_a_page_that_changes_while_it_is_judged_is_judged_again(store: Store) -> None:
    page = await put(store)
    await store.citations.remember([quoted(page)])
    await put(store, "Herons stalk.")
    waiting = await store.citations.list_to_judge(limit=9)
    await put(store, "Herons wade. Again.")

    recorded = await store.citations.judge(
        waiting[0], "gone", difference="", page_hash=content_hash("Herons stalk."), now=NOON
    )

    assert not recorded
    assert (await listed(store))[0].verdict == "exact"
    assert await store.citations.list_to_judge(limit=9) == waiting


async def test_each_change_of_a_verdict_is_taken_once(store: Store) -> None:
    page = await put(store)
    await store.citations.remember([quoted(page), quoted(page, owner="bob")])
    new = "Herons stalk."
    await put(store, new)
    await judge_all(store, "changed", text=new)

    change = CitationChange(
        citation_id=quoted(page).citation_id, project="default", url=HERONS, verdict="changed"
    )
    assert await store.citations.take_changes() == [change]
    assert await store.citations.take_changes() == []
    await put(store, "Herons stalk!")
    await judge_all(store, "changed", text="Herons stalk!")
    assert await store.citations.take_changes() == []


async def test_citations_outlive_a_page_that_its_site_removed(store: Store) -> None:
    page = await put(store)
    await store.citations.remember([quoted(page)])

    await store.citations.mark_gone(page, now=NOON)
    await store.delete_page(page)

    [citation] = await listed(store)
    assert (citation.verdict, citation.source_id, citation.quote) == ("gone", None, "Herons wade.")
    assert [each.verdict for each in await store.citations.take_changes()] == ["gone"]
    await put(store)
    await store.citations.attach()
    assert await judge_all(store, "exact", text=TEXT) == [True]
    assert [each.verdict for each in await listed(store)] == ["exact"]


async def test_citations_of_a_kept_copy_are_gone_until_the_site_has_the_page_again(
    store: Store,
) -> None:
    page = await put(store)
    await store.citations.remember([quoted(page)])

    await store.citations.mark_missing(page, now=NOON)
    # The copy can be quoted to others, who should not take it for the page.
    await store.citations.remember([quoted(page, owner="bob")])

    assert [(each.verdict, each.judged_at) for each in await listed(store)] == [("gone", NOON)]
    assert [(each.verdict, each.judged_at) for each in await listed(store, "bob")] == [
        ("gone", NOON)
    ]
    assert await store.citations.list_to_judge(limit=9) == []
    assert (await store.citations.count_citations("ann", project="default")).waiting == 0
    assert [each.verdict for each in await store.citations.take_changes()] == ["gone"]

    assert await store.citations.mark_found(page)
    assert not await store.citations.mark_found(page)
    assert await judge_all(store, "exact", text=TEXT) == [True]
    assert [each.verdict for each in await listed(store) + await listed(store, "bob")] == [
        "exact",
        "exact",
    ]


async def test_deleting_a_page_forgets_its_citations(store: Store) -> None:
    page = await put(store)
    await store.citations.remember([quoted(page)])

    await store.delete_page(page)

    assert await listed(store) == []
    await store.citations.remember([quoted(page)])
    assert await listed(store) == []


async def test_old_and_too_many_citations_are_forgotten(store: Store) -> None:
    page = await put(store)
    drafts = [
        quoted(page, handed_at=NOON + timedelta(days=day), question=f"{day}?") for day in range(5)
    ]
    await store.citations.remember([*drafts, quoted(page, owner="bob")])

    forgotten = await store.citations.forget_before(NOON + timedelta(days=1), most=2)

    assert forgotten == 4
    assert [each.question for each in await listed(store)] == ["4?", "3?"]
    assert await store.citations.forget("ann", project="default") == 2
    assert await listed(store) == []


async def test_citations_are_found_by_a_part_of_question_page_or_quote(store: Store) -> None:
    page = await put(store)
    fish = quoted(page, 13, 27, question="What is eaten?")
    await store.citations.remember([quoted(page), fish])

    async def found(matching: str) -> list[str]:
        listed = await store.citations.list_citations(
            "ann", project="default", limit=9, matching=matching
        )
        return [citation.question for citation in listed]

    assert await found("EATEN") == ["What is eaten?"]
    assert await found("eat fish") == ["What is eaten?"]
    assert len(await found("birds.example")) == 2
    assert await found("stork") == []
