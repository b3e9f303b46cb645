"""Tags: given at ingest, kept on refresh, and required by a scope."""

from __future__ import annotations

from tests.site import Request, Response, running_site
from tests.tools.library import OWLS, open_library

KITES = "<html><title>Kites</title><main><h1>Kites</h1><p>The red kite soars.</p></main></html>"
ALLOWED = ("127.0.0.1",)


def kites(request: Request) -> Response:
    """A page that is only sent to those who do not have it."""
    if request.headers.get("If-None-Match") == '"1"':
        return Response(status=304, headers={"ETag": '"1"'})
    headers = {"Content-Type": "text/html; charset=utf-8", "ETag": '"1"'}
    return Response(body=KITES.encode(), headers=headers)


async def test_tags_are_given_at_ingest_and_required_by_a_scope() -> None:
    with running_site({"/kites": kites, "/plain": KITES.replace("red", "black")}) as site:
        async with open_library(OWLS, web_allowed_private_hosts=ALLOWED) as library:
            await library.call("ingest", url=site.url("/kites"), tags=["raptors"])
            await library.call("ingest", url=site.url("/plain"))
            found = await library.call("kb.search", query="kite", scope={"doc_tags": ["raptors"]})

    assert [result["url"] for result in found["results"]] == [site.url("/kites")]
    assert found["results"][0]["doc_tag"] == "raptors"


async def test_a_tag_is_added_to_a_page_that_is_fresh_and_keeps_its_others() -> None:
    with running_site({"/kites": kites}) as site:
        async with open_library(OWLS, web_allowed_private_hosts=ALLOWED) as library:
            for tag in ("raptors", "red"):
                await library.call("ingest", url=site.url("/kites"), tags=[tag])
            await library.call("ingest", url=site.url("/kites"), force=True)
            found = await library.call(
                "kb.search", query="kite", filters={"doc_tag": ["raptors", "red"]}
            )

    assert len(found["results"]) == 1


async def test_the_servers_own_tags_are_given_to_every_page_it_ingests() -> None:
    with running_site({"/kites": kites}) as site:
        async with open_library(
            OWLS, web_allowed_private_hosts=ALLOWED, scope_tags=("field",)
        ) as library:
            await library.call("ingest", url=site.url("/kites"))
            found = await library.call("kb.search", query="kite owl")

    assert [result["title"] for result in found["results"]] == ["Kites"]
