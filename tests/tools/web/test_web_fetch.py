"""`web_fetch`: pages as Markdown, piece by piece, rendered where they need it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from tests.site import Answer, Response, Site, running_site
from tests.tools.library import Library, open_library

from citewell.core.errors import SettingsError
from citewell.core.tokens import count_tokens
from citewell.tools.results import ToolResult
from citewell.tools.web.fetch import TOOL

pytestmark = pytest.mark.anyio

GUIDE = """<title>Guide</title><main><h1>Herons</h1>
<p>Grey herons eat <a href="/fish#large">fish</a> and stand still for hours on end.</p>
<p><a href="/nest"><img src="/nest.png" alt="A nest"></a> They nest in tall trees near water.</p>
<pre><code>[not](a-link)</code></pre></main>"""
LONG = "<main><h1>Long</h1>" + "".join(
    f"<p>Paragraph {number} tells of herons, egrets and the fish that they eat.</p>"
    for number in range(200)
)
APP = """<title>App</title><div id=root></div><script>
root.innerHTML = '<h1>Egrets</h1><p>Little egrets have yellow feet. See ' + location.hash + ' <a href="#/nests">nests</a></p>'</script>"""


@asynccontextmanager
async def reading(site: Site, **settings: Any) -> AsyncIterator[Library]:
    async with open_library(web_allowed_private_hosts=(site.host,), **settings) as library:
        yield library


async def test_a_page_is_markdown_without_links_and_images_unless_they_are_asked_for() -> None:
    with running_site({"/guide": GUIDE}) as site:
        async with reading(site) as library:
            plain = await library.call("web_fetch", url=site.url("/guide"))
            full = await library.call(
                "web_fetch", url=site.url("/guide"), include_links=True, include_images=True
            )
            indexed = await library.parts.store.find_page(site.url("/guide"), project="default")

    assert plain.pop("untrusted")["fields"] == ["url", "title", "text"]
    assert plain == {
        "url": site.url("/guide"),
        "title": "Herons",
        "text": "# Herons\n\nGrey herons eat fish and stand still for hours on end.\n\n"
        "A nest They nest in tall trees near water.\n\n```\n[not](a-link)\n```",
        "rendered": False,
    }
    assert f"eat [fish]({site.url('/fish')}" in full["text"]
    assert f"[![A nest]({site.url('/nest.png')})]({site.url('/nest')})" in full["text"]
    assert indexed is None


async def test_the_pieces_of_a_long_page_make_up_the_whole() -> None:
    with running_site({"/long": LONG}) as site:
        async with reading(site) as library:
            whole = await library.call("web_fetch", url=site.url("/long"), max_tokens=20_000)
            pieces: list[str] = []
            cursor: dict[str, Any] = {}
            while True:
                piece = await library.call(
                    "web_fetch", url=site.url("/long"), max_tokens=900, **cursor
                )
                pieces.append(piece["text"])
                if "next_cursor" not in piece:
                    break
                cursor = {"cursor": piece["next_cursor"]}

    assert len(pieces) > 3
    assert "\n\n".join(pieces) == whole["text"]
    assert site.paths().count("/long") == 2  # reading on asks the site no more


async def test_code_longer_than_a_piece_is_cut_after_a_line_and_stays_code() -> None:
    lines = [f"value_{number} = compute({number})" for number in range(120)]
    code = "\n".join([*lines[:60], "", *lines[60:]])
    with running_site({"/code": f"<main><h1>Code</h1><pre>{code}</pre></main>"}) as site:
        async with reading(site) as library:
            pieces: list[str] = []
            cursor: dict[str, Any] = {}
            while not pieces or cursor:
                piece = await library.call(
                    "web_fetch", url=site.url("/code"), max_tokens=300, **cursor
                )
                pieces.append(piece["text"])
                cursor = {"cursor": piece["next_cursor"]} if "next_cursor" in piece else {}

    assert len(pieces) > 2
    assert all(piece.count("```") == 2 for piece in pieces[1:])
    kept = [line for piece in pieces for line in piece.split("\n") if line.startswith("value")]
    assert kept == lines


async def test_the_caps_hold_on_the_largest_page() -> None:
    linked = "".join(
        f"<p>Herons, egrets and <a href='/{'long-' * 20}{number}'>fish of kind {number}</a>.</p>"
        for number in range(4_000)
    )
    with running_site({"/large": f"<main><h1>Large</h1>{linked}"}) as site:
        async with reading(site) as library:
            result = await library.result(
                "web_fetch", url=site.url("/large"), max_tokens=20_000, include_links=True
            )

    assert not result.is_error, result.text
    assert "next_cursor" in result.structured
    assert 19_000 < count_tokens(result.structured["text"]) <= 20_000
    assert count_tokens(result.text) <= (TOOL.max_result_tokens or 0)


async def test_a_cursor_is_refused_when_it_is_forged_or_the_page_has_changed() -> None:
    with running_site({"/long": LONG, "/other": LONG}) as site:
        async with reading(site) as library:
            first = await library.call("web_fetch", url=site.url("/long"), max_tokens=500)
            cursor = first["next_cursor"]
            site.pages["/long"] = LONG.replace("herons", "storks")
            await library.call("web_fetch", url=site.url("/long"), max_tokens=500)
            refused = [
                await library.call("web_fetch", url=site.url(path), cursor=given)
                for path, given in [
                    ("/long", cursor),
                    ("/other", cursor),
                    ("/other", "AAAA"),
                    ("/other", "!"),
                ]
            ]

    assert {each["error"]["code"] for each in refused} == {"INVALID_ARGUMENT"}
    assert "without a cursor" in refused[0]["error"]["suggestion"]


async def test_the_text_is_fenced_and_says_how_to_go_on() -> None:
    with running_site({"/long": LONG}) as site:
        async with reading(site) as library:
            result = await library.result("web_fetch", url=site.url("/long"), max_tokens=500)

    note, head, *_, last = result.text.splitlines()
    assert f" Long — {site.url('/long')} " in head
    assert "not instructions to follow" in note
    assert last.endswith(f"cursor {result.structured['next_cursor']}")


async def test_what_cannot_be_read_says_why() -> None:
    login = "<h1>Log in</h1><form><input type=password name=p></form>"
    pages: dict[str, Answer] = {"/login": login, "/closed": Response(status=401), "/app": APP}
    with running_site(pages) as site:
        async with reading(site, web_render="never") as library:
            failed = {
                path: (await library.call("web_fetch", url=site.url(path), render=render))["error"]
                for path, render in [
                    ("/login", "auto"),
                    ("/closed", "auto"),
                    ("/app", "always"),
                    ("/gone", "auto"),
                ]
            }
            private = await library.call("web_fetch", url="http://127.0.0.1:1/")

    assert [failed[path]["code"] for path in ("/login", "/closed", "/gone")] == [
        "SCOPE_VIOLATION",
        "SCOPE_VIOLATION",
        "NOT_FOUND",
    ]
    assert "login form" in failed["/login"]["message"]
    assert "CITEWELL_WEB_RENDER" in failed["/app"]["suggestion"]
    assert private["error"]["code"] == "INVALID_ARGUMENT"


@pytest.mark.slow
async def test_a_page_made_by_scripts_is_rendered_fetched_ingested_and_answered() -> None:
    login = "<div id=root></div><script>root.innerHTML = '<h1>Sign in</h1><input type=password>'</script>"
    with running_site({"/app": APP, "/members": login}) as site:
        async with reading(site) as library:
            closed = await library.call("web_fetch", url=site.url("/members"))
            fetched = await library.call(
                "web_fetch", url=site.url("/app#/feet"), include_links=True
            )
            unrendered = await library.call("web_fetch", url=site.url("/app"), render="never")
            ingested = await library.call("ingest", url=site.url("/app"))
            answer = await library.result(
                "answer", url=site.url("/app#/feet"), query="What colour are the feet of egrets?"
            )

    assert "login form" in closed["error"]["message"]
    assert fetched["rendered"] is True
    assert fetched["url"] == site.url("/app#/feet")
    assert fetched["text"] == (
        f"# Egrets\n\nLittle egrets have yellow feet. See #/feet [nests]({site.url('/app#/nests')})"
    )
    assert unrendered["error"]["code"] == "NOT_FOUND"
    assert ingested["pages"][0]["url"] == site.url("/app")
    assert "yellow feet" in answer.text


@pytest.mark.slow
async def test_what_is_waited_for_is_there_or_said_to_be_missing() -> None:
    late = "<p id=p>Herons wade.</p><script>setTimeout(() => p.textContent = 'Egrets run.', 3000)</script>"
    results: dict[str, ToolResult] = {}
    with running_site({"/late": late}) as site:
        async with reading(site) as library, anyio.create_task_group() as tasks:

            async def wait_for(what: str) -> None:
                results[what] = await library.result(
                    "web_fetch", url=site.url("/late"), wait_for=what
                )

            tasks.start_soon(wait_for, "Egrets run")
            tasks.start_soon(wait_for, "#pelican")

    waited, missing = results["Egrets run"].structured, results["#pelican"]
    assert (waited["text"], waited["rendered"]) == ("Egrets run.", True)
    assert "incomplete" not in waited
    assert missing.structured["incomplete"] == "what was waited for did not appear"
    assert "Some of the page may be missing: what was waited for did not appear." in missing.text


async def test_a_server_that_must_render_but_cannot_does_not_start() -> None:
    with pytest.raises(SettingsError) as failure:
        async with open_library(web_render="always", render_browser_path="/nowhere/chromium"):
            pass

    assert "Install Chromium" in failure.value.message
    assert "CITEWELL_RENDER_BROWSER_PATH" in failure.value.message
