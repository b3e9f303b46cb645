"""Processing, watching, refreshing, listing and deleting websites, as seed B's contract has it."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest
from tests.events.webhook import running_webhook
from tests.site import Response
from tests.tools.websites.jobs_site import BACKEND, PAGES, open_websites

pytestmark = pytest.mark.anyio


async def test_a_job_posting_is_processed_with_its_fields() -> None:
    async with open_websites() as websites:
        processed = await websites.process("/backend", content_type="job_posting")
        status = await websites.call("rag_get_website_status", source_id=processed["source_id"])

    assert processed["status"] == "completed"
    assert processed["is_cached"] is False
    assert processed["chunks_created"] >= 3
    assert processed["language"] == "en"
    assert isinstance(processed["processing_time_ms"], int)
    assert status["processing_status"] == "completed"
    assert status["chunks_created"] == processed["chunks_created"]
    assert status["fetch_timestamp"].endswith("+00:00")
    values = {name: [each["value"] for each in held] for name, held in status["fields"].items()}
    assert values == {
        "company": ["Acme"],
        "role": ["Backend Engineer"],
        "location": ["Tokyo, Japan"],
        "employment_type": ["full-time"],
        "requirements": ["Five years of Python", "Knowledge of SQL databases"],
        "benefits": ["Health insurance"],
    }


async def test_a_processed_url_comes_from_the_cache() -> None:
    async with open_websites() as websites:
        first = await websites.process("/article", content_type="blog_article")
        again = await websites.process("/article")
        fetched = websites.site.paths().count("/article")
        forced = await websites.process("/article", force_refresh=True)
        listed = await websites.call("rag_list_websites")

    assert again["is_cached"] is True
    assert again["source_id"] == first["source_id"] == forced["source_id"]
    assert fetched == 1
    assert forced["is_cached"] is False
    assert listed["websites"][0]["content_type"] == "blog_article"


async def test_an_invalid_url_is_refused_with_what_to_do() -> None:
    async with open_websites() as websites:
        result = await websites.result("rag_process_website", url="not-a-url")

    assert result.is_error
    assert result.structured["error"]["type"] == "DataValidationError"
    assert result.structured["error"]["suggestion"] == "Please provide a valid HTTP/HTTPS URL"


async def test_a_page_that_is_gone_is_a_fetch_error_with_details() -> None:
    async with open_websites() as websites:
        error = (await websites.process("/gone"))["error"]
        listed = await websites.call("rag_list_websites", status="failed")

    assert error["type"] == "URLFetchError"
    assert error["details"] == {
        "url": websites.site.url("/gone"),
        "status_code": 404,
        "timeout_seconds": None,
    }
    assert error["suggestion"]
    assert [website["processing_status"] for website in listed["websites"]] == ["failed"]
    assert listed["websites"][0]["error_message"]


async def test_a_site_goes_on_in_the_background_and_tells_how_far_it_is() -> None:
    pages = {
        "/sitemap.xml": Response(
            body=b"<urlset><url><loc>{base}/backend</loc></url><url><loc>{base}/frontend</loc>"
            b"</url></urlset>",
            headers={"Content-Type": "application/xml"},
        ),
        **PAGES,
        "/": "<main><p>All the positions that are open with us at the moment.</p></main>",
    }
    async with open_websites(pages, jobs_patience_seconds=0.0) as websites:
        sitemap = pages["/sitemap.xml"]
        assert isinstance(sitemap, Response)
        base = websites.site.url("").rstrip("/").encode()
        websites.site.pages["/sitemap.xml"] = Response(
            body=sitemap.body.replace(b"{base}", base), headers=sitemap.headers
        )
        begun = await websites.process("/", mode="sitemap", max_pages=10)
        status = await websites.finished(begun["source_id"])
        found = await websites.ask("TypeScript", source_ids=[begun["source_id"]])

    assert begun["status"] == "processing"
    assert "rag_get_website_status" in begun["message"]
    assert status["processing_status"] == "completed"
    assert status["pages"] >= 2
    assert found["results"][0]["source_url"] == websites.site.url("/frontend")


async def test_a_slow_page_goes_on_in_the_background(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    slow = Response(body=BACKEND.encode(), headers={"Content-Type": "text/html"}, wait_seconds=0.6)
    async with open_websites(
        {"/slow": slow}, events=(str(log),), jobs_patience_seconds=0.1
    ) as websites:
        begun = await websites.process("/slow")
        midway = await websites.call("rag_get_website_status", source_id=begun["source_id"])
        await websites.finished(begun["source_id"])

    assert begun["status"] == "processing"
    assert begun["chunks_created"] == 0
    assert midway["progress"]["stage"] in ("queued", "fetching")
    told = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [event["event"] for event in told] == [
        "WebsiteProcessingStart",
        "WebsiteProcessingComplete",
    ]
    assert {event["tool_name"] for event in told} == {"rag_process_website"}
    assert told[1]["source_id"] == begun["source_id"]
    assert told[1]["chunks_created"] > 0


async def test_websites_are_listed_filtered_and_paged() -> None:
    async with open_websites() as websites:
        for path, content_type in (
            ("/backend", "job_posting"),
            ("/frontend", "job_posting"),
            ("/article", "blog_article"),
        ):
            await websites.process(path, content_type=content_type)
        postings = await websites.call(
            "rag_list_websites", content_type="job_posting", order_by="url", order="ASC"
        )
        page = await websites.call("rag_list_websites", limit=2, order_by="url", order="ASC")
        rest = await websites.call(
            "rag_list_websites", limit=2, offset=2, order_by="url", order="ASC"
        )

    paths = [website["url"].rpartition("/")[2] for website in postings["websites"]]
    assert paths == ["backend", "frontend"]
    assert postings["total_count"] == 2
    assert (page["has_more"], rest["has_more"]) == (True, False)
    assert len(page["websites"]) == 2
    assert [website["title"] for website in rest["websites"]] == ["Frontend Engineer at Heron"]
    assert not rest["websites"][0]["is_stale"]


async def test_a_website_fetched_long_ago_is_stale() -> None:
    async with open_websites(page_stale_days=0.0) as websites:
        await websites.process("/backend")
        listed = await websites.call("rag_list_websites")

    assert listed["websites"][0]["is_stale"] is True


async def test_a_refresh_says_which_sections_changed() -> None:
    async with open_websites() as websites:
        source_id = (await websites.process("/backend"))["source_id"]
        same = await websites.call("rag_refresh_website", source_id=source_id)
        websites.site.pages["/backend"] = BACKEND.replace("Health insurance", "Free lunch")
        changed = await websites.call("rag_refresh_website", source_id=source_id)
        found = await websites.ask("free lunch")

    assert same["status"] == changed["status"] == "completed"
    assert (same["old_chunks_deleted"], same["new_chunks_created"]) == (0, 0)
    assert (changed["old_chunks_deleted"], changed["new_chunks_created"]) == (1, 1)
    assert changed["changes"] == [
        {
            "kind": "edited",
            "url": websites.site.url("/backend"),
            "section": "Backend Engineer at Acme › Benefits",
        }
    ]
    assert "Free lunch" in found["results"][0]["content"]


async def test_a_refresh_that_will_be_tried_again_is_not_called_in_progress() -> None:
    pages = dict(PAGES)
    async with open_websites(pages) as websites:
        source_id = (await websites.process("/article"))["source_id"]
        websites.site.pages["/article"] = Response(status=503)
        refreshed = await websites.call("rag_refresh_website", source_id=source_id)
        status = await websites.call("rag_get_website_status", source_id=source_id)

    assert refreshed["status"] == "failed"
    assert "kept" in refreshed["message"]
    assert refreshed["error_message"]
    assert "In progress" not in status["message"]


async def test_a_failed_refresh_keeps_the_page_and_says_so() -> None:
    async with open_websites() as websites:
        source_id = (await websites.process("/backend"))["source_id"]
        websites.site.pages["/backend"] = Response(status=403)
        refreshed = await websites.call("rag_refresh_website", source_id=source_id)
        found = await websites.ask("Python")

    assert refreshed["status"] == "failed"
    assert "kept" in refreshed["message"]
    assert found["results"]


async def test_a_deleted_website_is_gone() -> None:
    async with open_websites() as websites:
        processed = await websites.process("/backend")
        deleted = await websites.call("rag_delete_website", source_id=processed["source_id"])
        found = await websites.ask("Python")

    assert deleted.pop("untrusted")["fields"] == ["url"]
    assert deleted == {
        "source_id": processed["source_id"],
        "url": websites.site.url("/backend"),
        "chunks_deleted": processed["chunks_created"],
        "message": "Deleted successfully",
    }
    assert found["results"] == []
    assert found["confidence_level"] == "low"


@pytest.mark.parametrize(
    "tool", ["rag_get_website_status", "rag_refresh_website", "rag_delete_website"]
)
async def test_an_unknown_source_id_is_not_found(tool: str) -> None:
    async with open_websites() as websites:
        error = (await websites.call(tool, source_id=99))["error"]

    assert error["type"] == "NotFoundError"
    assert error["details"] == {"source_id": 99}
    assert "rag_list_websites" in error["suggestion"]


async def test_a_webhook_that_hangs_delays_no_tool() -> None:
    async with (
        running_webhook(answer=None) as webhook,
        open_websites(events=(webhook.url,)) as websites,
    ):
        with anyio.fail_after(60):
            processed = await websites.process("/backend")
            found = await websites.ask("Python")
            await webhook.reached.wait()

    assert processed["status"] == "completed"
    assert found["results"]
    assert webhook.bodies[0]["event"] == "WebsiteProcessingStart"
