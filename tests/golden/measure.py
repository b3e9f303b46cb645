"""Measures the golden questions through the tools, as a model would call them."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.site import Response, Site, running_site

from citewell.app.open import App, open_app
from citewell.app.parts import Parts
from citewell.core.records import Caller
from citewell.core.settings import Settings
from citewell.tools.catalog import open_registry
from citewell.tools.registry import Registry

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
QUESTIONS = Path(__file__).parent / "questions.json"
TYPES = {".html": "text/html; charset=utf-8", ".md": "text/markdown; charset=utf-8"}
ME = Caller(session="golden")
MAX_CALLS = 5
"""Calls after which a reader gives up."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Golden:
    """A question, the page that answers it and the sentence that does."""

    question: str
    page: str
    sentence: str

    @property
    def is_japanese(self) -> bool:
        return any("\u3040" <= letter <= "\u9fff" for letter in self.question)

    def is_answered_by(self, texts: Sequence[str]) -> bool:
        """Return whether one of the texts holds the sentence, wherever its lines break."""
        sentence = _on_one_line(self.sentence)
        return any(sentence in _on_one_line(text) for text in texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the tools returned for one question."""

    golden: Golden
    on_page: bool
    """Whether the page's canonical text has the sentence, letter for letter."""
    evidence_top: bool
    evidence_answers: bool
    evidence_bytes: int
    preview_answers: bool
    preview_bytes: int
    search_top: bool
    search_answers: bool
    search_bytes: int
    calls: int
    """Of kb tools until the sentence was seen; MAX_CALLS + 1 when it never was."""


def load_questions() -> list[Golden]:
    return [Golden(**each) for each in json.loads(QUESTIONS.read_text(encoding="utf-8"))]


def example_pages() -> dict[str, Response]:
    """The example site and the example docs as one site: /site/… and /docs/…."""
    files = [path for path in sorted(EXAMPLES.rglob("*")) if path.suffix in TYPES]
    return {
        f"/{path.relative_to(EXAMPLES).as_posix()}": Response(
            body=path.read_bytes(), headers={"Content-Type": TYPES[path.suffix]}
        )
        for path in files
    }


class Library:
    """The example pages, fetched and indexed, behind the tools."""

    def __init__(self, registry: Registry, app: App, parts: Parts, site: Site) -> None:
        self.app = app
        self.parts = parts
        self.site = site
        self._registry = registry

    async def call(self, name: str, **arguments: object) -> Json:
        """Return the structured result of a call that must succeed."""
        result = await self._registry.call(name, arguments, app=self.app, caller=ME)
        assert not result.is_error, result.text
        return result.structured

    async def ingest_all(self) -> None:
        """Fetch, index and embed every page, as many at once as `ingest` takes."""
        urls = [self.site.url(path) for path in self.site.pages]
        ids = []
        for first in range(0, len(urls), 20):
            done = await self.call("ingest", url=urls[first : first + 20])
            ids += [page["source_id"] for page in done["pages"]]
        await self.parts.ingester.embed_now(ids)

    async def ask(self, golden: Golden) -> Outcome:
        """Put one question to each of the three ways to search."""
        url = self.site.url(f"/{golden.page}")
        evidence = await self.call("kb.retrieve_evidence", question=golden.question)
        quotes = evidence["quotes"]
        shortlist = await self.call("kb.search", query=golden.question)
        brief = await self.call("search", query=golden.question)
        sources = {source["number"]: source["url"] for source in brief["sources"]}
        in_quotes = golden.is_answered_by([quote["quote"] for quote in quotes])
        return Outcome(
            golden=golden,
            on_page=golden.sentence in await self._text_of(url),
            evidence_top=bool(quotes) and quotes[0]["url"] == url,
            evidence_answers=in_quotes,
            evidence_bytes=_size(evidence),
            preview_answers=golden.is_answered_by([r["preview"] for r in shortlist["results"]]),
            preview_bytes=_size(shortlist),
            search_top=bool(brief["evidence"]) and sources[brief["evidence"][0]["source"]] == url,
            search_answers=golden.is_answered_by([each["text"] for each in brief["evidence"]]),
            search_bytes=_size(brief),
            calls=1 if in_quotes else await self._read_on(golden, quotes),
        )

    async def _text_of(self, url: str) -> str:
        info = await self.parts.store.find_page(url, project=ME.project)
        page = await self.parts.store.get_page(info.source_id) if info is not None else None
        return page.text if page is not None else ""

    async def _read_on(self, golden: Golden, quotes: Sequence[Json]) -> int:
        """Return the call at which reading the quoted passages in turn shows the sentence."""
        passages = list(dict.fromkeys(quote["passage_id"] for quote in quotes))
        for number, passage in enumerate(passages[: MAX_CALLS - 1], start=2):
            excerpt = await self.call("kb.read_excerpt", passage_id=passage)
            if golden.is_answered_by([excerpt["excerpt"]]):
                return number
        return MAX_CALLS + 1


async def measure() -> list[Outcome]:
    """Index the examples from a real site and put every golden question to them."""
    async with AsyncExitStack() as stack:
        site = stack.enter_context(running_site(example_pages()))
        settings = Settings(
            database_url="sqlite://",
            mcp_toolsets=("all",),
            web_allowed_private_hosts=(site.host,),
            inference_threads=1,
        )
        app = await stack.enter_async_context(open_app(settings))
        parts = await app.open("store", "ingester", "background")
        library = Library(open_registry(settings), app, parts, site)
        await library.ingest_all()
        return [await library.ask(golden) for golden in load_questions()]


def share(outcomes: Sequence[Outcome], holds: Callable[[Outcome], bool]) -> float:
    """Return the share of outcomes, in percent, of which something holds."""
    return 100 * sum(map(holds, outcomes)) / len(outcomes)


def summarise(outcomes: Sequence[Outcome]) -> Mapping[str, float]:
    """Return every number that is measured, by name."""
    return {
        "questions": len(outcomes),
        "evidence: answer within": share(outcomes, lambda each: each.evidence_answers),
        "evidence: top page right": share(outcomes, lambda each: each.evidence_top),
        "evidence: median bytes": statistics.median(each.evidence_bytes for each in outcomes),
        "evidence: most bytes": max(each.evidence_bytes for each in outcomes),
        "previews: answer within": share(outcomes, lambda each: each.preview_answers),
        "previews: most bytes": max(each.preview_bytes for each in outcomes),
        "search: answer within": share(outcomes, lambda each: each.search_answers),
        "search: top page right": share(outcomes, lambda each: each.search_top),
        "search: most bytes": max(each.search_bytes for each in outcomes),
        "calls: mean": statistics.mean(each.calls for each in outcomes),
        "calls: answered in all": share(outcomes, lambda each: each.calls <= MAX_CALLS),
    }


def tabulate(outcomes: Sequence[Outcome]) -> str:
    """Return the numbers of each language side by side, and what went wrong below."""
    english = [each for each in outcomes if not each.golden.is_japanese]
    japanese = [each for each in outcomes if each.golden.is_japanese]
    columns = [summarise(part) for part in (outcomes, english, japanese)]
    lines = [f"{'':26}{'all':>10}{'English':>10}{'Japanese':>10}"]
    lines += [
        f"{name:26}" + "".join(f"{column[name]:>10.1f}" for column in columns)
        for name in columns[0]
    ]
    missed = [each.golden for each in outcomes if not each.evidence_answers]
    lines += [f"not in the evidence: {each.question} ({each.page})" for each in missed]
    return "\n".join(lines) + "\n"


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _size(structured: Json) -> int:
    return len(json.dumps(structured, ensure_ascii=False, separators=(",", ":")).encode())
