"""Lists that are returned a page at a time: sealed cursors, and the items that fit a page.

A cursor names the items already shown, not an offset: pages that are added, changed or removed
between two calls neither repeat an item nor hide one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from typing import TYPE_CHECKING, TypeVar

from citewell.core.errors import InvalidArgument
from citewell.core.frozen import frozen
from citewell.core.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from citewell.tools.tool import Call, ToolInput, ToolOutput

MAX_CURSOR_CHARACTERS = 1_000

# Arguments that can differ between two pages of one list.
_PAGE_ARGUMENTS = {"cursor", "page_size", "include_snippet"}

ItemT = TypeVar("ItemT")
ShapeT = TypeVar("ShapeT", bound="ToolOutput")

_SEAL_BYTES = 12
_SEVEN_BITS = 0x7F
_MORE = 0x80


@frozen
class ListPosition:
    """What a caller has been shown of a list; each item has a number."""

    shown: frozenset[int]
    search: str
    secret: bytes

    @classmethod
    def of(
        cls, arguments: ToolInput, cursor: str | None, call: Call, *, kind: str = ""
    ) -> ListPosition:
        """Return where the list of these arguments goes on.

        `kind` distinguishes lists that have the same arguments.

        Raises:
            InvalidArgument: the cursor belongs to another list.
        """
        fields = arguments.model_dump(mode="json", exclude=_PAGE_ARGUMENTS)
        search = json.dumps([call.caller.project, kind, fields], sort_keys=True)
        secret = call.parts.secret
        shown = open_cursor(cursor, search=search, secret=secret) if cursor else frozenset[int]()
        return cls(shown=shown, search=search, secret=secret)

    def cursor_after(self, numbers: Iterable[int]) -> str:
        """Return the cursor after the items of these numbers have been shown as well."""
        return seal_cursor(self.shown.union(numbers), search=self.search, secret=self.secret)


def fit_tokens(items: Sequence[ItemT], costs: Iterable[int], *, max_tokens: int) -> list[ItemT]:
    """Return the first items that cost at most `max_tokens` together, and at least one."""
    left = max_tokens
    for count, cost in enumerate(costs):
        left -= cost
        if left < 0 and count > 0:
            return list(items[:count])
    return list(items)


def fit_shapes(shapes: Sequence[ShapeT], *, max_tokens: int) -> list[ShapeT]:
    """Return the first shapes whose JSON has at most `max_tokens` together, and at least one."""
    forms = [shape.model_dump_json(exclude_none=True) for shape in shapes]
    # No token is shorter than a byte, so most lists need not be counted.
    if sum(len(form.encode("utf-8", "replace")) for form in forms) <= max_tokens:
        return list(shapes)
    return fit_tokens(shapes, map(count_tokens, forms), max_tokens=max_tokens)


def seal_cursor(shown: Iterable[int], *, search: str, secret: bytes) -> str:
    """Return the cursor after the items `shown` of the search that `search` describes.

    It can be opened wherever the same `secret` is known.
    """
    body = _pack(sorted(shown))
    sealed = _seal(body, search, secret) + body
    return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode("ascii")


def open_cursor(cursor: str, *, search: str, secret: bytes) -> frozenset[int]:
    """Return the numbers of the items that were shown before.

    Raises:
        InvalidArgument: the cursor was sealed with another secret, or for another search.
    """
    try:
        sealed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise _refusal() from error
    seal, body = sealed[:_SEAL_BYTES], sealed[_SEAL_BYTES:]
    if not hmac.compare_digest(seal, _seal(body, search, secret)):
        raise _refusal()
    return frozenset(_unpack(body))


def _refusal() -> InvalidArgument:
    return InvalidArgument(
        "cursor was not issued by this server for this search.",
        suggestion="Repeat the search without a cursor, or with its original arguments.",
    )


def _seal(body: bytes, search: str, secret: bytes) -> bytes:
    signed = hashlib.sha256(search.encode("utf-8", "surrogatepass")).digest() + body
    return hmac.digest(secret, signed, "sha256")[:_SEAL_BYTES]


def _pack(numbers: Iterable[int]) -> bytes:
    """Encode rising numbers as varints of their differences."""
    packed = bytearray()
    previous = 0
    for number in numbers:
        step, previous = number - previous, number
        while step > _SEVEN_BITS:
            packed.append(step & _SEVEN_BITS | _MORE)
            step >>= 7
        packed.append(step)
    return bytes(packed)


def _unpack(packed: bytes) -> Iterable[int]:
    number = step = shift = 0
    for byte in packed:
        step |= (byte & _SEVEN_BITS) << shift
        shift += 7
        if not byte & _MORE:
            number += step
            yield number
            step = shift = 0
