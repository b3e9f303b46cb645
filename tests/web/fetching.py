"""Fetchers of a site on loopback, and what it answers."""

from __future__ import annotations

from typing import Any

from tests.site import Response, Site

from citewell.web.fetcher import Fetcher

HTML = {"Content-Type": "text/html; charset=utf-8"}


def fetcher_for(site: Site, **options: Any) -> Fetcher:
    return Fetcher(**{"allowed_private_hosts": (site.host,), "timeout_seconds": 10.0, **options})


def redirect(location: str, status: int = 302) -> Response:
    return Response(status=status, headers={"Location": location})
