"""JSON as canonical Markdown: pretty-printed inside a fence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from citewell.core.errors import EmptyPage, ExtractionError
from citewell.core.language import detect_language
from citewell.core.records import ExtractedPage
from citewell.ingest.extract.canonical import CanonicalWriter
from citewell.ingest.extract.characters import clean_plain_text, collapse_spaces
from citewell.ingest.extract.html.code import fence
from citewell.ingest.extract.page_name import name_of

if TYPE_CHECKING:
    from citewell.core.records import FetchedPage

_TITLE_KEYS = ("title", "name", "headline", "label", "id")
_MAX_TITLE_CHARACTERS = 200


def extract_json(fetched: FetchedPage) -> ExtractedPage:
    """Return JSON under a heading, one value a line.

    Text that is not JSON after all, or is one value a line, is fenced as it stands.

    Raises:
        EmptyPage: there is no text.
        ExtractionError: it is nested too deeply to be read.
    """
    source = clean_plain_text(fetched.text).strip()
    if not source:
        raise EmptyPage(f"{fetched.final_url} holds no readable text")
    title = name_of(fetched.final_url)
    description = ""
    try:
        value = json.loads(source)
        pretty = clean_plain_text(json.dumps(value, indent=2, ensure_ascii=False))
        title = _text_of(value, _TITLE_KEYS) or title
        description = _text_of(value, ("description", "summary"))
    except ValueError:
        pretty = source
    except RecursionError as error:
        raise ExtractionError(f"{fetched.final_url} is nested too deeply") from error
    writer = CanonicalWriter()
    mark = writer.mark_section(1, title, None)
    canonical = writer.finish(f"{mark}# {title}\n\n{fence(pretty, 'json')}")
    return ExtractedPage(
        title=title,
        text=canonical.text,
        kind="json",
        language=detect_language(pretty),
        sections=canonical.sections,
        description=description,
    )


def _text_of(value: object, keys: tuple[str, ...]) -> str:
    if not isinstance(value, dict):
        return ""
    found = next((value[key] for key in keys if isinstance(value.get(key), str)), "")
    return collapse_spaces(clean_plain_text(found))[:_MAX_TITLE_CHARACTERS]
