"""Telling by their names the parts that stand around an article: menus, banners, comments."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.ingest.extract.html.element import HEADING_TAGS

if TYPE_CHECKING:
    from citewell.ingest.extract.html.element import Element

_LETTERS = re.compile(r"[^\W_]+")

_TAGS = frozenset({"nav", "footer", "search", "dialog", "menu"})
_ROLES = frozenset(
    "navigation banner contentinfo search complementary menu menubar dialog alertdialog toolbar "
    "tablist tooltip".split()
)
# Words of class and id names; a name made of several words counts when one of them is here.
_WORDS = re.compile(
    r"(?:^|.*[-_])(?:"
    r"comments?|commentlist|disqus\w*|respond|replies|trackbacks?|pingbacks?|\w*sidebars?|sidebox|aside"
    r"|side-?bar|rail|\w*footer\w*|foot|fusszeile|nav|\w*navbar|navi|navigation|subnav|menus?"
    r"|breadcrumbs?|share|shar(?:e|ing)\w*|shariff|social\w*|addtoany|addthis\w*|follow-?us|followers"
    r"|related\w*|relacionad[ao]s|similar|recommend\w*|recirc\w*|you-may|also-like|read-?next|up-?next"
    r"|more-?(?:from|stories|news|articles|posts|on|about|links)|further-reading|trending|ticker"
    r"|most-?(?:read|popular|viewed)|popular|latest|teasers?|promo\w*|advert\w*|ads?|adv|adsense"
    r"|ad-?(?:container|wrapper|slot|unit|box|label|block)|dfp|sponsor\w*|outbrain|taboola|plista"
    r"|banner|cookies?|\w*cookie(?:law|info|bar|notice|consent)\w*|consent|gdpr|cli-\w+|newsletters?"
    r"|subscri\w*|signup|sign-up|optin|login|paywall|popup|pop-up|modal|overlay|lightbox|widgets?"
    r"|pagination|pager|paging|paginate|prev-?next|tag-?(?:list|cloud|links)|tags|tagged|categories"
    r"|cat-links|keywords|topics|authors?|author-?\w+|about-?author|bio|biography|byline|by-line"
    r"|dateline|timestamp|datetime|post-?(?:meta|info|date|footer|tags|categories|nav\w*)"
    r"|entry-?(?:meta|footer|utility|date)|postmetadata|meta-?(?:data|info|bar)|read-?time"
    r"|article-?(?:meta|info|tools|footer|tags|actions|date|share|topics|side)|toolbar|tool-?bar|tools"
    r"|email-?(?:this|friend)|ratings?|votes?|voting|poll|feedback|search|suche|searchform|skip|toc"
    r"|table-of-contents|inhaltsverzeichnis|copyright|imprint|disclaimer|credits?|credit-?line"
    r"|photo-?credit|captions?|\w*caption|thumbs?|thumbnails?|carousel|slider|slideshow|playlist|marquee|noprint"
    r"|wpcnt|sociable|like-?button|likes|fb|tweet-?button|whatsapp|flattr|vg-?wort|donat\w*|support-?us"
    r"|buy-?now|buy-?box|cart|basket|wishlist|affiliate\w*|language-?(?:switcher|selector)|lang-?switch\w*"
    r"|site-?(?:header|nav|info|logo)|masthead|top-?bar|header-?(?:top|bar|nav)|colophon|sitemap|\w*cta\d?"
    r"|contact-?(?:form|box)|call-?to-?action|link-?(?:list|box)|linklist|weiterlesen|mehr-zum-thema"
    r"|article-?list|post-?list|list-?posts|news-?list|story-?list|factbox-?links|jp-post-flair|sabox\w*"
    r")(?:[-_].*|\d*)$"
)
_SURE_NAMES = re.compile(
    r"comment|disqus|footer|sidebar|widget|related|recommend|cookie|consent|newsletter|navigation"
    r"|breadcrumb|popular|trending|sharing|share-|taboola|outbrain"
)
# Names are shorter; what is longer was made to be slow to compare.
_LONGEST_NAME = 80
# Layout says with such names what a page has, not what an element is.
_LAYOUT_NAME = re.compile(r"(?:has|no|with|without|js|is|type|post|category|tag|status|format)-")
# Names that hold content although one of the words above is beside them.
_CONTENT_NAMES = re.compile(
    r" (?:\S*(?:article|post|entry|story|page|main|blog)[-_]*+(?:body|content|text|copy)"
    r"|(?:hentry|content|main|blogpost) |\S*embed)"
)
_FREE_TAGS = frozenset(
    {"body", "main", "article", "html", "table", "tbody", "tr", "pre", "code", "math"}
)


def is_surrounding(element: Element) -> bool:
    """Return whether the element's tag, role or names say that it is not an article's text."""
    if element.tag in _TAGS or element.tag == "aside":
        return True
    if element.attributes.get("role") in _ROLES:
        return True
    names = element.names
    if not names or element.tag in _FREE_TAGS or _is_named_after_heading(element):
        return False
    if not any(_is_surrounding_name(name[:_LONGEST_NAME]) for name in names.split()):
        return False
    if "caption" in names and (element.find("img") is not None or "wp-caption" in names):
        return False
    return not _CONTENT_NAMES.search(names)


def is_surely_surrounding(element: Element) -> bool:
    """Return whether what the element is called leaves little doubt."""
    return element.tag in _TAGS or element.tag == "aside" or bool(_SURE_NAMES.search(element.names))


def _is_named_after_heading(element: Element) -> bool:
    """Return whether the element's id was made from its heading, and so says nothing else."""
    own_id = element.attribute("id")
    if not own_id or not element.has_heading:
        return False
    heading = element.find(*HEADING_TAGS)
    words = _LETTERS.findall(heading.text().lower()) if heading is not None else []
    return bool(words) and "".join(words).startswith("".join(_LETTERS.findall(own_id.lower())))


@lru_cache(maxsize=16_384)
def _is_surrounding_name(name: str) -> bool:
    return bool(_WORDS.match(name)) and not _LAYOUT_NAME.match(name)
