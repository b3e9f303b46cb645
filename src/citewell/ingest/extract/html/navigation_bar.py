"""Telling bars of links that lead to the pages before, after and above."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.ingest.extract.html.images import file_of_picture, picture_name

if TYPE_CHECKING:
    from citewell.ingest.extract.html.element import Element
    from citewell.ingest.extract.html.measures import Measure

# A link alone in one of these is what somebody wrote there.
KEPT_INSIDE = frozenset("p li dt dd pre code h1 h2 h3 h4 h5 h6 blockquote figure".split())
_MAX_CHARACTERS = 500
_MAX_LINKS = 15
_MAX_ELEMENTS = 200
_MIN_LETTERS = 8
# Leaves room for "All Classes" beside the letters.
_MOST_CHARACTERS_A_LETTER = 3
# Among so many links, one to the start of the site shows what they are.
_MIN_HOME_LINKS = 3
_HOME = (["home"], ["main", "page"])
_DIRECTION = frozenset(
    "prev previous next up back forward backward prior précédent précédente suivant suivante haut "
    "zurück weiter vorige vorheriges vorherige nächste nächstes hoch aufwärts anterior siguiente "
    "próximo seguinte precedente successivo indietro avanti пред предыдущая предыдущий след "
    "следующая следующий назад вперёд вперед вверх наверх уровень 前 次 上 前へ 次へ 戻る 上へ "
    "前のページ 次のページ 上一页 下一页 上一章 下一章 上一级 poprzedni następny předchozí další "
    "föregående nästa forrige neste edellinen seuraava vorig volgende 이전 다음 위로 "
    "< > << >> ← → ↑ « » ‹ › ⇐ ⇒".split()
)
_PLACES = frozenset(
    "top bottom home index contents partial content toc start main page table of the to in "
    "chapter section book part level fast first last end begin beginning search menu overview "
    "title appendix manual documentation docs site map accueil sommaire début fin niveau retour "
    "inhalt "
    "inhaltsverzeichnis startseite anfang ende stichwortverzeichnis inicio contenido "
    "índice indice conteúdo contenuto начало содержание оглавление указатель выше "
    "ホーム 目次 索引 トップ 表紙 首页 目录 索引 spis treści obsah "
    "hem innehåll glossary and links navigation go message messages sorted by thread date subject "
    "author this body reply maybe topic parent by indexes es des matières tabla contenidos "
    "目次へ".split()
)
# What languages call themselves, as the links to the translations of a page do.
_LANGUAGES = frozenset(
    "english deutsch français español português italiano nederlands polski русский українська "
    "čeština česky slovenčina magyar română български ελληνικά türkçe svenska norsk dansk suomi "
    "català galego euskara hrvatski srpski српски slovenščina lietuvių latviešu eesti 日本語 中文 "
    "한국어 العربية עברית فارسی हिन्दी ไทย esperanto brasileiro 简体中文 繁體中文 繁体中文 正體中文 "
    "tiếng việt bahasa indonesia".split()
)
_MIN_LANGUAGES = 3
_LABEL_CHARACTERS = 120
_RELATIONS = frozenset("prev previous next up start home top contents index toc first last".split())
# So many pictures that lead on make a bar, also around the title of the manual.
_MIN_ICONS = 3
_TITLE_CHARACTERS = 150
_WORD = re.compile(r"[^\W_]+|[<>←→↑«»‹›⇐⇒]+")
# Enough for a word beside a link.
_BESIDE_CHARACTERS = 12


def is_navigation_bar(element: Element, measure: Measure) -> bool:
    """Return whether the element only leads to the pages before, after and above."""
    if not 0 < measure.links <= _MAX_LINKS or measure.characters > _MAX_CHARACTERS:
        return False
    if measure.size > _MAX_ELEMENTS:
        return False
    if element.parent is not None and element.parent.tag in KEPT_INSIDE:
        return False
    if measure.links == 1 and _is_beside_another_cell(element):
        return False
    if _is_row_of_icons(element, measure):
        return True
    if measure.holds_content:
        return False
    links = _links(element)
    related = sum(_relates(link) for link in links)
    unlinked = _words(text_outside_links(element))
    if not all(map(_is_place, unlinked)):
        return related >= 2 and related == len(links)
    return all(map(_names_direction, links)) or _mostly_leads_on(links, unlinked, related)


def _mostly_leads_on(links: list[Element], unlinked: list[str], related: int) -> bool:
    """Return whether the words of links, and those between them, name places around a page."""
    # An arrow or a bracket beside a link says little; inside a link it leads on.
    labels = sum(word in _DIRECTION and word.isalpha() for word in unlinked)
    spoken = [_words(link.text() or picture_name(link)) for link in links]
    plain = sum(bool(words) and all(map(_is_place, words)) for words in spoken)
    leads = labels + related + sum(not _DIRECTION.isdisjoint(words) for words in spoken)
    if len(links) >= _MIN_HOME_LINKS and any(words in _HOME for words in spoken):
        if spoken[0] in _HOME and not unlinked and all(len(words) == 1 for words in spoken[1:]):
            # The parts of a site, in a word each.
            return True
        leads += 1
    return leads > 0 and 2 * max(labels, related, plain) >= len(links)


def _is_row_of_icons(element: Element, measure: Measure) -> bool:
    """Return whether pictures named "previous", "up" and so on stand around one title, if any."""
    if measure.headings or measure.has_code or measure.has_table or measure.linked:
        return False
    if not measure.links >= _MIN_ICONS or measure.characters > _TITLE_CHARACTERS:
        return False
    names = [_words(picture_name(link)) for link in _links(element)]
    leads = sum(not _DIRECTION.isdisjoint(words) for words in names)
    return leads >= _MIN_ICONS - 1 and all(words and all(map(_is_place, words)) for words in names)


def is_alphabet(element: Element, measure: Measure) -> bool:
    """Return whether an element is the row of letters of an index, each of them a link."""
    if measure.links < _MIN_LETTERS or measure.holds_content or measure.size > _MAX_ELEMENTS:
        return False
    words = [link.text().strip() for link in _links(element)]
    letters = sum(len(word) == 1 for word in words)
    is_short = measure.characters <= _MOST_CHARACTERS_A_LETTER * letters
    return letters >= _MIN_LETTERS and 5 * letters >= 4 * len(words) and is_short


def is_language_bar(element: Element, measure: Measure) -> bool:
    """Return whether an element is a line of links to the translations of a page."""
    if not _MIN_LANGUAGES <= measure.links <= _MAX_ELEMENTS or measure.size > _MAX_ELEMENTS:
        return False
    is_line = not (measure.headings or measure.has_code or measure.has_table)
    if not is_line or measure.characters - measure.linked > _LABEL_CHARACTERS:
        return False
    spoken = [_words(link.text())[:1] for link in _links(element)]
    named = sum(bool(words) and words[0] in _LANGUAGES for words in spoken)
    return named >= _MIN_LANGUAGES and 5 * named >= 4 * len(spoken)


def _names_direction(link: Element) -> bool:
    """Return whether a link says "Next" in an element of its own, beside the page's title."""
    if any(isinstance(child, str) and not child.isspace() for child in link.children):
        return False
    parts = [
        child
        for child in link.walk()
        if any(isinstance(c, str) and c.strip() for c in child.children)
    ]
    words = _words(parts[0].text()) if len(parts) > 1 else []
    return not _DIRECTION.isdisjoint(words) and all(map(_is_place, words))


