"""llms.txt: the pages that a site names for language models."""

from __future__ import annotations

import re

from citewell.core.errors import NotAUrl
from citewell.core.frozen import frozen
from citewell.core.text import without_closing_hashes
from citewell.web.urls import canonical_url, resolve_url

_TITLE = re.compile(r"^#[^\S\n]++(\S[^\n]*+)$", re.MULTILINE)
# No part may hold the bracket that begins the next link, so each character is looked at once.
_LINK = re.compile(
    r"\[[^\[\]\n]*+\]\(\s*+<?+([^()\s<>]++(?:\([^()\s]*+\)[^()\s<>]*+)*+)>?+[^)\[\n]*+\)"
)


@frozen
class LlmsTxt:
    """What an llms.txt says: the name of the site and its pages, in order."""

    title: str
    urls: tuple[str, ...]


def parse_llms_txt(body: bytes, *, address: str) -> LlmsTxt | None:
    """Return what the llms.txt at `address` says, or None when it is none.

    Sites that answer every address with a page of HTML have none, nor has one without links.
    """
    text = body.decode("utf-8-sig", "replace")
    if text.lstrip().startswith("<"):
        return None
    urls: list[str] = []
    for match in _LINK.finditer(text):
        target = resolve_url(address, match[1])
        try:
            if target is not None:
                urls.append(canonical_url(target))
        except NotAUrl:
            continue  # one bad link says nothing of the others
    if not urls:
        return None
    title = _TITLE.search(text)
    return LlmsTxt(
        title=without_closing_hashes(title[1]) if title else "", urls=tuple(dict.fromkeys(urls))
    )
