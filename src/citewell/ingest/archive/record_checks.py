"""Validate the records of an archive before anything is made from them.

A file can say anything, and the rest of the program relies on what it stores: that offsets lie in
the text, that a section stands after the one it belongs to, that a name is text.
"""

from __future__ import annotations

import base64
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from citewell.core.library import ContentType, CrawlScope, Discovery, WebsiteKind, WebsiteStatus
from citewell.core.records import Language, LinkKind, PageKind, PageOrigin
from citewell.ingest.packages.dependency import Ecosystem

if TYPE_CHECKING:
    from typing import Self

_MAX_NUMBER = 2**31 - 1
_SCRIPTS = ("javascript:", "vbscript:", "data:")
_ADDRESS = rf"^((https?|file)://|({'|'.join(get_args(Ecosystem))}):)"


def _storable(text: str) -> str:
    # PostgreSQL text cannot hold NUL, and no page does. A lone surrogate cannot be encoded.
    if b"\0" in text.encode():
        raise ValueError("text cannot hold NUL")
    return text


def _without_script(url: str) -> str:
    if url.strip().lower().startswith(_SCRIPTS):
        raise ValueError("an address cannot be a script")
    return url


def _half_precision(vector: str) -> str:
    if len(base64.b64decode(vector, validate=True)) % 2:
        raise ValueError("a vector is made of numbers of two bytes")
    return vector


def _with_zone(moment: str) -> str:
    if datetime.fromisoformat(moment).tzinfo is None:
        raise ValueError("a moment needs a time zone")
    return moment


Text = Annotated[str, AfterValidator(_storable)]
Count = Annotated[int, Field(ge=0, le=_MAX_NUMBER)]
Url = Annotated[Text, Field(max_length=20_000, pattern=_ADDRESS)]
Target = Annotated[Text, AfterValidator(_without_script)]
Moment = Annotated[str, AfterValidator(_with_zone)]


class _Record(BaseModel):
    # Files of other versions have further fields.
    model_config = ConfigDict(strict=True, extra="ignore")


class _Place(_Record):
    section: Count
    start: Count


class _Section(_Record):
    start: Count
    end: Count
    ordinal: Count
    parent: Count | None
    level: Annotated[int, Field(ge=0, le=100)]
    heading: Text
    anchor: Text | None


class _Image(_Place):
    url: Target
    alt: Text
    caption: Text


class _Link(_Place):
    url: Target
    text: Text
    context: Text
    kind: LinkKind = "content"


class _Chunk(_Place):
    end: Count
    tokens: Count
    heading_path: list[Text]
    anchor: Text | None
    embedded_text: Text
    has_code: bool
    vector: Annotated[str, AfterValidator(_half_precision)] | None


class _Response(_Record):
    status: Annotated[int, Field(ge=100, le=999)]
    final_url: Target
    content_type: Text
    headers: list[Annotated[list[Text], Field(min_length=2, max_length=2)]]
    fetched_at: Moment
    body: str


class _Page(_Record):
    url: Url
    final_url: Url
    title: Text
    kind: PageKind
    language: Language
    content_type: Text
    tags: list[Text]
    text_hash: Text
    fetched_at: Moment
    etag: Text | None
    last_modified: Text | None
    published_at: Text | None
    modified_at: Text | None
    origin: PageOrigin = "fetched"
    supplied_by: Text = ""
    incomplete: Text = ""
    extractor: Count = 0
    canonical_url: Target | None = None
    description: Text = ""
    structured_data: Text = "[]"
    text: Text
    screen: Text = ""
    sections: Annotated[list[_Section], Field(min_length=1)]
    links: list[_Link]
    images: list[_Image]
    model: Text | None
    chunks: list[_Chunk]
    response: _Response | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for ordinal, section in enumerate(self.sections):
            is_outer = section.parent is None or section.parent < ordinal
            if section.ordinal != ordinal or not is_outer:
                raise ValueError("a section stands in the wrong place")
        length, sections = len(self.text), len(self.sections)
        spans: list[_Section | _Chunk] = [*self.sections, *self.chunks]
        if any(not span.start <= span.end <= length for span in spans):
            raise ValueError("a span does not lie in the text")
        places: list[_Place] = [*self.links, *self.images, *self.chunks]
        if any(place.section >= sections or place.start > length for place in places):
            raise ValueError("a place does not lie in the text")
        return self


class _Options(_Record):
    discovery: Discovery = "auto"
    scope: CrawlScope = "path"
    max_depth: Count
    max_pages: Count
    include: list[Text]
    exclude: list[Text]
    language: Language | None = None
    # A misspelt option would be lost.
    model_config = ConfigDict(extra="forbid")


class _Member(_Record):
    url: Url
    fields: dict[str, Any]


class _Website(_Record):
    url: Url
    kind: WebsiteKind
    content_type: ContentType
    status: WebsiteStatus
    error_message: Text | None
    title: Text
    tags: list[Text]
    options: _Options
    refresh_seconds: Annotated[float, Field(ge=1, le=1e10, allow_inf_nan=False)] | None
    members: list[_Member]


_MODELS: dict[Literal["page", "website"], type[_Record]] = {"page": _Page, "website": _Website}


def check_record(record: object, kind: Literal["page", "website"]) -> None:
    """Raise ValueError if `record` is not one of its kind."""
    _MODELS[kind].model_validate(record)
