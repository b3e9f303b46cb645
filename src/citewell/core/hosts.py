"""What an address to bind to means: this machine only, or every address it has."""

from __future__ import annotations

import ipaddress
from functools import lru_cache


@lru_cache(maxsize=1_000)
def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a server bound to `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def local_url(host: str, port: int) -> str:
    """Return the URL by which this machine reaches a server bound to `host` and `port`."""
    name = "localhost" if is_unspecified(host) else host
    return f"http://{f'[{name}]' if ':' in name else name}:{port}"


def is_unspecified(host: str) -> bool:
    """Return whether `host` means every address of the machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return host == ""
