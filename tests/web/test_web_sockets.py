"""How a WebSocket is told from other connections by its first bytes."""

from __future__ import annotations

import ssl

import pytest

from citewell.web.render.web_sockets import opens_web_socket

UPGRADE = b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nupgrade: WebSocket\r\n\r\n"
PLAIN = b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n"


def client_hello(*protocols: str) -> bytes:
    """What a TLS client sends first."""
    context = ssl.create_default_context()
    if protocols:
        context.set_alpn_protocols(list(protocols))
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    connection = context.wrap_bio(incoming, outgoing, server_hostname="birds.example")
    with pytest.raises(ssl.SSLWantReadError):
        connection.do_handshake()
    return outgoing.read()


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (UPGRADE, True),
        (PLAIN, False),
        (client_hello("http/1.1"), True),
        (client_hello("h2", "http/1.1"), False),
        (client_hello(), False),
    ],
    ids=["upgrade", "plain", "tls for HTTP/1.1 alone", "tls for HTTP/2", "tls for anything"],
)
def test_a_web_socket_is_told_once_its_first_message_is_whole(start: bytes, expected: bool) -> None:
    assert opens_web_socket(start) is expected
    for end in range(len(start) - 1):
        assert opens_web_socket(start[:end]) is None


def test_what_is_no_message_is_no_web_socket() -> None:
    assert opens_web_socket(b"\x16\x03\x01\x00\x04\x01\x00\x00\x00") is False


def test_a_web_socket_behind_a_very_long_address_is_refused_before_it_is_whole() -> None:
    start = UPGRADE.replace(b"/x", b"/" + b"x" * 200_000)

    assert opens_web_socket(start) is True
    assert opens_web_socket(start[:65_536]) is None
    assert opens_web_socket(start[:131_072]) is True
