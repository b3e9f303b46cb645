"""The socket that the HTTP servers listen on."""

from __future__ import annotations

import socket

from citewell.server.listener import bind


def test_an_answer_is_not_held_back_until_its_headers_are_acknowledged() -> None:
    with bind("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        connection, _ = listening.accept()
        with connection:
            held_back = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0

    assert not held_back
