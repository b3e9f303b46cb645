"""Telling the furniture of a page: what serves finding one's way on a site and says nothing itself.

Everything is content until something shows otherwise: a landmark, a role, the chrome of a known
generator, a bar of links to the pages before and after, or a name such as "sidebar". A name
decides only about an element without heading, running text, code or data, since generators make
ids from headings.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.ingest.extract.html.admonitions import parse_admonition
from citewell.ingest.extract.html.element import HEADING_TAGS
from citewell.ingest.extract.html.navigation_bar import (
    KEPT_INSIDE,
    is_alphabet,
    is_language_bar,
    is_navigation_bar,
)
from citewell.ingest.extract.html.tooltips import is_tooltip

if TYPE_CHECKING:
    from citewell.ingest.extract.html.element import Element
    from citewell.ingest.extract.html.measures import Measure

_NAVIGATION_ROLES = frozenset(
    "navigation search menu menubar toolbar tablist doc-toc dialog alertdialog".split()
)
_NAVIGATION_TAGS = frozenset({"nav", "search"})
# Running text in navigation is a caption; more than this is a text that somebody put there.
_CAPTION_CHARACTERS = 200
_FOOTER_CHARACTERS = 700
_HOLDER_TAGS = frozenset("div section ul ol table form center header footer aside menu dl".split())
_BAR_TAGS = frozenset(
    "div p ul ol table center address span dl form section b font small strong i em".split()
)
# Classes and ids with which generators mark chrome; none is a word that a heading could be.
_CHROME_CLASSES = frozenset(
    "sphinxsidebar sphinxsidebarwrapper wy-nav-side wy-nav-top rst-footer-buttons rst-versions "
    "prev-next-area prev-next-footer prev-next-bottom bd-sidebar bd-sidebar-primary "
    "bd-sidebar-secondary bd-toc bd-header bd-header-article bd-footer bd-footer-article "
    "md-sidebar md-footer md-header md-tabs md-source md-source-file md-feedback "
    "md-content__button theme-doc-footer theme-doc-breadcrumbs theme-doc-toc-mobile "
    "theme-doc-toc-desktop theme-edit-this-page theme-doc-version-badge pagination-nav "
    "mobile-nav-chapters nav-chapters nav-wrapper menu-bar sidebar-scrollbox book-summary "
    "page-toc toc-drawer toc-mobile navheader navfooter vp-doc-footer vpdocfooter vpdocaside "
    "skip-nav skip-link skip-to-content mw-jump-link mw-editsection printfooter navbox "
    "mw-hidden-catlinks sourcelink localtoc in-page-toc on-github article-actions article-footer "
    "baseline-indicator reference-toc topnav bottomnav subnav top-nav bottom-nav sub-nav "
    "flex-header ttc navpath memnav navtab ingroups srstatus pageid t-navbar summary-navigation "
    "edit-this-page edit-page-link was-this-helpful docs-license docs-updated docs-actions "
    "docs-actions-wrapper docs-sidebar editbar post-buttons back2top navigationbar "
    "bypass-block email-vote comment-actions like-summary actions-jump jumpbox online-list "
    "navbarcell1 navbarcell2 navbarcell3 legalcopy qindex bd-header-announcement "
    "announcement-content "
    "js-post-menu comments-link -flair pagetop yclinks chlinktop chlinkbot theme-switch-wrapper "
    "patterntop footer_version footer_report "
    "subpages".split()
)
_CHROME_IDS = frozenset(
    "mw-navigation mw-head mw-panel mw-page-base mw-head-base sitesub jump-to-nav "
    "side-nav nav-path main-nav nav-tree nav-sync msearchselectwindow msearchresultswindow "
    "titlearea package-header sphinx-sidebar mdbook-sidebar mdbook-menu-bar cpp-head-first-base "
    "cpp-head-second-base cpp-head-personal cpp-toolbox cpp-footer-base "
    "dokuwiki__header dokuwiki__aside dokuwiki__pagetools dokuwiki__footer dw__toc "
    "mw-hidden-catlinks navibar pageinfo _header _fixed-header-wrap _toolbar-wrap "
    "_bottom-navigation _share-print _footer-wrap wiki-pages-box wiki-rightbar "
    "altlinks metanav ctxtnav thread-overview-info mathjaxlink global-links searchinputdiv "
    "jump_to jump_page_wrapper "
    "navigation-items patternsidebarcontents patternbottombarcontents "
    "content-side-layout table-of-contents-content tocframe highlighting-settings".split()
)
# Words that end the name of an element which leads elsewhere, hyphens left out.
_NAMES = frozenset(
    "nav navbar navi navig navigation navlinks navmenu navheader navfooter navrow navpath navpanel "
    "sidenav topnav subnav menu menubar submenu sidebar sidemenu breadcrumb breadcrumbs crumb "
    "crumbs pager pagination paginator prevnext nextprev footer pagefooter sitefooter topbar "
    "toolbar searchbox searchbar searchform searchfield skiplink skiplinks langswitch "
    "languageswitcher languageselector versionswitcher versionselector colophon toplinks "
    "footnav footernav footerlinks bottomlinks".split()
)
# A menu or a sidebar of which most is no link is a list or a box, whatever it is called.
_LEAST_LINKED = 0.4
_LEAST_MENU_SHARE = 0.6
_LINKED_BY_PROSE = 3
_MANY_LINKS = 20
# Where so much is links, even a heading of the first level names the site.
_MOSTLY_LINKED = 0.9
_NAMES_OF_TEXT = frozenset(
    name for name in _NAMES if not name.startswith(("nav", "menu", "side", "sub"))
)
_BARS = frozenset({"navbar", "topbar", "sidebar", "menubar", "footer", "sitefooter"})
_NAMES_APART = _NAMES - {"menu", "submenu"}
_MOST_WORDS_OF_NAME = 4
_MIN_COLUMN_LINKS = 3
_SENTENCE_CHARACTERS = 80
# A link, space, and what is said of it.
_MENU_COLUMNS = 3
# More nodes before an element are not searched for a paragraph: a page can have 100,000 menus.
_OPENING_NODES = 60
# Names that decide even where the links have headings above them.
_SURE_NAMES = frozenset(
    "nav navbar navigation sidebar sidenav sidemenu breadcrumb breadcrumbs menubar sitefooter "
    "related".split()
)
# An id for one element of every page of a site, whatever heading stands in it.
_FRAME_IDS = frozenset({"sidebar", "navigation"})
# Left out where a page is printed: for its use on a screen.
_UNPRINTED = ("noprint", "no-print", "d-print-none", "hide-for-print", "hidden-print",
               "hide-when-print", "print-hidden")  # fmt: skip
_LAYOUT_PREFIXES = ("has-", "no-", "with-", "without-", "js-", "is-")
_COLOPHON = re.compile(
    r"(?:\W*(?:©|\(c\) |copyright\b|generated (?:by|on|at|with|using|from)\b"
    r"|last (?:updated?|modified|change)\b|back to (?:the )?(?:main|home|index|start|contents)\b"
    r"|built with\b|powered by\b|created (?:by|with|using)\b"
    r"|produced by\b|made with\b"
    r"|documentation generated\b"
    r"|this (?:page|document|manual|file|documentation|archive) (?:was|is) "
    r"(?:last |automatically )?(?:generated|updated|modified|built|created)\b|all rights reserved"
    r"|документация создана|сгенерировано|this page was last|found an error|report (?:a )?bugs?\b"
    r"|\[validate\]|was this page helpful|questions or comments\b|edit (?:this page|on git)"
    r"|prepared by\b|webmaster\b|maintained by\b|© ))",
    re.IGNORECASE,
)
# A heading over the date of a page; over any other note, what follows is a section.
_DATED = re.compile(r"last (?:updated?|modified|changed?)\W*$", re.IGNORECASE)
_GENERATED = "generated by"
_HOME = re.compile(r"(?:https?://[^/]+)?(?:\.{0,2}/)*(?:(?:index|home|default)\.\w+)?")
_FOOTERS = frozenset({"footer", "pagefooter", "sitefooter"})
_LEGAL = re.compile(r"©|\bcopyright\b|\bgenerated (?:by|with)\b", re.IGNORECASE)


def is_furniture(element: Element, measure: Measure) -> bool:
    """Return whether something shows that the element only serves finding one's way."""
    if element.tag in _NAVIGATION_TAGS:
        return not _is_text(measure)
    if element.tag == "summary":
        # What folds a text out; any other summary says what it is about.
        return element.has_class("hideme") and element.text().lstrip().startswith("Expand")
    if not measure.characters:
        is_marked = is_known_chrome(element) or element.attributes.get("role") in _NAVIGATION_ROLES
        return (
            is_marked
            or _is_wordless_bar(element)
            or (element.tag in _BAR_TAGS and is_navigation_bar(element, measure))
        )
    if element.attributes:
        if is_known_chrome(element) or _is_unprinted(element, measure):
            return True
        role = element.attributes.get("role")
        if role in _NAVIGATION_ROLES:
            return not _is_text(measure)
        if role in ("banner", "contentinfo", "complementary") or element.tag in (
            "footer",
            "header",
            "aside",
        ):
            return _is_frame(element, measure, role=role)
        if element.names and _is_called_so(element, measure):
            return True
    elif element.tag in ("footer", "header", "aside"):
        return _is_frame(element, measure, role=None)
    return _is_logo(element, measure) or (element.tag in _BAR_TAGS and _is_bar(element, measure))


