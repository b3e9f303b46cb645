"""A docs server on a real port of loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import uvicorn
from tests.docsite.folders import open_folder

from citewell.core.settings import Settings
from citewell.server.docs_server import build_docs_app
from citewell.server.listener import bind


@asynccontextmanager
async def browsing_docs(
    root: Path,
    pages: Mapping[str, str | bytes] | None = None,
    *,
    watch: bool = False,
    **settings: Any,
) -> AsyncIterator[httpx2.AsyncClient]:
    """Serve the pages; gives a client of the server."""
    listener = bind("127.0.0.1", 0)
    given: dict[str, Any] = {
        "docs_root": str(root),
        "database_url": "sqlite://",
        "embedder": "none",
        "mcp_port": listener.getsockname()[1],
        **settings,
    }
    app = build_docs_app(open_folder(root, pages), Settings(**given), watch=watch)
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1, ws="none")
    server = uvicorn.Server(config)
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve, [listener])
        async with httpx2.AsyncClient(base_url=base, timeout=120) as client:
            yield client
        server.should_exit = True
