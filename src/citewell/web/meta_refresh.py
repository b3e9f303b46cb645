"""Pages that send their reader on at once: by a `meta` mark, or by the header it stands for."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

from citewell.web.urls import resolve_url

# A page that only sends its reader on is short, and one that is long has its marks in its head.
_SEARCHED_CHARACTERS = 32_768
# What stands in `noscript` is left out: such a page has a text of its own, for those with scripts.
_MARK = ":not(noscript) > meta[http-equiv=refresh i][content]"
# At most three seconds, fractions not counted: with more, one is meant to read the page.
_AT_ONCE = re.compile(
    r"""\s*(?=[\d.])0*[0-3]?(?:\.[\d.]*)?(?:\s*[;,]|\s)\s*(?:url\s*=\s*)?"""
    r"""(?:"([^"]*)|'([^']*)|(.*))""",
    re.ASCII | re.DOTALL | re.IGNORECASE,
)


def refresh_of_page(html: str, *, url: str) -> str | None:
    """Return where a page sends its reader on to within a moment; None where it does not.

    It is as written there, and relative to the page unless that names another base.
    """
    start = html[:_SEARCHED_CHARACTERS]
    if "refresh" not in start.lower():
        return None
    parsed = LexborHTMLParser(start)
    mark = parsed.css_first(_MARK)
    target = None if mark is None else refresh_of_header(mark.attributes.get("content") or "")
    base = parsed.css_first("base[href]")
    if target is None or base is None:
        return target
    base_url = resolve_url(url, base.attributes.get("href") or "")
    return (base_url and resolve_url(base_url, target)) or target


def refresh_of_header(content: str) -> str | None:
    """Return where such a header, or the content of the mark, leads to within a moment."""
    match = _AT_ONCE.match(content)
    if match is None:
        return None
    # Nothing means the page itself, which is here already.
    return next(filter(None, match.groups()), "").strip() or None
