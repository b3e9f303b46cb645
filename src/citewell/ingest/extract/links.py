"""Where the links and images of a page lead."""

from __future__ import annotations

import re

from citewell.web.urls import resolve_url, without_anchor

# A page and a fragment in which no sign has to be escaped.
_PLAIN_REFERENCE = re.compile(r"([\w.:/-]+)(#[\w.-]{1,200})", re.ASCII)
# Markdown ends a link target at a bare parenthesis or space.
_TO_ESCAPE = re.compile(r"[() <>]")
_ESCAPES = str.maketrans({"(": "%28", ")": "%29", " ": "%20", "<": "%3C", ">": "%3E"})


def markdown_target(url: str) -> str:
    """Return `url` as it may stand between the parentheses of a Markdown link."""
    return url.translate(_ESCAPES) if _TO_ESCAPE.search(url) else url


def is_anchor(reference: str) -> bool:
    """Return whether a reference leads to a place on its own page; a script's route does not."""
    return reference.startswith("#") and without_anchor(reference) != reference


class LinkResolver:
    """Resolves the references of one page; each distinct one is resolved once."""

    def __init__(self, page_url: str, *, base_href: str = "") -> None:
        self._page = without_anchor(page_url)
        self._base = resolve_url(page_url, base_href) if base_href else None
        self._known: dict[str, str | None] = {}

    def resolve(self, reference: str) -> str | None:
        """Return the absolute URL, fragment kept; None where it does not lead to the web."""
        if reference in self._known:
            return self._known[reference]
        plain = _PLAIN_REFERENCE.fullmatch(reference)
        if plain is not None:
            # A page of reference links to many places of the same few pages.
            page = self.resolve(plain.group(1))
            url = None if page is None else page + plain.group(2)
        else:
            url = resolve_url(self._base or self._page, reference.strip()) if reference else None
        self._known[reference] = url
        return url

    def leads_elsewhere(self, url: str) -> bool:
        """Return whether a resolved URL is of another page than this one."""
        return without_anchor(url) != self._page