def _is_logo(element: Element, measure: Measure) -> bool:
    """Return whether a heading is the site's picture and name, which lead to its first page."""
    if element.tag != "h1" or measure.linked < measure.characters or measure.links != 1:
        return False
    link = element.find("a")
    is_home = link is not None and bool(_HOME.fullmatch(link.attribute("href")))
    return is_home and element.find("img", "svg") is not None


def _is_bar(element: Element, measure: Measure) -> bool:
    return (
        is_navigation_bar(element, measure)
        or is_alphabet(element, measure)
        or is_language_bar(element, measure)
    )


def _is_wordless_bar(element: Element) -> bool:
    """Return whether an element without a word is a bar: a picture in it is the site's."""
    return element.tag in _HOLDER_TAGS and _has_name(element.names, _BARS)


def _is_unprinted(element: Element, measure: Measure) -> bool:
    if element.tag == "table" and "navigation table" in element.attribute("summary").lower():
        return not measure.prose and not measure.has_code
    is_marked = bool(element.names) and element.has_class(*_UNPRINTED)
    return is_marked and not measure.holds_content


def is_never_text(element: Element, measure: Measure, headings: int) -> bool:
    """Return whether furniture is no text even where a page with so many headings is nothing else.

    A site's footer stays out where something has a heading beside it.
    """
    is_footer = element.tag == "footer" and measure.headings < headings
    return is_footer or is_known_chrome(element) or is_language_bar(element, measure)


