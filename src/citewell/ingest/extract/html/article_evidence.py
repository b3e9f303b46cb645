"""Telling articles (news, blogs) from other pages, by what they say of themselves."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

    from citewell.ingest.extract.html.tree import Document

_DOCUMENTATION_GENERATORS = re.compile(
    r"sphinx|docutils|mkdocs|docusaurus|asciidoc|mdbook|docbook|javadoc|vitepress|pdoc|doxygen"
    r"|dblatex|rustdoc|makeinfo|texinfo|pandoc|gitbook|haddock|odoc|ocamldoc|latex2html|tex4ht"
    r"|gtk-doc|gi-docgen|yard|rdoc|jsdoc|typedoc|phpdocumentor|scaladoc|dokka|exdoc|ex_doc"
    r"|documenter|antora|mediawiki|starlight|nextra|pod::|pod2html|groff",
    re.IGNORECASE,
)
# In a discussion, what answers an article is the text.
_FORUM_GENERATORS = re.compile(
    r"discourse|phpbb|vbulletin|xenforo|mybb|flarum|vanilla forums|simple machines|fluxbb|punbb",
    re.IGNORECASE,
)
_FORUM_MARKS = "[itemtype*='DiscussionForumPosting'], [itemtype*='QAPage'], body#phpbb"
_FORUM_TYPE = re.compile(r'"@type"\s*+:\s*+\[?+\s*+"(?:DiscussionForumPosting|QAPage)"')
_DOCUMENTATION_MARKS = (
    ".sphinxsidebar, .rst-content, .theme-doc-markdown, .vp-doc, .md-content, .bd-article, "
    ".mw-parser-output, .sidebar-scrollbox, #mdbook-sidebar, .book-summary, .sig-object, dl.py, "
    ".contents > .textblock, .memitem, script[src='menudata.js']"
)
_ARTICLE_MARKS = (
    "meta[property='og:type' i][content*='article' i], meta[property^='article:' i], "
    "[itemtype*='Article'], [itemtype*='Posting'], [itemprop='articleBody'], "
    ".hentry, .h-entry, .type-post, .single-post"
)
_ARTICLE_TYPE = re.compile(r'"@type"\s*+:\s*+\[?+\s*+"(?:\w*Article|\w*Posting|Recipe|Review)"')
_SHARING = re.compile(
    r"(?:facebook|twitter|linkedin|pinterest|reddit)\.com/(?:share|sharer|intent|sharearticle|submit"
    r"|pin/create)|addthis|addtoany|shareaholic|fb-like|fb:like|twitter-share|disqus_",
    re.IGNORECASE,
)
_SHOWN_ELSEWHERE = "meta[property='og:site_name'], meta[property='og:image']"
_CODE = "pre, code, dl, samp, tt, kbd"
# Each says little: documentation has some of them too.
_HINTS = (
    "link[type='application/rss+xml'], link[type='application/atom+xml']",
    "#disqus_thread, .comment-list, .commentlist, #respond, .comments-area, .comment-body",
    "time[datetime], time[pubdate]",
    "[rel='author' i], .byline, [itemprop='author'], .vcard",
    _SHOWN_ELSEWHERE,
    "meta[name^='twitter:' i]",
    "meta[property='fb:app_id'], meta[name='news_keywords'], meta[name='date'], "
    "script[src*='googletagmanager'], script[src*='analytics'], script[src*='doubleclick']",
)
_CONTENT_MANAGERS = re.compile(
    r"wordpress|typo3|drupal|joomla|xoops|blogger|ghost|medium|contao|squarespace|wix|movable type"
    r"|serendipity|textpattern|tumblr|typepad",
    re.IGNORECASE,
)
_LEAST_HINTS = 2
# Documentation made by a general site generator has some hints too, and code.
_LEAST_HINTS_BESIDE_CODE = 3


def is_article(document: Document) -> bool:
    """Return whether the page calls itself an article, or much about it does."""
    parsed = document.parsed
    generators = " ".join(
        node.attributes.get("content") or "" for node in parsed.css("meta[name='generator' i]")
    )
    if _DOCUMENTATION_GENERATORS.search(generators) or parsed.css_matches(_DOCUMENTATION_MARKS):
        return False
    if _is_forum(parsed, generators):
        return False
    if parsed.css_matches(_ARTICLE_MARKS) or _has_data(parsed, _ARTICLE_TYPE):
        return True
    hints = sum(bool(parsed.css_matches(hint)) for hint in _HINTS)
    hints += 2 * bool(_CONTENT_MANAGERS.search(generators))
    hints += bool(parsed.css_matches(_SHOWN_ELSEWHERE))
    if parsed.css_matches(_CODE):
        return hints >= _LEAST_HINTS_BESIDE_CODE
    return hints >= _LEAST_HINTS or any(
        _is_sharing(node.attributes) for node in parsed.css("a[href], script[src], div[class]")
    )


def _is_forum(parsed: LexborHTMLParser, generators: str) -> bool:
    return (
        bool(_FORUM_GENERATORS.search(generators))
        or parsed.css_matches(_FORUM_MARKS)
        or _has_data(parsed, _FORUM_TYPE)
    )


def _has_data(parsed: LexborHTMLParser, type_named: re.Pattern[str]) -> bool:
    return any(
        type_named.search(node.text()) for node in parsed.css("script[type='application/ld+json']")
    )


def _is_sharing(attributes: dict[str, str | None]) -> bool:
    place = attributes.get("href") or attributes.get("src") or attributes.get("class") or ""
    return bool(_SHARING.search(place))
