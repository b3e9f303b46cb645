"""The APIs of five search engines on loopback: they check keys and answer in their own forms."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from tests.loopback import QuietHandler, serving

PAGES = [
    ("https://example.com/a", "Heron & egret", "Two herons"),
    ("https://example.com/b", "Nests", "A nest in a tall tree"),
]


class SearchApis:
    """A running server; `status` answers every request when it is set."""

    def __init__(self, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}"
        self.asked: list[str] = []
        self.status: dict[str, int] = {}
        self.bodies: dict[str, str] = {}

    def urls(self) -> tuple[str, ...]:
        return (
            *(f"{name}={self.base}/{name}" for name in ("google", "brave", "tavily")),
            f"duckduckgo={self.base}/duckduckgo/html/",
        )


def google(query: dict[str, str], headers: dict[str, str]) -> object:
    if query["key"] != "g-key" or query["cx"] != "g-cx":
        return 400
    rows = [{"link": url, "title": name, "snippet": text} for url, name, text in PAGES]
    return {"kind": "customsearch#search", "items": rows[: int(query["num"])]}


def brave(query: dict[str, str], headers: dict[str, str]) -> object:
    if headers.get("x-subscription-token") != "b-key":
        return 401
    rows = [
        {"url": url, "title": name, "description": f"<strong>{text}</strong> &amp; more"}
        for url, name, text in PAGES
    ]
    return {"type": "search", "web": {"type": "search", "results": rows}}


def tavily(query: dict[str, Any], headers: dict[str, str]) -> object:
    if headers.get("authorization") != "Bearer t-key":
        return 401
    rows = [{"url": u, "title": n, "content": t, "score": 0.9} for u, n, t in PAGES]
    return {"query": query["query"], "results": rows[: query["max_results"]]}


def searxng(query: dict[str, str], headers: dict[str, str]) -> object:
    if query.get("format") != "json":
        return 403
    rows = [{"url": u, "title": n, "content": t, "engine": "x"} for u, n, t in PAGES]
    return {"query": query["q"], "results": [*rows, {"url": "javascript:alert(1)", "title": "x"}]}


def duckduckgo(query: dict[str, str], headers: dict[str, str]) -> object:
    rows = "".join(
        f'<div class="result results_links"><h2><a class="result__a" '
        f'href="//duckduckgo.com/l/?uddg={quote(url, safe="")}&amp;rut=1">{name}</a></h2>'
        f'<a class="result__snippet">{text}</a></div>'
        for url, name, text in PAGES
    )
    ad = (
        '<div class="result result--ad"><a class="result__a" href="https://ad.example">Ad</a></div>'
    )
    return f'<html><body><div id="links" class="results">{ad}{rows}</div></body></html>'


ENGINES = {f.__name__: f for f in (google, brave, tavily, searxng, duckduckgo)}


@contextmanager
def running_search_apis() -> Iterator[SearchApis]:
    """Serve the five engines on a free loopback port."""

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self._answer({name: values[0] for name, values in self._parameters().items()})

        def do_POST(self) -> None:
            body = self.body().decode()
            is_json = self.headers["Content-Type"] == "application/json"
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self._answer(json.loads(body) if is_json else form)

        def _parameters(self) -> dict[str, list[str]]:
            return parse_qs(urlsplit(self.path).query)

        def _answer(self, query: dict[str, Any]) -> None:
            name = urlsplit(self.path).path.split("/")[1]
            apis.asked.append(name)
            headers = {key.lower(): value for key, value in self.headers.items()}
            answer = apis.status.get(name) or ENGINES[name](query, headers)
            answer = apis.bodies.get(name, answer)
            status = answer if isinstance(answer, int) else 200
            body = answer if isinstance(answer, str) else json.dumps(answer)
            self.reply(status, body.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    apis = SearchApis(server.server_port)
    with serving(server):
        yield apis
