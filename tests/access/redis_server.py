"""A Redis of one's own on loopback that keeps nothing, and can be started, frozen and stopped."""

from __future__ import annotations

import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager


class RedisServer:
    """A Redis that answers at `uri` while it runs."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port: int = free.getsockname()[1]
        self.uri = f"redis://127.0.0.1:{self._port}"
        self.start()

    def start(self) -> None:
        """Start it, empty, and return once it answers."""
        place = ["--bind", "127.0.0.1", "--port", str(self._port)]
        self._process = subprocess.Popen(
            ["redis-server", *place, "--save", "", "--appendonly", "no"],
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        said = b""
        for line in self._process.stdout:
            said += line
            if b"Ready to accept connections" in line:
                return
        raise AssertionError(said.decode())

    def freeze(self) -> None:
        """Let it hold its connections and answer nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def stop(self) -> None:
        """End it at once, with all that it has counted."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


@contextmanager
def running_redis() -> Iterator[RedisServer]:
    redis = RedisServer()
    try:
        yield redis
    finally:
        redis.stop()