def is_known_chrome(element: Element) -> bool:
    """Return whether a known generator marks its chrome so."""
    names = element.names
    if not names or element.tag in ("body", "main", "article"):
        return False
    if element.tag == "address":
        return element.has_class("footer")
    if is_tooltip(element):
        return False
    return _is_chrome_name(names, element.attribute("id").lower())


def is_colophon(element: Element, measure: Measure) -> bool:
    """Return whether the last block of a page only says who made it, when and with what."""
    if not 0 < measure.characters <= _FOOTER_CHARACTERS:
        return False
    if measure.headings:
        return element.tag in HEADING_TAGS and bool(_DATED.match(element.text().strip()))
    is_table = element.tag == "table" and element.find("th") is None
    if measure.has_code or (measure.has_table and not is_table):
        return False
    if element.tag == "address" or element.has_class("copyright-notice", "copyright"):
        return True
    text = element.text()
    is_footer = element.tag in ("div", "p") and _has_name(element.names, _FOOTERS)
    return is_colophon_text(text) or (is_footer and bool(_LEGAL.search(text)))


def is_colophon_text(text: str) -> bool:
    """Return whether text begins as a line about how a page was made does."""
    return bool(_COLOPHON.match(text.strip()))


def names_generator(node: Element | str) -> bool:
    """Return whether a colophon names a program, not who has the rights."""
    text = node if isinstance(node, str) else node.text_start(len(_GENERATED))
    return text.strip().lower().startswith(_GENERATED)


def _is_text(measure: Measure) -> bool:
    """Return whether what is marked as navigation nevertheless holds a text."""
    if measure.has_code or measure.has_table:
        return True
    return measure.prose >= _CAPTION_CHARACTERS and measure.prose > measure.linked


def _is_frame(element: Element, measure: Measure, *, role: str | None) -> bool:
    """Return whether a header, footer or aside belongs to the site rather than to the text."""
    if any(above.tag in ("blockquote", "figure", "li", "td") for above in _nearest(element)):
        return False
    if measure.has_code or measure.has_table:
        return False
    if element.tag == "footer" or role == "contentinfo":
        is_long = measure.prose > _FOOTER_CHARACTERS and measure.prose > measure.linked
        return not is_long and not (measure.headings and measure.prose > measure.linked)
    if element.tag == "header" or role == "banner":
        return not measure.headings and not measure.prose and measure.linked > 0
    if parse_admonition(element) is not None:
        return False
    if element.has_class("footnote", "footnote-list", "footnotes"):
        return False
    return not measure.prose and measure.link_share > _LEAST_MENU_SHARE


