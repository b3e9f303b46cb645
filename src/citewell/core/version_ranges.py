"""Versions in order, and the ranges that people name them by."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_PART = re.compile(r"\d{1,18}|[a-z]+", re.IGNORECASE)
_COMPARISON = re.compile(r"(===|==|>=|<=|!=|~=|>|<|=|\^|~)?\s*v?(\d[\w.+*-]{0,60})")
# A run of spaces, or of wildcards, is tried from its beginning only.
_SEPARATOR = re.compile(r"(?<!\s)\s*+,\s*+|(?<!\s)\s++(?=[<>=!~^v\d])")
_WILDCARDS = re.compile(r"(?<!\.[x*])(?:\.[x*])++$")
_LONGEST_RANGE = 200
LATEST = "latest"

VersionKey = tuple[tuple[int, ...], int, tuple[tuple[str, int], ...]]


def version_key(version: str) -> VersionKey:
    """Return what orders versions: numbers by value, and a pre-release before its release."""
    parts = _PART.findall(version.lower().lstrip("v").partition("+")[0])
    words = next((i for i, part in enumerate(parts) if not part.isdigit()), len(parts))
    numbers = [int(part) for part in parts[:words]]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    rest = tuple(("", int(part)) if part.isdigit() else (part, 0) for part in parts[words:])
    return tuple(numbers), _rank_word(rest[0][0]) if rest else 0, rest


def newest(versions: Iterable[str]) -> str | None:
    """Return the newest version; a pre-release only when there is no other."""
    known = sorted(versions, key=version_key)
    final = [version for version in known if not is_pre_release(version)]
    return (final or known)[-1] if known else None


def is_pre_release(version: str) -> bool:
    """Return whether a version is an alpha, beta, candidate or development version."""
    return version_key(version)[1] < 0


def is_version_range(text: str) -> bool:
    """Return whether `text` is `latest`, a version, or comparisons such as `>=4,<5`."""
    return text.strip().lower() == LATEST or bool(_parse_range(text))


def is_in_range(version: str, wanted: str) -> bool:
    """Return whether `version` fits `wanted`, which is not `latest`.

    A bare version stands for all that begin with it: 3.2 for 3.2.25.
    """
    return all(_fits(version, sign, bound) for sign, bound in _parse_range(wanted))


def is_same_version(documented: str, used: str) -> bool:
    """Return whether documentation of one version is that of another: 4.2 is of 4.2.30.

    `latest` is what a site says that does not say its version: it is of no version in particular.
    """
    if not (_parse_range(documented) and _parse_range(used)):
        return False
    return is_in_range(used, documented) or is_in_range(documented, used)


def _rank_word(word: str) -> int:
    return 1 if word in ("post", "rev", "r", "final", "sp") else -1


def _parse_range(text: str) -> list[tuple[str, str]]:
    """Return the comparisons of a range; none when it is not one."""
    if len(text) > _LONGEST_RANGE:
        return []
    comparisons = []
    for part in _SEPARATOR.split(text.strip()):
        match = _COMPARISON.fullmatch(part.strip())
        if match is None:
            return []
        comparisons.append((match[1] or "=", match[2]))
    return comparisons


def _fits(version: str, sign: str, bound: str) -> bool:
    bound = _WILDCARDS.sub("", bound)
    if sign in ("=", "==", "===", "!="):
        return _begins_with(version, bound) != (sign == "!=")
    key, limit = version_key(version), version_key(bound)
    if sign == ">":
        return key > limit and not _begins_with(version, bound)
    if sign == "<":
        return key < limit and not _begins_with(version, bound)
    if sign == "<=":
        return key <= limit or _begins_with(version, bound)
    if sign == ">=":
        return key >= limit
    return key >= limit and _begins_with(version, _fixed_part(sign, bound))


def _fixed_part(sign: str, bound: str) -> str:
    """Return the numbers of `bound` that a compatible version shares."""
    numbers = bound.split(".")
    if sign == "^":
        first = next((i for i, number in enumerate(numbers) if number.strip("0")), 0)
        return ".".join(numbers[: first + 1])
    return ".".join(numbers[:-1] if sign == "~=" else numbers[:2])


def _begins_with(version: str, start: str) -> bool:
    parts = _PART.findall(version.lower().lstrip("v"))
    wanted = _PART.findall(start.lower().lstrip("v"))
    parts += ["0"] * (len(wanted) - len(parts))
    return parts[: len(wanted)] == wanted
