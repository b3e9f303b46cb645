"""JSON of bounded structure: what small values cost to parse, check and copy is known before.

A long text costs little. A megabyte of small values becomes objects of fifty times the size, which
takes most of a second in which nothing else in the process runs.
"""

from __future__ import annotations

import json

# 64 bits take 19 digits; no field takes more, and reading tens of thousands of digits
# takes quadratic time.
_MOST_DIGITS = 1_000


class TooManyValues(ValueError):
    """JSON has more values than its reader takes."""


def parse_bounded_json(raw: bytes, *, max_values: int) -> object:
    """Return the value that UTF-8 bytes hold.

    Raises:
        TooManyValues: it has more than about `max_values` parts, counting keys.
        ValueError: it is not JSON, or holds a number of more than a thousand digits.
    """
    if _has_more_values(raw, max_values):
        raise TooManyValues(f"JSON of more than {max_values:,} values")
    try:
        # Not left to `json` to guess: in UTF-16, the bytes of quotation marks mean nothing.
        return json.loads(raw.decode("utf-8-sig", "surrogatepass"), parse_int=_parse_int)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def _has_more_values(raw: bytes, limit: int) -> bool:
    """Tell by counting the signs that stand between values, in time linear in the bytes."""
    if _count_signs(raw) <= limit:
        return False
    # Signs within texts do not count: prose is full of commas.
    bare = raw.replace(rb"\\", b"").replace(rb"\"", b"")
    if bare.count(b'"') > 2 * limit + 2:
        return True
    return _count_signs(b"".join(bare.split(b'"')[::2])) > limit


def _count_signs(raw: bytes) -> int:
    return sum(map(raw.count, (b",", b":", b"[", b"{")))


def _parse_int(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError("a number has too many digits")
    return int(digits)
