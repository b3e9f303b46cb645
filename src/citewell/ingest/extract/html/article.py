"""Finding the text of an article among teasers, comments, sharing and author boxes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.ingest.extract.html.admonitions import parse_admonition
from citewell.ingest.extract.html.article_names import is_surely_surrounding, is_surrounding
from citewell.ingest.extract.html.element import BLOCK_TAGS, HEADING_TAGS
from citewell.ingest.extract.html.prune import select, take_out

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citewell.ingest.extract.html.element import Element
    from citewell.ingest.extract.html.tree import Document

_SENTENCE_END = re.compile(r"[.!?…:;。！？][\"'”’»)\]]*(?:\s|$)|[。！？]")
_LIST_TAGS = frozenset({"div", "section", "ul", "ol", "aside"})
_RELATED_TAGS = HEADING_TAGS | {"p", "div", "span", "strong", "b", "li"}
# How sites in the languages of the benchmarks lead over to other pages.
_RELATED = re.compile(
    r"(?:related|recommended|more (?:from|on|in|stories|articles|news)|read (?:more|also|next|this)"
    r"|also read|see also:|you (?:may|might) (?:also )?(?:like|enjoy|be interested)|don't miss"
    r"|most (?:read|popular)|popular (?:posts|articles)|latest (?:news|posts|articles)|trending"
    r"|share (?:this|on|article)|tags?:?$|filed under|topics:?$|comments?$"
    r"|leave a (?:reply|comment)"
    r"|advertisement|advert$|sponsored|anzeige$|werbung$|previous article|next article|newsletter"
    r"|mehr zum thema|(?:das )?könnte (?:sie|dich|euch) auch|auch interessant"
    r"|ähnliche (?:beiträge|artikel)"
    r"|weitere (?:artikel|themen|beiträge|informationen|meldungen)|lesen sie (?:auch|mehr)"
    r"|schon gelesen"
    r"|schlagw[oö]rte?r?|das thema könnte|teilen (?:mit|auf)|kommentare|weiterlesen|verwandte"
    r"|lea (?:también|más|además)|lea:|te puede interesar|à lire aussi|lire aussi"
    r"|sur le même (?:sujet|thème)"
    r"|leggi anche|czytaj (?:także|też|również)|zobacz (?:także|też|również)|ezek is érdekelhetnek"
    r"|関連記事|関連リンク|おすすめ記事|こちらも(?:おすすめ|読まれて)|читайте также|lees ook)",
    re.IGNORECASE,
)
_DOMINANT_SHARE = 0.85
_CONTAINER_TAGS = frozenset(
    {"article", "center", "div", "form", "main", "section", "td", "table", "tbody", "tr"}
)
_ARTICLE_NAMES = re.compile(
    r" (?:hentry|(?:entry|post|article|story|news|blog)[-_]?(?:content|body|text|main)|articlebody"
    r"|storytext|main-?content|page-content) "
)
_TITLE_GROWTH = 1.3
_MAX_RELATED_CHARACTERS = 200
_COLONS = (":", "：")
_MIN_PARAGRAPH_CHARACTERS = 25
_MAX_LINK_DENSITY = 0.5


@dataclass(slots=True)
class _Measure:
    """What lies inside an element."""

    characters: int = 0
    linked: int = 0
    weight: float = 0.0
    """Characters of paragraphs that read like text, links left out."""


def find_article(document: Document) -> Element:
    """Return the element that holds the article, with what is not of it taken out."""
    body = document.body
    measures = _measure(document.elements)
    total = measures[body].weight
    take_out(
        select(
            body,
            lambda element: (
                _is_outside(element, measures, total) or _is_teaser_list(element, measures, total)
            ),
        )
    )
    measures = _measure([body, *body.walk()])
    container = _with_title(_dominant(body, measures), measures)
    density = measures[container].linked / max(measures[container].characters, 1)
    if density < _MAX_LINK_DENSITY:
        announced = _announced_lists(container)
        take_out(
            select(
                container,
                lambda element: element not in announced and _is_link_list(element, measures),
            )
        )
        _drop_related(container, measures)
    return container


def _is_teaser_list(element: Element, measures: dict[Element, _Measure], total: float) -> bool:
    """Return whether the element lists other pages, each by a heading that is a link."""
    if element.tag not in _LIST_TAGS or not element.has_heading:
        return False
    if measures[element].weight > 0.4 * total:
        return False
    linked = unlinked = 0
    for below in element.walk():
        if below.tag in HEADING_TAGS and measures[below].characters:
            if 2 * measures[below].linked > measures[below].characters or _inside_link(below):
                linked += 1
            else:
                unlinked += 1
    return linked >= 2 and linked > unlinked


def _inside_link(element: Element) -> bool:
    return any(parent.tag == "a" for _, parent in zip(range(3), element.ancestors(), strict=False))


def _drop_related(container: Element, measures: dict[Element, _Measure]) -> None:
    """Take out headings such as "Related articles" with what follows them."""
    labels = set(select(container, lambda element: _is_related_label(element, measures)))
    for parent in {label.parent for label in labels if label.parent is not None}:
        kept: list[Element | str] = []
        is_after_label = False
        for child in parent.children:
            if isinstance(child, str):
                is_dropped = is_after_label
            elif child in labels:
                is_dropped = True
                is_after_label = _announces(child)
            else:
                is_dropped = is_after_label = is_after_label and _is_after_related(child)
            if not is_dropped:
                kept.append(child)
        parent.children = kept


def _announces(label: Element) -> bool:
    return label.tag in HEADING_TAGS or label.text().rstrip().endswith((":", "…", "?"))


def _is_related_label(element: Element, measures: dict[Element, _Measure]) -> bool:
    if element.tag not in _RELATED_TAGS:
        return False
    if not 0 < measures[element].characters <= _MAX_RELATED_CHARACTERS:
        return False
    words = " ".join(element.text().split())
    has_link = element.tag in ("p", "li", "div") and element.find("a") is not None
    most = _MAX_RELATED_CHARACTERS if has_link else 60
    return len(words) <= most and _RELATED.match(words) is not None


def _is_after_related(sibling: Element) -> bool:
    """Return whether an element after such a heading still belongs to it."""
    if sibling.tag in HEADING_TAGS:
        return False
    text = len("".join(sibling.text().split()))
    linked = sum(len("".join(e.text().split())) for e in sibling.walk() if e.tag == "a")
    return not text or linked > 0.5 * text or sibling.tag == "a"


def _is_outside(element: Element, measures: dict[Element, _Measure], total: float) -> bool:
    if not is_surrounding(element):
        return False
    measure = measures[element]
    if measure.weight > (0.7 if is_surely_surrounding(element) else 0.25) * total:
        return False
    # A wrapper named after the sidebar beside the text holds the text as well.
    if measure.weight > 0.4 * total and element.find("h1", "main") is not None:
        return False
    if "teaser" in element.names and not measure.linked:
        return False
    return parse_admonition(element) is None or element.tag in ("nav", "footer")


def _dominant(body: Element, measures: dict[Element, _Measure]) -> Element:
    """Return the smallest element that holds nearly all of the page's running text."""
    at = _named_container(body, measures) or body
    while measures[at].weight and not _is_named(at):
        children = [child for child in at.elements() if child.tag in _CONTAINER_TAGS]
        best = max(children, key=lambda child: measures[child].weight, default=None)
        if best is None or measures[best].weight < _DOMINANT_SHARE * measures[at].weight:
            return at
        at = best
    return at


