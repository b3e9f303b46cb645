"""Decompresses a body piece by piece, so that a small bomb never becomes a large memory."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from citewell.core.boundary import label
from citewell.core.errors import HostUnreachable, UnsupportedContent
from citewell.web.urls import shown_url

if TYPE_CHECKING:
    from collections.abc import Iterator

ACCEPT_ENCODING = "gzip, deflate"
_PIECE_BYTES = 256 * 1024
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
# Its first byte: the second may come with the next network read.
_GZIP_MAGIC = b"\x1f"
_RAW_DEFLATE = -zlib.MAX_WBITS


class Decompressor:
    """Turns the bytes of one Content-Encoding back into the body of the page at `url`.

    Raises:
        UnsupportedContent: the encoding is none that was asked for.
    """

    def __init__(self, content_encoding: str, *, url: str) -> None:
        names = [name.strip().lower() for name in content_encoding.split(",")]
        names = [name for name in names if name not in ("", "identity")]
        unknown = [name for name in names if name not in ("gzip", "x-gzip", "deflate")]
        if unknown or len(names) > 1:
            named = label(", ".join(names))
            raise UnsupportedContent(
                f"{shown_url(url)} is compressed as '{named}', which was not asked for",
                content_encoding=named,
            )
        self._url = url
        self._is_plain = not names
        self._may_be_raw = names == ["deflate"]
        self._inflater = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._started = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what `data` decompresses to, in pieces of bounded size.

        Raises:
            HostUnreachable: the data is damaged.
        """
        if self._is_plain:
            yield data
            return
        pending, piece = data, b""
        # A full piece may leave more to come although all input is used up.
        while pending or len(piece) == _PIECE_BYTES:
            if self._inflater.eof:
                if not pending.startswith(_GZIP_MAGIC):
                    return  # padding or rubbish after the end; browsers skip it as well
                self._inflater = zlib.decompressobj(_GZIP_OR_ZLIB)
            piece = self._inflate(pending)
            pending = self._inflater.unconsumed_tail or self._inflater.unused_data
            if piece:
                yield piece

    def finish(self) -> None:
        """Check that the body ended where its compression says.

        Raises:
            HostUnreachable: the end is missing.
        """
        if self._started and not self._inflater.eof:
            raise HostUnreachable(f"the compressed body of {shown_url(self._url)} breaks off")

    def _inflate(self, data: bytes) -> bytes:
        first, self._started = not self._started, True
        try:
            return self._inflater.decompress(data, _PIECE_BYTES)
        except zlib.error as error:
            if not (first and self._may_be_raw):
                raise HostUnreachable(
                    f"the compressed body of {shown_url(self._url)} is damaged"
                ) from error
        # "deflate" means zlib, but some servers send the bare stream.
        self._inflater = zlib.decompressobj(_RAW_DEFLATE)
        return self._inflate(data)