def _is_named(element: Element, measure: Measure) -> bool:
    if measure.has_code or measure.has_table:
        return False
    if measure.prose:
        # A line of text over a menu says what it is for.
        is_menu = (
            measure.links >= _MANY_LINKS and measure.linked >= _LINKED_BY_PROSE * measure.prose
        )
        return is_menu and not measure.has_main and _has_name(element.names, _SURE_NAMES)
    is_frame = element.attribute("id").lower() in _FRAME_IDS and not _is_headed_by_id(element)
    is_mostly_linked = measure.links >= _MANY_LINKS and measure.link_share >= _MOSTLY_LINKED
    if measure.has_main and not is_frame and not is_mostly_linked:
        return False
    if _is_menu_of_sections(element):
        return False
    if any(is_row(element, measure) for is_row in _KNOWN_ROWS):
        return True
    if measure.headings:
        # An id is made from a heading, unless its element holds many links and starts otherwise.
        names = element.attribute("class").lower()
        if is_frame or (measure.links >= _MANY_LINKS and not _is_headed_by_id(element)):
            names = element.names
        return measure.link_share > _LEAST_MENU_SHARE and _has_name(names, _SURE_NAMES)
    if element.parent is not None and element.parent.tag in KEPT_INSIDE:
        return False
    if measure.link_share < _LEAST_LINKED:
        return _has_name(element.names, _NAMES_OF_TEXT)
    # A manual lists the chapters below under its text; a site's menu stands apart.
    return _has_name(element.names, _NAMES_APART if _follows_text(element) else _NAMES)


def _is_called_so(element: Element, measure: Measure) -> bool:
    if element.tag == "td":
        return _is_named_column(element, measure)
    return element.tag in _HOLDER_TAGS and _is_named(element, measure)


def _is_named_column(cell: Element, measure: Measure) -> bool:
    """Return whether a cell that lays out the page is called its sidebar, and is mostly links."""
    if measure.holds_content or measure.links < _MIN_COLUMN_LINKS:
        return False
    is_linked = measure.link_share > _LEAST_MENU_SHARE
    return is_linked and _has_name(cell.attribute("class").lower(), _SURE_NAMES)


def _is_menu_of_sections(element: Element) -> bool:
    """Return whether a table lists the sections below, with a column to say more: texi2html's."""
    if element.tag != "table" or not element.has_class("menu"):
        return False
    rows = [row for row in element.walk() if row.tag == "tr"]
    return bool(rows) and all(
        len(row.elements()) == _MENU_COLUMNS and row.elements()[0].find("a") is not None
        for row in rows
    )


def _is_summary_of_members(element: Element, measure: Measure) -> bool:
    """Return whether an element is the line of links over the title of a class, of Doxygen."""
    is_summary = element.has_class("summary") and measure.link_share > _MOSTLY_LINKED
    return is_summary and element.parent is not None and element.parent.has_class("header")


def _is_row_of_tabs(element: Element, measure: Measure) -> bool:
    """Return whether an element is the row of pages over Doxygen's, one of which is this one."""
    if measure.link_share <= _MOSTLY_LINKED or measure.local:
        return False
    if element.tag == "ul" and element.has_class("tablist"):
        return True
    return element.has_class("tabs") and any(
        item.has_class("current")
        for _, item in zip(range(_OPENING_NODES), element.walk(), strict=False)
    )


def _is_alphabet(element: Element, measure: Measure) -> bool:
    """Return whether an element is the row of letters over an index, of Haddock."""
    return element.attribute("id") == "alphabet" and measure.link_share > _MOSTLY_LINKED


_KNOWN_ROWS = (_is_summary_of_members, _is_alphabet, _is_row_of_tabs)


def _follows_text(element: Element) -> bool:
    """Return whether a paragraph of running text stands before an element, in the same parent."""
    siblings = element.parent.children if element.parent is not None else []
    for sibling in siblings[:_OPENING_NODES]:
        if sibling is element:
            return False
        if isinstance(sibling, str) or sibling.tag != "p":
            continue
        if len(sibling.text_start(_SENTENCE_CHARACTERS)) >= _SENTENCE_CHARACTERS:
            return True
    return False


def _is_headed_by_id(element: Element) -> bool:
    heading = element.find(*HEADING_TAGS)
    words = heading.text().lower().split() if heading is not None else []
    return element.attribute("id").lower().replace("_", "-").split("-")[0] in words


@lru_cache(maxsize=8_192)
def _has_name(names: str, wanted: frozenset[str]) -> bool:
    for name in names.split():
        words = name.replace("_", "-").rstrip("-0123456789").split("-")
        # RDoc's "attribute-i-show_active_breadcrumbs" is of a member that is called so.
        if name.startswith(_LAYOUT_PREFIXES) or len(words) > _MOST_WORDS_OF_NAME:
            continue
        if words[-1] in wanted or "".join(words[-2:]) in wanted:
            return True
    return False


@lru_cache(maxsize=8_192)
def _is_chrome_name(names: str, own_id: str) -> bool:
    return own_id in _CHROME_IDS or any(
        name in _CHROME_CLASSES and name != own_id for name in names.split()
    )


def _nearest(element: Element) -> list[Element]:
    return [above for _, above in zip(range(3), element.ancestors(), strict=False)]
