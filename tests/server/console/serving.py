"""A server with consoles, and two people with keys of their own."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from tests.server.shelf import Shelf
from tests.server.tiny import serving

ANN = {"Authorization": "Bearer ann:helper@sk-ann-00001111"}
BEN = {"Authorization": "Bearer ben:robot@sk-ben-00002222"}

QUESTIONS = "/mcp/tools/ask_user"
DIRECTIVES = "/mcp/tools/get_user_requests"


@asynccontextmanager
async def console(**settings: Any) -> AsyncIterator[httpx2.AsyncClient]:
    """Serve a shelf; gives an HTTP client of it."""
    shelf = Shelf(**settings)
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=120) as client,
    ):
        yield client


def form_token(page: str) -> str:
    """Return the token that the forms of a page send."""
    found = re.search(r'name="form_token" value="([^"]+)"', page)
    assert found is not None
    return found[1]
