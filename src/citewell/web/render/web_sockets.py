"""Telling a WebSocket by the first bytes of its connection, plain or encrypted.

No interface of the browser can refuse WebSockets to a page and its workers alike, and what is said
through one gets out unseen.
"""

from __future__ import annotations

import re

_UPGRADE = re.compile(rb"\r\nupgrade:[ \t]*websocket\b", re.IGNORECASE)
_MAX_HEADER_BYTES = 65_536

# RFC 8446 and RFC 7301.
_HANDSHAKE = 22
_RECORD_HEADER = 5
_HANDSHAKE_HEADER = 4
_VERSION_AND_RANDOM = 34
_ALPN = 16


def opens_web_socket(start: bytes) -> bool | None:
    """Return whether a connection of Chromium that starts like this is for a WebSocket.

    None means that more bytes are needed.
    """
    if not start:
        return None
    if start[0] != _HANDSHAKE:
        if b"\r\n\r\n" in start:
            return bool(_UPGRADE.search(start))
        # What a page puts behind a very long address is not waited for, and not let through.
        return True if len(start) > _MAX_HEADER_BYTES else None
    if len(start) < _RECORD_HEADER:
        return None
    length = int.from_bytes(start[3:5], "big")
    if len(start) < _RECORD_HEADER + length:
        return None
    # A page is asked for in HTTP/2 if possible; a WebSocket is always opened in HTTP/1.1.
    protocols = _protocols(start[_RECORD_HEADER : _RECORD_HEADER + length])
    return bool(protocols) and b"h2" not in protocols


def _protocols(hello: bytes) -> list[bytes]:
    """Return the protocols that a ClientHello offers; none where it cannot be read."""
    place = _HANDSHAKE_HEADER + _VERSION_AND_RANDOM
    # The session's id, the ciphers and the compressions, each after its length.
    for size in (1, 2, 1):
        place += size + int.from_bytes(hello[place : place + size], "big")
    end = place + 2 + int.from_bytes(hello[place : place + 2], "big")
    place += 2
    while place + 4 <= min(end, len(hello)):
        kind = int.from_bytes(hello[place : place + 2], "big")
        length = int.from_bytes(hello[place + 2 : place + 4], "big")
        place += 4
        if kind == _ALPN:
            return _names(hello[place + 2 : place + length])
        place += length
    return []


def _names(listing: bytes) -> list[bytes]:
    names: list[bytes] = []
    while listing:
        names.append(listing[1 : 1 + listing[0]])
        listing = listing[1 + listing[0] :]
    return names
