"""Refuses HTML that is nested so deeply that a parser would take minutes or hours over it."""

from __future__ import annotations

import re

from citewell.core.errors import UnsupportedContent
from citewell.web.urls import shown_url

# A parser looks through the open elements at nearly every tag: 10,000 take it a third of a second,
# 50,000 ten, and a page of 1 MB can open 200,000. Browsers themselves flatten what is below 512.
MAX_NESTING = 10_000
_TAG = re.compile(r"<(/?)([a-z][a-z0-9-]*)", re.IGNORECASE)
# Elements without an end, and those that the next of their kind ends.
_UNCOUNTED = frozenset(
    "area base br col embed hr img input link meta param source track wbr "
    "a body colgroup dd dt head html li optgroup option p rp rt tbody td tfoot th thead tr".split()
)
# An end tag inside one of these ends nothing outside of it.
_SCOPES = frozenset("applet button marquee math object svg table template".split())
# How far an end tag is looked for. One that stands further off counts as missing, so that no page
# seems flatter than it is.
_LOOK_BACK = 100


def refuse_deep_nesting(html: str, *, url: str) -> None:
    """Refuse a page with more than MAX_NESTING elements inside one another.

    Raises:
        UnsupportedContent: it has.
    """
    if html.count("<") <= MAX_NESTING:
        return
    if _is_deep(html):
        raise UnsupportedContent(
            f"{shown_url(url)} has more than {MAX_NESTING:,} elements inside one another"
        )


def _is_deep(html: str) -> bool:
    opened: list[str] = []
    for tag in _TAG.finditer(html):
        name = tag[2].lower()
        if name in _UNCOUNTED:
            continue
        if tag[1]:
            _close(name, opened)
            continue
        opened.append(name)
        if len(opened) > MAX_NESTING:
            return True
    return False


def _close(name: str, opened: list[str]) -> None:
    for back in range(1, min(len(opened), _LOOK_BACK) + 1):
        if opened[-back] == name:
            del opened[-back:]
            return
        if opened[-back] in _SCOPES:
            return
