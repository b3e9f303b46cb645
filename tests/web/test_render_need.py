"""When a page is rendered, and what is said of one that cannot be read."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from citewell.core.errors import (
    EmptyPage,
    FetchError,
    FetchTimeout,
    HostUnreachable,
    PageNeedsConsent,
    PageNeedsLogin,
    RenderingUnavailable,
)
from citewell.core.records import FetchedPage
from citewell.web.fetcher import Fetcher
from citewell.web.render.open import open_renderer
from citewell.web.render.pool import PoolLimits
from citewell.web.render.protocol import RenderMode
from citewell.web.render.second_look import SecondLook

pytestmark = pytest.mark.anyio

SHELL = '<div id="root"></div><script src="/app.js"></script>'
SHOWN = "<div id=root><p>Grey herons eat fish.</p></div>"
LOGIN = "<h1>Sign in</h1><form><input name=user><input type=password></form>"
CONSENT = "<div class=overlay>We use cookies. <button>Accept all</button></div>"
LONG_TEXT = "The heron waits in shallow water for fish and frogs. " * 20


def page(html: str, *, url: str = "https://birds.example/") -> FetchedPage:
    return FetchedPage(
        url=url,
        final_url=url,
        status=200,
        kind="html",
        body=html.encode(),
        text=html,
        fetched_at=datetime.now(UTC),
    )


class Showing:
    """A renderer that shows the same HTML for every URL, or fails."""

    def __init__(self, html: str | None) -> None:
        self.html = html
        self.urls: list[str] = []

    async def render(self, url: str, *, wait_for: str = "") -> FetchedPage:
        self.urls.append(url)
        if self.html is None:
            raise FetchTimeout("too slow")
        return replace(page(self.html, url=url), rendered=True)


async def paragraphs(fetched: FetchedPage) -> str:
    """Read the text of the <p> elements, as extraction would read the main content."""
    found = [part.partition("</p>")[0] for part in fetched.text.split("<p>")[1:]]
    if not found:
        raise EmptyPage("nothing to read")
    return "\n".join(found)


async def look(
    html: str,
    showing: Showing | None,
    *,
    mode: RenderMode = "auto",
    url: str = "https://birds.example/",
) -> tuple[str, bool]:
    """Return the text of the page and whether it is the rendered one."""
    fetched, text = await SecondLook(showing, mode=mode).read(
        page(html, url=url), paragraphs, text_of=lambda text: text
    )
    return text, fetched.rendered


@pytest.mark.parametrize(
    "html",
    [
        SHELL,
        f"<p>Loading…</p>{SHELL}",
        "<div id=app><p>Please wait</p></div><script></script>",
        "<p>Birds</p><noscript>You need to enable JavaScript to run this app.</noscript><script></script>",
        "<p>Birds</p><app-root></app-root><script></script>",
        f"<p>{LONG_TEXT}</p><ul id=birds>\n</ul><script src=/app.js></script>",
        f"<p>{LONG_TEXT}</p><table><tbody class=rows></tbody></table><script></script>",
        f"<p>{LONG_TEXT}</p><p>Loading birds...</p><script></script>",
        f"<p>{LONG_TEXT}</p><p>Connecting…</p><script></script>",
        f"<p>{LONG_TEXT}</p><div id=birds aria-busy=true></div><script></script>",
        f"<p>{LONG_TEXT}</p><div class='card skeleton'></div><script></script>",
        "<p>JavaScript is disabled. Please enable it to see the birds.</p><script></script>",
        "<p>Birds</p><ul class=birds></ul><script></script>",
        "<p>Birds</p><iframe title=x src=/birds.html></iframe>",
        "<p>Birds</p><div></div><script>fetch('/b').then(r => r.text()).then(t => box.innerHTML = t)</script>",
        f"<p>{LONG_TEXT}</p><bird-card><template shadowrootmode=open><p>x</p></template></bird-card>",
        "<h1>Birds</h1><div id=list></div><script>setTimeout(() => list.append('Herons'))</script>",
    ],
    ids=[
        "empty",
        "loading",
        "waiting",
        "noscript",
        "angular",
        "list",
        "rows",
        "part",
        "connecting",
        "busy",
        "skeleton",
        "off",
        "short list",
        "frame",
        "box",
        "shadow",
        "box of a script",
    ],
)
async def test_a_shell_is_rendered(html: str) -> None:
    assert await look(html, Showing(SHOWN)) == ("Grey herons eat fish.", True)


@pytest.mark.parametrize(
    "html",
    [
        f"<p>{LONG_TEXT}</p>{SHELL}",
        "<p>A short page with a counter.</p><script>count()</script>",
        "<p>No scripts.</p><div id=app></div>",
        f"<p>{LONG_TEXT}</p><iframe src=/advertisement></iframe><script></script>",
        f"<p>{LONG_TEXT}</p><ul><li>one</ul><script></script>",
        "<p>Loading a heron into a car needs two people.</p><script></script>",
        "<p>Class Heron</p><noscript>JavaScript is disabled on your browser.</noscript><script></script>",
        f"<p>{LONG_TEXT}</p><ul class=simple>\n</ul><script></script>",
        "<p>Class Heron</p><iframe src='javascript:void(0)' name=results></iframe><script></script>",
        "<p>Class Heron</p><iframe id=nav src=classes.html></iframe><script></script>",
        "<p>Class Heron</p><script>fetch('/seen')</script><script>box.innerHTML = 1</script>",
        "<p>Class Heron</p><div id=box></div><script>seen(1); head.append(style)</script>",
    ],
    ids=[
        "long",
        "short",
        "static",
        "small frame",
        "full list",
        "sentence",
        "notice",
        "empty list of a generator",
        "frame of a script",
        "frame of a menu",
        "counter",
        "box of another script",
    ],
)
async def test_a_page_with_its_text_is_not(html: str) -> None:
    showing = Showing(SHOWN)

    text, rendered = await look(html, showing)

    assert (rendered, showing.urls) == (False, [])
    assert text in html


async def test_a_route_is_rendered_even_where_the_page_has_text() -> None:
    url = "https://birds.example/#/herons"
    html = f"<p>{LONG_TEXT}</p><script></script>"

    assert await look(html, Showing(SHOWN), url=url) == ("Grey herons eat fish.", True)
    with pytest.raises(FetchTimeout):
        await look(html, Showing(None), url=url)


async def test_never_and_always_are_obeyed() -> None:
    with pytest.raises(EmptyPage):
        await look(SHELL, Showing(SHOWN), mode="never")

    assert await look(f"<p>{LONG_TEXT}</p>", Showing(SHOWN), mode="always") == (
        "Grey herons eat fish.",
        True,
    )


async def test_the_page_as_sent_is_kept_when_rendering_fails_and_it_has_text() -> None:
    assert await look(f"<p>Loading…</p>{SHELL}", Showing(None)) == ("Loading…", False)
    kept, _ = await SecondLook(Showing(None)).read(
        page(f"<p>Loading…</p>{SHELL}"), paragraphs, text_of=str
    )
    assert kept.incomplete == "its scripts were not run (too slow)"
    with pytest.raises(FetchTimeout):
        await look(SHELL, Showing(None))


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (FetchTimeout("https://birds.example/obey'me was not rendered"), "it was not rendered"),
        (
            FetchTimeout("https://other.example/obey was too slow"),
            "the browser could not show it",
        ),
        (
            HostUnreachable("cannot connect to obey.example", host="obey.example"),
            "the browser could not show it",
        ),
    ],
)
async def test_the_reason_for_reading_a_page_as_sent_quotes_no_site(
    error: FetchError, reason: str
) -> None:
    class Failing:
        async def render(self, url: str, *, wait_for: str = "") -> FetchedPage:
            raise error

    sent = replace(page(f"<p>Loading…</p>{SHELL}"), final_url="https://birds.example/obey'me")
    kept, _ = await SecondLook(Failing()).read(sent, paragraphs, text_of=str)

    assert kept.incomplete == f"its scripts were not run ({reason})"


@pytest.mark.parametrize("shown", [LOGIN, f"<p>Welcome</p>{LOGIN}"], ids=["form", "greeting"])
async def test_a_page_behind_a_login_says_so(shown: str) -> None:
    with pytest.raises(PageNeedsLogin):
        await look(shown, None)
    with pytest.raises(PageNeedsLogin):
        await look(SHELL, Showing(shown))


async def test_a_page_behind_a_consent_dialog_says_so() -> None:
    with pytest.raises(PageNeedsConsent):
        await look(CONSENT, None)
    with pytest.raises(PageNeedsConsent):
        await look(SHELL, Showing(f"<p>Your consent, please.</p>{CONSENT}"))


async def test_a_page_with_its_text_may_have_a_login_form_and_a_cookie_banner() -> None:
    text, _ = await look(f"<p>{LONG_TEXT}</p>{LOGIN}{CONSENT}", None)
    short, _ = await look(f"<p>Herons eat fish.</p>{CONSENT}", None)

    assert text == LONG_TEXT
    assert short == "Herons eat fish."


async def test_without_a_renderer_a_shell_says_what_is_missing() -> None:
    missing = RenderingUnavailable("no Chromium is installed", suggestion="Install Chromium.")

    with pytest.raises(RenderingUnavailable) as failure:
        await SecondLook(unavailable=missing).read(page(SHELL), paragraphs, text_of=str)

    assert failure.value.message == (
        "https://birds.example/ has to be rendered, but no Chromium is installed"
    )
    assert failure.value.suggestion == "Install Chromium."


async def test_a_browser_that_is_not_there_is_named() -> None:
    async with Fetcher() as fetcher:
        with pytest.raises(RenderingUnavailable) as failure:
            open_renderer(fetcher, PoolLimits(), browser_path="/nowhere/chromium")

    assert failure.value.message == "there is no browser at /nowhere/chromium"
    assert "CITEWELL_RENDER_BROWSER_PATH" in failure.value.suggestion


def test_without_playwright_it_says_what_to_install() -> None:
    program = """
import sys
sys.modules["playwright"] = None
from citewell.core.errors import RenderingUnavailable
from citewell.web.fetcher import Fetcher
from citewell.web.render.open import open_renderer
from citewell.web.render.pool import PoolLimits
try:
    open_renderer(Fetcher(), PoolLimits(), browser_path=sys.executable)
except RenderingUnavailable as error:
    print(error.message, "|", error.suggestion)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stdout.strip() == (
        "Playwright is not installed | Install it: pip install 'citewell[render]' "
        "(from a checkout: pip install '.[render]')."
    )
