"""Fields from what a page says of itself in schema.org's words (JSON-LD or microdata)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from selectolax.lexbor import LexborHTMLParser

from citewell.core.text import one_line
from citewell.ingest.content_types.anchoring import MAX_VALUE_CHARACTERS, from_structured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.core.content_fields import ContentField, FieldName
    from citewell.core.library import TypedContent

_TYPES: dict[TypedContent, tuple[str, ...]] = {
    "job_posting": ("JobPosting",),
    "blog_article": ("BlogPosting", "Article", "NewsArticle", "TechArticle", "Report"),
    "company_page": ("Organization", "Corporation", "LocalBusiness", "NGO"),
}
# Where a field's value stands, and whether it is a list that a text may spell out.
_PLACES: dict[TypedContent, tuple[tuple[FieldName, str, bool], ...]] = {
    "job_posting": (
        ("role", "title", False),
        ("company", "hiringOrganization", False),
        ("location", "jobLocation", False),
        ("location", "jobLocationType", False),
        ("employment_type", "employmentType", False),
        ("salary", "baseSalary", False),
        ("salary", "estimatedSalary", False),
        ("requirements", "qualifications", True),
        ("requirements", "skills", True),
        ("requirements", "experienceRequirements", True),
        ("requirements", "educationRequirements", True),
        ("benefits", "jobBenefits", True),
        ("industry", "industry", False),
        ("date", "datePosted", False),
    ),
    "blog_article": (("author", "author", False), ("date", "datePublished", False)),
    "company_page": (
        ("company", "name", False),
        ("location", "address", False),
        ("industry", "industry", False),
        ("values", "slogan", False),
        ("values", "ethicsPolicy", False),
    ),
}
_ADDRESS = ("streetAddress", "addressLocality", "addressRegion", "addressCountry")
_NAMED = ("name", "description", "value", "credentialCategory", "monthsOfExperience", "@value")
# How the words that schema.org prescribes are said.
_SPOKEN = {
    "FULL_TIME": "full-time",
    "PART_TIME": "part-time",
    "CONTRACTOR": "contractor",
    "TEMPORARY": "temporary",
    "INTERN": "internship",
    "VOLUNTEER": "volunteer",
    "PER_DIEM": "per diem",
    "TELECOMMUTE": "remote",
}
_ITEM_BREAK = re.compile(r"(?:\n|;|；|・|•|<br\s*+/?>|</li>|</p>)\s*+")
_MAX_ITEMS = 20
_MAX_DEPTH = 4


def extract_structured(
    structured_data: str, content_type: TypedContent, text: str
) -> list[ContentField]:
    """Return the fields of the page's first object of a type that fits, anchored in `text`."""
    objects: list[dict[str, Any]] = json.loads(structured_data)
    wanted = _TYPES[content_type]
    for at, item in enumerate(objects):
        if not set(_types_of(item)) & set(wanted):
            continue
        found: list[ContentField] = []
        for name, key, is_list in _PLACES[content_type]:
            if key in item:
                path = f"structured_data[{at}].{key}"
                found.extend(_extract(name, item[key], path=path, is_list=is_list, text=text))
        if found:
            return found
    return []


def _types_of(item: dict[str, Any]) -> Iterator[str]:
    kinds = item.get("@type", ())
    for kind in kinds if isinstance(kinds, list) else (kinds,):
        yield str(kind).rpartition("/")[2].rpartition(":")[2]


def _extract(
    name: FieldName,
    node: Any,  # noqa: ANN401 - any JSON value
    *,
    path: str,
    is_list: bool,
    text: str,
) -> Iterator[ContentField]:
    values = list(enumerate(node)) if isinstance(node, list) else [(None, node)]
    for at, value in values[:_MAX_ITEMS]:
        place = path if at is None else f"{path}[{at}]"
        raw = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        readable = _readable(name, value)
        parts = _items(readable) if is_list else [readable]
        for part in parts[:_MAX_ITEMS]:
            # One of several items is quoted by itself; the whole would not fit a quote.
            quoted = part if len(parts) > 1 else raw
            field = from_structured(name, part, raw=quoted, path=place, text=text)
            if field is not None:
                yield field


def _readable(name: FieldName, node: Any, depth: int = 0) -> str:  # noqa: ANN401 - JSON
    """Return a node as a reader would say it; empty when it says nothing of its own."""
    if isinstance(node, str):
        return _SPOKEN.get(node) or _without_tags(node)
    if isinstance(node, bool) or node is None or depth > _MAX_DEPTH:
        return ""
    if isinstance(node, int | float):
        return f"{node:g}" if isinstance(node, float) else str(node)
    if isinstance(node, list):
        return ", ".join(filter(None, (_readable(name, each, depth + 1) for each in node)))
    if not isinstance(node, dict):
        return ""
    if name == "salary":
        return _salary(node)
    if name == "location":
        return _location(node, depth)
    found = (_readable(name, node[key], depth + 1) for key in _NAMED if key in node)
    return next(filter(None, found), "")


def _salary(node: dict[str, Any]) -> str:
    inner = node.get("value", node)
    amounts: dict[str, Any] = inner if isinstance(inner, dict) else {"value": inner}
    currency = str(node.get("currency") or amounts.get("currency") or "")
    low, high = amounts.get("minValue"), amounts.get("maxValue")
    one = amounts.get("value")
    amount = f"{low}–{high}" if low is not None and high is not None else low or high or one
    if amount is None:
        return ""
    unit = str(amounts.get("unitText") or node.get("unitText") or "").lower()
    return " ".join(filter(None, (currency, str(amount), f"per {unit}" if unit else "")))


def _location(node: dict[str, Any], depth: int) -> str:
    address = node.get("address", node)
    if isinstance(address, str):
        return address
    if isinstance(address, dict):
        parts = [_readable("company", address.get(key), depth + 1) for key in _ADDRESS]
        if any(parts):
            return ", ".join(filter(None, parts))
    return _readable("company", node.get("name"), depth + 1)


def _without_tags(value: str) -> str:
    if "<" not in value:
        return value.strip()
    # Job boards put a whole HTML document into one string.
    broken = _ITEM_BREAK.sub("\n", value)
    body = LexborHTMLParser(broken).body
    return body.text().strip() if body is not None else ""


def _items(value: str) -> list[str]:
    parts = [part.strip(" -*・•\t") for part in _ITEM_BREAK.split(value)]
    kept = [part for part in parts if part]
    if len(kept) > 1:
        return kept
    whole = one_line(value, limit=MAX_VALUE_CHARACTERS)
    return [whole] if whole else []
