"""Whether a request comes from this machine: the one place where loopback stands for trust.

A reverse proxy connects from loopback for everyone. So a request counts as local only if nothing
hints at a proxy, and never on a server that was given a public name.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.core.hosts import is_loopback

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection
    from starlette.types import Scope

    from citewell.core.settings import Settings

# Added by reverse proxies, tunnels and content delivery networks.
_PROXY_HEADERS = frozenset(
    {
        *("forwarded", "via", "cdn-loop", "x-forwarded", "x-real-ip", "x-client-ip"),
        *("x-cluster-client-ip", "true-client-ip", "cf-connecting-ip", "cf-ray"),
        *("fastly-client-ip", "fly-client-ip", "x-nf-client-connection-ip"),
    }
)
_PROXY_PREFIXES = ("x-forwarded-", "x-original-", "x-envoy-", "x-amzn-", "x-azure-", "x-arr-")


def is_local(connection: HTTPConnection, settings: Settings) -> bool:
    """Return whether a program on this machine sent the request, as far as can be known."""
    client = connection.client
    if client is None or not is_loopback(client.host) or has_public_name(settings):
        return False
    return (
        is_loopback(connection.url.hostname or "")
        and _is_own_page(connection.headers.get("origin"))
        and not _came_through_proxy(connection)
    )


def network_of(scope: Scope) -> str:
    """Return what one client has of the net: an IPv4 address, or the /64 of an IPv6 one."""
    client = scope.get("client")
    host: str = client[0] if client else "unknown"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.version == 4:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), 64), strict=False))


def has_public_name(settings: Settings) -> bool:
    """Return whether the settings give the server a name or an address beyond this machine."""
    names = [f"http://{host}" for host in settings.mcp_allowed_hosts]
    names += [url for url in (settings.docs_base_url, settings.public_url) if url]
    hosts = [urlsplit(name).hostname or "" for name in names]
    return not all(map(is_loopback, [settings.mcp_host, *hosts]))


def _is_own_page(origin: str | None) -> bool:
    return origin is None or is_loopback(urlsplit(origin).hostname or "")


def _came_through_proxy(connection: HTTPConnection) -> bool:
    # nginx speaks HTTP/1.0 unless configured otherwise, and then adds no header.
    if connection.scope.get("http_version") == "1.0":
        return True
    names = connection.headers.keys()
    return any(name in _PROXY_HEADERS or name.startswith(_PROXY_PREFIXES) for name in names)
