"""Arguments that several research tools share."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field

from citewell.core.results import Detail

MAX_QUERY_CHARACTERS = 10_000
MAX_URLS = 20


def question_field(
    name: Literal["query", "question"], *, max_length: int, description: str | None = None
) -> Any:  # noqa: ANN401 - what pydantic's Field returns
    """Return the field of a question; callers can name it `query` or `question`."""
    other = "question" if name == "query" else "query"
    return Field(
        min_length=1,
        max_length=max_length,
        pattern=r"\S",
        validation_alias=AliasChoices(name, other),
        description=description,
    )


Query = Annotated[
    str,
    question_field(
        "query", max_length=MAX_QUERY_CHARACTERS, description="Question or information need."
    ),
]
URL_NAMES = AliasChoices("url", "urls")
"""`url` takes a list too, so models call it `urls`."""
Url = Annotated[str, Field(min_length=1, max_length=4_096)]
Urls = Annotated[list[Url], Field(min_length=1, max_length=MAX_URLS)]


def _as_list(urls: object) -> object:
    return [urls] if isinstance(urls, str) else urls


SourceUrls = Annotated[
    list[Url] | None,
    BeforeValidator(_as_list),
    Field(
        max_length=100,
        validation_alias=AliasChoices("source_urls", "source_url", "url", "urls"),
        description="Only these indexed URLs; https://site/docs/* takes all below.",
    ),
]
"""The URL filter of all tools that search."""


def _current_name(detail: object) -> object:
    return "brief" if detail == "full" else detail


DetailArgument = Annotated[
    Detail,
    # An earlier name of `brief`.
    BeforeValidator(_current_name),
    Field(description="passages: the text around the quotes; brief: also images, trace."),
]
