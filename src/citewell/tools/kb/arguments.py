"""Arguments that several kb tools share, with their defaults and caps."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from citewell.tools.research.arguments import question_field
from citewell.tools.tool import ToolInput

DEFAULT_TOP_K = 5
MAX_TOP_K = 50
MAX_PAGE_SIZE = 20
MAX_QUESTION_CHARACTERS = 2_000
DEFAULT_QUOTES = 6
MAX_QUOTES = 12

Mode = Literal["auto", "vector_only", "hybrid_local"]

Query = Annotated[str, question_field("query", max_length=MAX_QUESTION_CHARACTERS)]
Question = Annotated[str, question_field("question", max_length=MAX_QUESTION_CHARACTERS)]
TopK = Annotated[int, Field(ge=1, le=MAX_TOP_K)]
MaxQuotes = Annotated[int, Field(ge=1, le=MAX_QUOTES)]
PassageId = Annotated[str, Field(min_length=1, max_length=200)]


class SearchOptions(ToolInput):
    """Options of a search and its results."""

    max_snippet_chars: Annotated[int, Field(ge=40, le=500)] = 280
    max_per_doc: Annotated[int, Field(ge=1, le=10, description="Results of one page.")] = 1
    include_scores: bool = False
    include_debug: bool = False
    mode: Mode = "auto"


class EvidenceOptions(SearchOptions):
    """Options of a search for passages to quote."""

    # One passage per page loses further answers of long pages: on chunkeval, three quote .785 of
    # the references, one .657.
    max_per_doc: Annotated[int, Field(ge=1, le=10)] = 3


ShortSearchOptions = Annotated[
    SearchOptions,
    WithJsonSchema(
        {
            "type": "object",
            "description": "mode (auto, vector_only, hybrid_local), max_per_doc (1), "
            "max_snippet_chars (280), include_scores, include_debug.",
        }
    ),
]
ShortOptions = Annotated[
    EvidenceOptions,
    WithJsonSchema(
        {
            "type": "object",
            "description": "mode (auto, vector_only, hybrid_local), max_per_doc (3).",
        }
    ),
]
