"""The process's stdin and stdout as a channel of lines that no other code can write to."""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from citewell.server.jsonrpc import MAX_REQUEST_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

logger = logging.getLogger(__name__)

_READ_BYTES = 65_536
# Of a line that is longer, only that is known.
_MOST_LINE_BYTES = MAX_REQUEST_BYTES + 1


@dataclass(slots=True)
class LineChannel:
    """Lines in and lines out, over file descriptors.

    Not buffered by Python's own streams: a thread that waits in one of those at exit is fatal.
    """

    input_fd: int
    output_fd: int
    _unread: bytearray = field(default_factory=bytearray)
    _writing: Lock = field(default_factory=Lock)

    def read_line(self) -> bytes | None:
        """Return the next line that is not blank, None at the end; waits for it."""
        searched = 0
        while True:
            end = self._unread.find(b"\n", searched)
            searched = 0 if end >= 0 else len(self._unread)
            if end >= 0:
                line = bytes(self._unread[:end]).strip()
                del self._unread[: end + 1]
                if line:
                    return line
                continue
            received = self._receive()
            if not received:
                return None
            self._unread += received
            if len(self._unread) > _MOST_LINE_BYTES and b"\n" not in received:
                # Too long to be a message, whatever follows: the rest of the line is not kept.
                del self._unread[_MOST_LINE_BYTES:]

    def _receive(self) -> bytes:
        try:
            return os.read(self.input_fd, _READ_BYTES)
        except OSError as error:
            # A terminal or socket that broke is an end like any other.
            logger.debug("input ended: %s", error)
            return b""

    def write_line(self, line: bytes) -> None:
        """Write one message; waits while the client does not read.

        Raises:
            OSError: the client has closed its end.
        """
        rest = memoryview(line + b"\n")
        # A pipe that is full takes part of a line; another writer must not go on from there.
        with self._writing:
            while rest:
                rest = rest[os.write(self.output_fd, rest) :]


@contextmanager
def claimed_stdio() -> Iterator[LineChannel]:
    """Yield the channel; meanwhile, what other code prints goes to stderr, and stdin is empty."""
    channel = LineChannel(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        yield channel
    finally:
        os.dup2(channel.input_fd, 0)
        os.dup2(channel.output_fd, 1)
        # The copies stay open: a thread may still wait on one, and a number that is used again
        # would let it read something else.
