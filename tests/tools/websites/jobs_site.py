"""A small site of job postings, articles and company pages, and the tools over it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import anyio
from tests.site import Answer, Site, running_site
from tests.tools.library import ME, Library

from citewell.app.client_port import ClientPort
from citewell.app.open import open_app
from citewell.app.parts import PART_NAMES, Opener, PartName
from citewell.core.records import Caller
from citewell.core.settings import Settings
from citewell.tools.catalog import open_registry
from citewell.tools.results import ToolResult

BACKEND = """<html><head><title>Backend Engineer at Acme</title></head><body><main>
<h1>Backend Engineer at Acme</h1>
<p>We hire a full-time engineer who builds the payments platform with us, wherever you live.</p>
<p><strong>Location:</strong> Tokyo, Japan</p>
<h2>Requirements</h2><h3>Technical Skills</h3>
<ul><li>Five years of Python</li><li>Knowledge of SQL databases</li></ul>
<h2>Benefits</h2><ul><li>Health insurance</li></ul></main></body></html>"""

FRONTEND = """<html><head><title>Frontend Engineer at Heron</title></head><body><main>
<h1>Frontend Engineer at Heron</h1>
<p>We hire a part-time engineer who builds the booking pages with us, in our office only.</p>
<p><strong>Location:</strong> Osaka, Japan</p>
<h2>Requirements</h2><h3>Technical Skills</h3>
<ul><li>Three years of TypeScript</li><li>Knowledge of accessible pages</li></ul></main></body></html>"""

JAPANESE = """<html><head><title>サーバーサイドエンジニア</title></head><body><main>
<h1>サーバーサイドエンジニア</h1>
<p>株式会社サンプルでは、決済基盤を作るエンジニアを募集しています。一緒に開発しませんか。</p>
<h2>募集要項</h2><table><tr><th>給与</th><td>年収600万円〜900万円</td></tr>
<tr><th>勤務地</th><td>東京都渋谷区</td></tr></table>
<h2>必須スキル</h2><ul><li>Goでの開発経験3年以上</li><li>AWSの運用経験</li></ul></main></body></html>"""

ARTICLE = """<html><head><title>Interviewing in Japan</title><meta name="author" content="Jane Doe">
</head><body><article><h1>Interviewing in Japan</h1>
<p>Interviews at Japanese companies differ from those elsewhere, as many applicants find out.</p>
<h2>Tips</h2><ul><li>Be ten minutes early</li><li>Bring printed copies of your résumé</li></ul>
</article></body></html>"""

MIXED = """<html><body><main><h1>会社紹介 About us</h1>
<p>私たちは東京で水鳥の数を数えるソフトウェアを作っています。毎年多くの人が使います。</p>
<p>We build software that counts water birds, and many people use it every year in Tokyo.</p>
</main></body></html>"""

PAGES: Mapping[str, Answer] = {
    "/backend": BACKEND,
    "/frontend": FRONTEND,
    "/ja": JAPANESE,
    "/article": ARTICLE,
    "/mixed": MIXED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Websites(Library):
    """The tools over a site that runs."""

    site: Site

    async def process(self, path: str, **arguments: Any) -> dict[str, Any]:
        """Process a page of the site."""
        return await self.call("rag_process_website", url=self.site.url(path), **arguments)

    async def finished(self, source_id: int) -> dict[str, Any]:
        """Wait until the work on a website has ended, and return its status."""
        library = self.parts.library
        job = (await library.status(source_id, project="default")).job
        assert job is not None
        with anyio.fail_after(60):
            await library.wait_for(job.job_id)
        return await self.call("rag_get_website_status", source_id=source_id)

    async def ask(self, query: str, **arguments: Any) -> dict[str, Any]:
        """Query the library."""
        return await self.call("rag_query_websites", query=query, **arguments)

    async def asked_by(
        self, client: ClientPort, query: str, *, caller: Caller = ME, **arguments: Any
    ) -> ToolResult:
        """Query the library with a client that can be asked something."""
        registry = open_registry(replace(self.app.settings, mcp_toolsets=("all",)))
        return await registry.call(
            "rag_query_websites",
            {"query": query, **arguments},
            app=self.app,
            caller=caller,
            client=client,
        )


@asynccontextmanager
async def open_websites(
    pages: Mapping[str, Answer] = PAGES,
    replaced: Mapping[PartName, Opener] | None = None,
    **settings: Any,
) -> AsyncIterator[Websites]:
    """Give the tools over a site of `pages`, with a library that is empty."""
    chosen: dict[str, Any] = {
        "database_url": "sqlite://",
        "embedder": "none",
        "events": ("none",),
        "jobs_patience_seconds": 60.0,
        "web_allowed_private_hosts": ("127.0.0.1",),
        **settings,
    }
    with running_site(pages) as site:
        async with open_app(Settings(**chosen), replaced=replaced) as app:
            yield Websites(app=app, parts=await app.open(*PART_NAMES), site=site)
