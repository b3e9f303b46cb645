"""Quotes and their sources in forms to paste elsewhere: Markdown, BibTeX, CSL-JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from citewell.core.text import one_line
from citewell.core.text_fragment import link_to_section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import Quote

_BIBTEX_SPECIAL = str.maketrans({character: f"\\{character}" for character in "&%$#_"})
_BIBTEX_SPECIAL.update(str.maketrans({"{": "(", "}": ")", "\\": "/", "~": r"\~{}", "^": r"\^{}"}))
_URL_SPECIAL = str.maketrans({character: f"%{ord(character):02X}" for character in "() {}<>"})
_NOT_IN_KEY = re.compile(r"[^a-z0-9]+")


def quote_url(quote: Quote) -> str:
    """Return the address of the quote on the web: its page, at its words where that is known."""
    return quote.link or link_to_section(quote.url, quote.anchor)


def as_markdown(quotes: Sequence[Quote]) -> str:
    """Return the quotes as Markdown, each with a link to its source."""
    return "\n\n".join(
        "\n".join(f"> {line}".rstrip() for line in quote.text.splitlines())
        + f"\n>\n> — [{_link_text(quote)}]({_link_target(quote)}), {quote.fetched_at:%Y-%m-%d}"
        for quote in quotes
    )


def as_bibtex(quotes: Sequence[Quote]) -> str:
    """Return an entry for each quote, the best first."""
    return "\n\n".join(
        f"@misc{{{key},\n"
        f"  title = {{{_title(quote).translate(_BIBTEX_SPECIAL)}}},\n"
        f"  howpublished = {{{_host(quote).translate(_BIBTEX_SPECIAL)}}},\n"
        f"  url = {{{_link_target(quote)}}},\n"
        f"  urldate = {{{quote.fetched_at:%Y-%m-%d}}}\n"
        "}"
        for key, quote in _entries(quotes)
    )


def as_csl(quotes: Sequence[Quote]) -> str:
    """Return the quotes as a CSL-JSON list."""
    entries: list[dict[str, Any]] = [
        {
            "id": key,
            "type": "webpage",
            "title": _title(quote),
            "container-title": _host(quote),
            "URL": _link_target(quote),
            "accessed": {
                "date-parts": [
                    [quote.fetched_at.year, quote.fetched_at.month, quote.fetched_at.day]
                ]
            },
        }
        for key, quote in _entries(quotes)
    ]
    return json.dumps(entries, ensure_ascii=False, indent=2)


def _entries(quotes: Sequence[Quote]) -> list[tuple[str, Quote]]:
    """Return the quotes with a key for each; several of one page are numbered."""
    seen: Counter[int] = Counter()
    entries: list[tuple[str, Quote]] = []
    for quote in quotes:
        seen[quote.source_id] += 1
        number = seen[quote.source_id]
        entries.append((_key(quote) + (f"-{number}" if number > 1 else ""), quote))
    return entries


def _key(quote: Quote) -> str:
    words = _NOT_IN_KEY.sub("-", f"{_host(quote)} {_title(quote)}".lower()).strip("-")
    return f"{words[:40].strip('-') or 'page'}-{quote.source_id}"


def _title(quote: Quote) -> str:
    return one_line(quote.title) or quote.url


def _host(quote: Quote) -> str:
    return urlsplit(quote.url).hostname or quote.url


def _link_text(quote: Quote) -> str:
    path = " › ".join((_title(quote), *quote.heading_path[-1:]))
    return one_line(path).replace("[", "(").replace("]", ")")


def _link_target(quote: Quote) -> str:
    return quote_url(quote).translate(_URL_SPECIAL)
