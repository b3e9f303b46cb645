"""Asking a search engine's API: limits, and errors that name the engine but never its key."""

from __future__ import annotations

import html
import re
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import httpx2

from citewell.core.errors import FetchError, PageTooLarge, WebSearchFailed, WebSearchQuotaUsed
from citewell.core.frozen import frozen
from citewell.web.api_answer import ApiAnswer, ask_api
from citewell.web.search.protocol import SearchResult
from citewell.web.urls import MAX_URL_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Both are far more than the few dozen results that an engine gives to a question.
_MAX_ANSWER_BYTES = 4_000_000
_MAX_ROWS = 200
# What is longer is cut before its marks are looked for: a "<" without end is searched to the end.
_MAX_TEXT_CHARACTERS = 3_000
_TAG = re.compile(r"<[^<>]*+>")
_MAX_SNIPPET_CHARACTERS = 600
_MAX_NAME_CHARACTERS = 300


class SearchClient:
    """The HTTP client that the engines share, made when the first of them is asked."""

    def __init__(self, *, timeout_seconds: float) -> None:
        self.timeout_seconds = timeout_seconds
        """For a whole answer, however slowly it comes."""
        self._opened: httpx2.AsyncClient | None = None

    def open(self) -> httpx2.AsyncClient:
        """Return the client; reading the system's certificates takes a while, the first time."""
        if self._opened is None:
            self._opened = httpx2.AsyncClient(timeout=self.timeout_seconds)
        return self._opened

    async def aclose(self) -> None:
        """Close the connections."""
        if self._opened is not None:
            await self._opened.aclose()
            self._opened = None


@frozen
class EngineEndpoint:
    """The address of an engine's API; `quota_statuses` are its ways of saying "no more"."""

    engine: str
    url: str
    client: SearchClient
    quota_statuses: frozenset[int] = frozenset({429})

    async def get(
        self, query: Mapping[str, str | int], headers: Mapping[str, str] | None = None
    ) -> ApiAnswer:
        """Return the engine's answer to a GET with these parameters."""
        return await self._send("GET", params=dict(query), headers=dict(headers or {}))

    async def post(
        self,
        *,
        json: Mapping[str, object] | None = None,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ApiAnswer:
        """Return the engine's answer to a POST of JSON or of a form."""
        return await self._send("POST", json=json, data=form, headers=dict(headers or {}))

    async def _send(self, method: str, **request: Any) -> ApiAnswer:  # noqa: ANN401 - as httpx2 takes it
        try:
            with anyio.fail_after(self.client.timeout_seconds):
                client = self.client.open()
                asked = client.build_request(method, self.url, **request)
                answer = await ask_api(client, asked, max_bytes=_MAX_ANSWER_BYTES)
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise WebSearchFailed(f"{self.engine} did not answer in time") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise WebSearchFailed(f"{self.engine} cannot be reached") from error
        except PageTooLarge as error:
            raise WebSearchFailed(f"{self.engine} answered with too much") from error
        except FetchError as error:
            raise self.unexpected() from error
        status = answer.status
        if status in self.quota_statuses:
            raise WebSearchQuotaUsed(f"the quota of {self.engine} is used up", status=status)
        if status != 200:
            raise WebSearchFailed(
                f"{self.engine} answered with status {status}",
                suggestion=_advice(status, self.engine),
                status=status,
            )
        return answer

    def parse_json(self, answer: ApiAnswer) -> dict[str, Any]:
        """Return the JSON object that was answered."""
        try:
            body = answer.parse_json()
        except ValueError as error:
            raise self.unexpected() from error
        if not isinstance(body, dict):
            raise self.unexpected()
        return body

    def unexpected(self) -> WebSearchFailed:
        """Return the error for an answer of another form than the API's."""
        return WebSearchFailed(f"{self.engine} answered in an unexpected form")

    def results(self, rows: object, *, keys: tuple[str, str, str]) -> list[SearchResult]:
        """Return the rows as results; `keys` name the URL, the title and the snippet in a row."""
        if rows is None:
            return []
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self.unexpected()
        return make_results((row.get(keys[0]), row.get(keys[1]), row.get(keys[2])) for row in rows)


def make_results(rows: Iterable[tuple[object, object, object]]) -> list[SearchResult]:
    """Return (URL, title, snippet) rows as results; those without a web address are left out."""
    return [
        SearchResult(
            url=url,
            name=_plain(name)[:_MAX_NAME_CHARACTERS],
            snippet=_plain(snippet)[:_MAX_SNIPPET_CHARACTERS],
        )
        for url, name, snippet in islice(rows, _MAX_ROWS)
        if isinstance(url, str) and _is_web_address(url)
    ]


def _is_web_address(url: str) -> bool:
    if len(url) > MAX_URL_CHARACTERS:
        return False
    try:
        return urlsplit(url).scheme in ("http", "https")
    except ValueError:
        return False


def _plain(text: object) -> str:
    """Return an engine's text without marks of emphasis, on one line."""
    if not isinstance(text, str):
        return ""
    return " ".join(html.unescape(_TAG.sub("", text[:_MAX_TEXT_CHARACTERS])).split())


def _advice(status: int, engine: str) -> str:
    # 422 is what Brave says to a key that it does not know.
    if status in (400, 401, 403, 422):
        return f"Check the key and the settings of {engine}."
    return f"{engine} is failing; try again later, or add one to CITEWELL_WEB_SEARCH_ENGINES."