def _with_title(container: Element, measures: dict[Element, _Measure]) -> Element:
    """Return the ancestor that also holds the title, unless it adds much else.

    Leads and summaries stand between the title and the body of an article.
    """
    titled = {
        ancestor for element in measures if element.tag == "h1" for ancestor in element.ancestors()
    }
    if container in titled:
        return container
    most = _TITLE_GROWTH * measures[container].weight
    for ancestor in container.ancestors():
        if measures[ancestor].weight > most:
            return container
        if ancestor in titled:
            return ancestor
    return container


def _named_container(body: Element, measures: dict[Element, _Measure]) -> Element | None:
    """Return the outermost element called an article that holds most of the running text."""
    total = measures[body].weight
    for is_named, share in ((_is_article, 0.7), (_is_named, 0.7)):
        found = [
            element
            for element in measures
            if is_named(element) and measures[element].weight >= share * total
        ]
        if found and total:
            return found[0]
    return None


def _is_article(element: Element) -> bool:
    return element.tag == "article" or bool(element.names and " hentry " in element.names)


def _is_named(element: Element) -> bool:
    return element.tag in _CONTAINER_TAGS and (
        element.tag == "article"
        or element.attributes.get("itemprop") == "articleBody"
        or bool(element.names and _ARTICLE_NAMES.search(element.names))
    )


def _is_link_list(element: Element, measures: dict[Element, _Measure]) -> bool:
    """Return whether the element is a list or box of links rather than text with links."""
    measure = measures[element]
    if element.tag not in _LIST_TAGS or not measure.characters:
        return False
    share = measure.linked / measure.characters
    return share > 0.6 and measure.weight < 120


def _announced_lists(container: Element) -> set[Element]:
    """Return the lists that follow text ending with a colon: they are part of it."""
    announced: set[Element] = set()
    for parent in (container, *container.walk()):
        before = ""
        for child in parent.children:
            if not isinstance(child, str) and child.tag in ("ul", "ol") and before in _COLONS:
                announced.add(child)
            before = _last_letter(child) or before
    return announced


def _last_letter(node: Element | str) -> str:
    """Return the last letter of a node; "" when only white space ends it."""
    while not isinstance(node, str):
        if not node.children:
            return ""
        node = node.children[-1]
    return node.rstrip()[-1:]


def _measure(elements: Iterable[Element]) -> dict[Element, _Measure]:
    """Measure elements given in document order."""
    ordered = list(elements)
    measures = {element: _Measure() for element in ordered}
    for element in reversed(ordered):
        measure = measures[element]
        own = "".join(child for child in element.children if isinstance(child, str))
        measure.characters += len(own.strip())
        if element.tag == "a":
            measure.linked = measure.characters
        if element.tag in BLOCK_TAGS and not measure.weight and not element.has_block:
            measure.weight = _paragraph_weight(element, measure)
        elif element.has_block and len(own) > 80:
            measure.weight += _text_weight(own, len(own.strip()))
        parent = measures.get(element.parent) if element.parent is not None else None
        if parent is not None:
            parent.characters += measure.characters
            parent.linked += measure.linked
            parent.weight += measure.weight
    return measures


def _paragraph_weight(element: Element, measure: _Measure) -> float:
    unlinked = measure.characters - 1.5 * measure.linked
    if unlinked < _MIN_PARAGRAPH_CHARACTERS or element.tag in HEADING_TAGS:
        return 0.0
    weight = unlinked if element.tag == "pre" else _text_weight(element.text(), unlinked)
    return weight if element.tag in ("p", "pre", "blockquote") else 0.7 * weight


def _text_weight(text: str, unlinked: float) -> float:
    """Return how much text counts: sentences in full, labels and titles little."""
    sentences = len(_SENTENCE_END.findall(text))
    return unlinked * min(1.0, 0.2 + 0.4 * sentences)
