"""Reading the typed fields of a page: structured data first, then labels, then wording.

Nothing is made up: a field is there only with the words it was read from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.content_fields import (
    TYPED_CONTENTS,
    ContentField,
    FieldName,
    dump_fields,
)
from citewell.ingest.content_types.anchoring import SINGLE, from_structured, from_text
from citewell.ingest.content_types.outline import parse_outline
from citewell.ingest.content_types.phrases import find_phrase, split_role_and_company
from citewell.ingest.content_types.structured import extract_structured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.library import Fields, TypedContent
    from citewell.core.records import ExtractedPage, FetchedPage
    from citewell.ingest.content_types.outline import Announced

MAX_VALUES = 20
FIELDS_OF: dict[TypedContent, tuple[FieldName, ...]] = {
    "job_posting": (
        "company",
        "role",
        "location",
        "employment_type",
        "salary",
        "requirements",
        "nice_to_have",
        "benefits",
        "industry",
        "date",
    ),
    "blog_article": ("author", "date", "tips"),
    "company_page": ("company", "location", "values", "culture", "industry", "benefits"),
}
# What wording alone may tell; a date or place in running text is rarely the one that counts.
_BY_WORDING: dict[TypedContent, tuple[FieldName, ...]] = {
    "job_posting": ("salary", "employment_type", "company"),
    "blog_article": ("author", "date"),
    "company_page": ("company",),
}


def extract_fields(fetched: FetchedPage, page: ExtractedPage, content_type: str) -> Fields:
    """Return the fields of a page as the library keeps them; none for a type that has none."""
    known = next((typed for typed in TYPED_CONTENTS if typed == content_type), None)
    return {} if known is None else dump_fields(extract_content_fields(page, known))


def extract_content_fields(
    page: ExtractedPage, content_type: TypedContent
) -> tuple[ContentField, ...]:
    """Return the fields of a page, in the order of its content type's fields."""
    names = FIELDS_OF[content_type]
    found: dict[FieldName, list[ContentField]] = {name: [] for name in names}
    for field in extract_structured(page.structured_data, content_type, page.text):
        if field.name in found:
            _add(found[field.name], field)
    for name, announced in _grouped(parse_outline(page.text, names)).items():
        if not found[name]:
            for each in announced:
                field_read = from_text(name, page.text, each.span)
                if field_read is not None:
                    _add(found[name], field_read)
    _take_metadata(page, found)
    _take_heading(page, found)
    for name in _BY_WORDING[content_type]:
        if not found[name] and (span := find_phrase(name, page.text)) is not None:
            phrase = from_text(name, page.text, span)
            found[name] += [phrase] if phrase is not None else []
    return tuple(field for name in names for field in found[name])


def _grouped(outline: Sequence[Announced]) -> dict[FieldName, list[Announced]]:
    groups: dict[FieldName, list[Announced]] = {}
    for each in outline:
        groups.setdefault(each.name, []).append(each)
    return {
        name: group if name in SINGLE else _members_only(group) for name, group in groups.items()
    }


def _members_only(group: list[Announced]) -> list[Announced]:
    """Leave out what only introduces a list: the sentences around it and the headings over it."""
    kept = [each for each in group if each.form != "sentence"]
    members = [
        each
        for at, each in enumerate(kept)
        if each.form == "item" or kept[at + 1 : at + 2] == [] or kept[at + 1].form == "heading"
    ]
    return members or group


def _add(fields: list[ContentField], field: ContentField) -> None:
    limit = 1 if field.name in SINGLE and field.name != "location" else MAX_VALUES
    same = {known.value.casefold() for known in fields}
    if len(fields) < limit and field.value.casefold() not in same:
        fields.append(field)


def _take_metadata(page: ExtractedPage, found: dict[FieldName, list[ContentField]]) -> None:
    """Take what the page's head says, where neither structured data nor a label said it."""
    known: tuple[tuple[FieldName, str, str], ...] = (
        ("date", page.published_at or "", "metadata.published_at"),
        ("author", page.author, "metadata.author"),
    )
    for name, value, path in known:
        if name in found and not found[name]:
            field = from_structured(name, value, raw=value, path=path, text=page.text)
            found[name] += [field] if field is not None else []


def _take_heading(page: ExtractedPage, found: dict[FieldName, list[ContentField]]) -> None:
    """Take the role of a job, and perhaps the company, from the page's first heading."""
    if "role" not in found or found["role"]:
        return
    heading = next((each for each in page.sections if each.level == 1 and each.heading), None)
    if heading is None:
        return
    start = heading.start
    end = page.text.find("\n", start)
    line = page.text[start : end if end >= 0 else len(page.text)]
    words_at = len(line) - len(line.lstrip("# "))
    both = split_role_and_company(line)
    role_span = both[0] if both is not None else (words_at, len(line))
    role = from_text("role", page.text, (start + role_span[0], start + role_span[1]))
    found["role"] += [role] if role is not None else []
    if both is not None and not found["company"]:
        company = from_text("company", page.text, (start + both[1][0], start + both[1][1]))
        found["company"] += [company] if company is not None else []
