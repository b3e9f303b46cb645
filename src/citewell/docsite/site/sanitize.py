"""Sanitise HTML from Markdown."""

from __future__ import annotations

import nh3

from citewell.docsite.site.callouts import CLASSES
from citewell.docsite.site.tables import LONG_CODE

_TAGS = frozenset(
    "a abbr b bdi bdo blockquote br caption cite code col colgroup dd del details dfn div dl dt em "
    "figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p picture pre q rp rt "
    "ruby s samp section small source span strong sub summary sup table tbody td tfoot th thead "
    "time tr u ul var video wbr".split()
)
_ATTRIBUTES = {
    "*": {"id", "title", "lang", "dir", "align"},
    "a": {"href", "name", "aria-label"},
    "img": {"src", "alt", "width", "height", "loading"},
    "source": {"src", "srcset", "type", "media"},
    "video": {"src", "poster", "width", "height", "controls", "muted", "loop"},
    "details": {"open"},
    "ol": {"start", "reversed", "type"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "time": {"datetime"},
    "section": {"aria-label"},
}
# Only the classes that rendering itself makes: others could imitate or cover parts of the page.
_ALIGNED = {"align-left", "align-center", "align-right"}
_CLASSES = {
    "a": {"permalink", "footnote-backref", "inert", "missing"},
    "code": {LONG_CODE},
    "details": set(CLASSES),
    "div": {*CLASSES, "table-scroll"},
    "hr": {"footnotes-sep"},
    "li": {"footnote-item", "task-list-item"},
    "ol": {"footnotes-list"},
    "p": set(CLASSES),
    "section": {"footnotes"},
    "summary": set(CLASSES),
    "sup": {"footnote-ref"},
    "td": _ALIGNED,
    "th": _ALIGNED,
    "ul": {"contains-task-list"},
}

_CLEANER = nh3.Cleaner(
    tags=set(_TAGS),
    attributes=_ATTRIBUTES,
    allowed_classes=_CLASSES,
    tag_attribute_values={"div": {"tabindex": {"0"}}},
    url_schemes={"http", "https", "mailto", "tel"},
    link_rel=None,
)


def sanitized(html: str) -> str:
    """Return a fragment without scripts, styles, forms, event handlers and dangerous addresses."""
    return _CLEANER.clean(html)
