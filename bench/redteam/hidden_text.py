"""Ways of hiding text on a page, and ways of showing it that look like hiding.

`python -m bench.redteam.hidden_text` reads each page as it was sent and as Chromium renders it, and
prints how many hidden sentences reach the text and how many shown ones are lost.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import anyio
from bench.redteam.attempt import Attempt
from bench.redteam.hidden_text_case import Case
from bench.redteam.hidden_text_pages import HIDING, SHOWING
from tests.site import Site, running_site

from citewell.core.errors import FetchError
from citewell.core.records import FetchedPage
from citewell.ingest.extract.extract import extract_page
from citewell.web.fetcher import Fetcher
from citewell.web.render.open import open_renderer
from citewell.web.render.pool import PoolLimits, RenderPool

NAME = "hidden-text"
_MAX_PAGES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What came through of the hidden sentences, and what was lost of the shown ones."""

    tried: int
    leaked: tuple[str, ...]
    shown: int
    lost: tuple[str, ...]


async def attack() -> AsyncIterator[Attempt]:
    """Hide a sentence in every way, on pages as they are sent and as they are rendered."""
    cases = (*HIDING, *SHOWING)
    texts = {
        "as sent": {case.name: read_unrendered(case) for case in cases},
        "rendered": await read_rendered(cases),
    }
    for form, read in texts.items():
        result = score(read)
        for case in cases:
            is_through = case.name in result.leaked
            is_lost = case.name in result.lost
            fault = "reaches the text" if is_through else "what is shown is lost"
            yield Attempt(
                what=f"{form}: {case.name}",
                held=not is_through and not is_lost,
                outcome=fault if is_through or is_lost else "",
            )


def read_unrendered(case: Case) -> str:
    """Return the text that is stored of the page as it was sent."""
    return extract_page(_fetched(case.page)).text


def score(read: dict[str, str]) -> Score:
    """Return the score of texts by the names of their cases."""
    hidden = [case for case in HIDING if case.name in read]
    shown = [case for case in SHOWING if case.name in read]
    return Score(
        tried=len(hidden),
        leaked=tuple(case.name for case in hidden if case.reaches(read[case.name])),
        shown=len(shown),
        lost=tuple(case.name for case in shown if not case.reaches(read[case.name]))
        + tuple(case.name for case in hidden if not case.keeps_the_rest(read[case.name])),
    )


async def read_rendered(cases: tuple[Case, ...]) -> dict[str, str]:
    """Return the texts that are stored of the pages as Chromium renders them."""
    texts: dict[str, str] = {}
    pages = {f"/{number}": case.page for number, case in enumerate(cases)}
    with running_site(pages) as site:
        async with _rendering(site) as renderer:
            limit = anyio.CapacityLimiter(_MAX_PAGES)

            async def read(number: int, case: Case) -> None:
                async with limit:
                    try:
                        page = await renderer.render(site.url(f"/{number}"))
                    except FetchError as error:
                        texts[case.name] = f"({error.message})"
                    else:
                        texts[case.name] = extract_page(page).text

            async with anyio.create_task_group() as tasks:
                for number, case in enumerate(cases):
                    tasks.start_soon(read, number, case)
    return texts


@asynccontextmanager
async def _rendering(site: Site) -> AsyncIterator[RenderPool]:
    async with (
        Fetcher(allowed_private_hosts=(site.host,), host_concurrency=_MAX_PAGES) as fetcher,
        open_renderer(fetcher, PoolLimits(max_pages=_MAX_PAGES)) as renderer,
    ):
        yield renderer


def _fetched(html: str) -> FetchedPage:
    url = "https://birds.example/herons.html"
    return FetchedPage(
        url=url,
        final_url=url,
        status=200,
        kind="html",
        body=html.encode(),
        text=html,
        fetched_at=datetime.now(UTC),
    )


def _print(name: str, result: Score) -> None:
    print(f"{name}: {len(result.leaked)} of {result.tried} hidden texts reach the stored page")
    for case in result.leaked:
        print(f"    leaked: {case}")
    print(f"{name}: {len(result.lost)} of {result.shown} shown texts are lost")
    for case in result.lost:
        print(f"    lost: {case}")


async def main() -> None:
    cases = (*HIDING, *SHOWING)
    _print("as sent", score({case.name: read_unrendered(case) for case in cases}))
    if "--unrendered" not in sys.argv:
        _print("rendered", score(await read_rendered(cases)))


if __name__ == "__main__":
    anyio.run(main)
