"""Arguments that several research tools share."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.core.results import Detail

MAX_QUERY_CHARACTERS = 10_000
MAX_URLS = 20

Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_QUERY_CHARACTERS,
        pattern=r"\S",
        description="Question or information need.",
    ),
]
Url = Annotated[str, Field(min_length=1, max_length=4_096)]
Urls = Annotated[list[Url], Field(min_length=1, max_length=MAX_URLS)]
DetailArgument = Annotated[
    Detail | None,
    Field(description="full: also blocks, images, trace."),
]