def _links(element: Element) -> list[Element]:
    return [below for below in element.walk() if below.tag == "a" and "href" in below.attributes]


def _is_place(word: str) -> bool:
    """Return whether a word names a page by its place; chapters have a number or a letter."""
    return word in _DIRECTION or word in _PLACES or word.isdecimal() or len(word) == 1


def is_in_sentence(link: Element) -> bool:
    """Return whether a link has words beside it in its paragraph, as no entry of a menu has."""
    around = link.parent
    if around is None or around.tag != "p":
        return False
    own = link.text()
    # Not the whole paragraph: one of 200,000 links would be read as many times.
    start = around.text_start(len(own) + _BESIDE_CHARACTERS)
    return len(start.split()) > len(own.split())


def _is_beside_another_cell(element: Element) -> bool:
    """Return whether an element is what a row says first: a function can be called "next"."""
    cell = next((above for above in element.ancestors() if above.tag in ("td", "th")), None)
    row = cell.parent if cell is not None else None
    return row is not None and any(
        other is not cell and other.text().strip() for other in row.elements()
    )


def _relates(link: Element) -> bool:
    relations = (link.attributes.get("rel") or "").lower().split()
    if not link.text().strip() and not _RELATIONS.isdisjoint(_words(file_of_picture(link))):
        # "next.png", whatever the page that it leads to is called.
        return True
    if link.has_class("qindex", "qindexhl"):
        # Doxygen's, to its lists.
        return True
    return not _RELATIONS.isdisjoint(relations) or (
        (link.attributes.get("accesskey") or "").lower() in ("n", "p", "u", "h")
    )


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def text_outside_links(element: Element) -> str:
    """Return what an element says in words that are no links."""
    pieces: list[str] = []
    stack: list[Element | str] = [element]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            pieces.append(node)
        elif node.tag != "a" or "href" not in node.attributes:
            stack.extend(node.children[::-1])
    return " ".join(pieces)
