"""Finding the main content of a page: everything but its furniture."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import unquote

from citewell.core.frozen import frozen
from citewell.ingest.extract.characters import collapse_spaces, letters_of
from citewell.ingest.extract.html.article import find_article
from citewell.ingest.extract.html.article_evidence import is_article
from citewell.ingest.extract.html.colophon import take_out_colophon
from citewell.ingest.extract.html.element import HEADING_TAGS, Element
from citewell.ingest.extract.html.furniture import is_furniture, is_never_text
from citewell.ingest.extract.html.measures import Measure, measure
from citewell.ingest.extract.html.named_sections import calls_of, make_headings
from citewell.ingest.extract.html.navigation_bar import text_outside_links
from citewell.ingest.extract.html.prune import select, take_out
from citewell.ingest.extract.html.site_menus import CONTENTS_TAGS, trees_of_the_site

if TYPE_CHECKING:
    from citewell.ingest.extract.html.tree import Document
    from citewell.ingest.extract.links import LinkResolver

# The share of a page's running text that its main element must hold to be believed.
_MAIN_SHARE = 0.7
# Containers that generators write around the text of a page that has no <main>.
_CONTAINERS = re.compile(
    r" (?:theme-doc-markdown|vp-doc|md-content__inner|markdown-section|bd-article|rst-content"
    r"|md-content|markdown-body|mw-parser-output|docs-content) "
)
# Less than this beside headings is no page.
_LEAST_CHARACTERS = 20
_LABEL_CHARACTERS = 40
# Of running text; the legal words of a footer are shorter.
_LEAST_SWALLOWED = 400
_CONTENTS_CLASSES = ("toc", "toc-macro", "wiki-toc", "table-of-contents", "tableofcontents")
_CONTENTS_SHARE = 0.85
# Beside a few links, the word "Contents" is much.
_NAMED_CONTENTS_SHARE = 0.6
# Among so many links of a list, each with a few words of its own.
_MIN_DESCRIBED_LINKS = 5
_MIN_CONTENTS_LINKS = 3
_ENTRY_TAGS = frozenset("li tr dt dd ul ol".split())
_LISTED_SHARE = 0.7
_ENTRY_CHARACTERS = 200
_CONTENTS_TITLE = re.compile(
    r"(?:table of )?contents|toc|on this page|in this (?:page|article|section|chapter)"
    r"|inhalt(?:sverzeichnis)?|sommaire|table des matières|contenido|indice|índice|содержание"
    r"|оглавление|目次|目录",
    re.IGNORECASE,
)


@frozen
class MainContent:
    """The element that holds the main content, with the rest taken out of it."""

    element: Element
    is_article: bool
    """Whether the rules for articles were applied."""
    furniture: tuple[Element, ...] = ()
    contents: tuple[Element, ...] = ()
    """Tables of contents that were taken out."""
    has_own_headings: bool = True
    """False where only the table of contents shows what its headings are."""
    listed_links: frozenset[Element] = frozenset()
    """Links of the content that stand in lists of links."""


def find_main_content(document: Document, links: LinkResolver) -> MainContent:
    """Return what a page is read for."""
    if is_article(document):
        return MainContent(element=find_article(document), is_article=True)
    body = document.body
    measures = measure(document.elements)
    trees = trees_of_the_site(document, measures, links)
    furniture = _take_out_furniture(body, measures, trees)
    root = _main_region(document, measures)
    contents, has_lines = _take_out_contents(root, measures)
    furniture.extend(take_out_colophon(root, measures))
    return MainContent(
        element=root,
        is_article=False,
        furniture=tuple(furniture),
        contents=tuple(contents),
        has_own_headings=not has_lines,
        listed_links=_listed_links(root, measures),
    )


def _take_out_furniture(
    body: Element, measures: dict[Element, Measure], trees: set[Element]
) -> list[Element]:
    total = measures[body].prose

    def furniture_with(trees: set[Element]) -> list[Element]:
        return select(
            body,
            lambda element: (
                not _swallows(measures[element], total)
                and (
                    element in trees
                    or is_furniture(element, measures[element])
                    or _is_side_column(element, measures, total)
                )
            ),
            is_whole=lambda element: measures[element].is_table,
        )

    furniture = furniture_with(trees)
    if trees and _leaves_nothing(furniture, body, measures):
        # A page of links that names itself is no menu of the site.
        furniture = furniture_with(set())
    if _leaves_nothing(furniture, body, measures):
        # Nothing but navigation: then that is what the page is for.
        headings = measures[body].headings
        furniture = [e for e in furniture if is_never_text(e, measures[e], headings)]
    for element in furniture:
        _discount(element, measures)
    take_out(furniture)
    return furniture


def _swallows(own: Measure, total: int) -> bool:
    """Return whether an element holds most that a page says, as one does that is never closed."""
    is_text = own.headings > 0 and own.prose > max(own.linked, _LEAST_SWALLOWED)
    return is_text and own.prose > _MAIN_SHARE * total


def _leaves_nothing(
    furniture: list[Element], body: Element, measures: dict[Element, Measure]
) -> bool:
    left = Measure()
    left.add(measures[body])
    for element in furniture:
        left.add(measures[element], -1)
    return left.characters - left.titled < _LEAST_CHARACTERS and not _has_main(body)


def _has_main(body: Element) -> bool:
    return any(_is_main(element) for element in body.walk())


def _is_main(element: Element) -> bool:
    return (
        element.tag == "main"
        or element.attributes.get("role") == "main"
        or bool(element.names and _CONTAINERS.search(element.names))
    )


def _is_side_column(element: Element, measures: dict[Element, Measure], total: int) -> bool:
    """Return whether a cell of links stands beside the cell with the page's text."""
    own = measures[element]
    if element.tag != "td" or own.links < _MIN_CONTENTS_LINKS or own.holds_content:
        return False
    row = measures.get(element.parent) if element.parent is not None else None
    is_beside_text = row is not None and 0 < _MAIN_SHARE * total <= row.prose
    return is_beside_text and own.link_share >= _CONTENTS_SHARE


def _discount(element: Element, measures: dict[Element, Measure]) -> None:
    for above in element.ancestors():
        measures[above].add(measures[element], -1)


def _main_region(document: Document, measures: dict[Element, Measure]) -> Element:
    """Return the element that holds the page's text by its own account, or the body."""
    body = document.body
    total = measures[body]
    for element in document.elements:
        own = measures[element]
        if not own.characters or not _is_main(element):
            continue
        if _unlinked(own) >= _MAIN_SHARE * _unlinked(total):
            _bring_title(element, document, measures)
            return element
    return body


def _unlinked(own: Measure) -> int:
    """Return how much is neither link nor heading: themes repeat a page's title in a banner."""
    return max(0, own.characters - own.linked - own.titled)


def _bring_title(root: Element, document: Document, measures: dict[Element, Measure]) -> None:
    """Move the page's title to the start of its main element when it stands before it."""
    if root.find("h1") is not None:
        return
    for element in document.elements:
        if element is root:
            break
        if element.tag == "h1" and measures[element].characters and not _is_out(element, document):
            element.remove()
            element.parent = root
            root.children.insert(0, element)
            return


def _is_out(element: Element, document: Document) -> bool:
    """Return whether the element or one around it was taken out."""
    top = element
    while top.parent is not None:
        if not any(child is top for child in top.parent.children):
            return True
        top = top.parent
    return top is not document.body


def _take_out_contents(
    root: Element, measures: dict[Element, Measure]
) -> tuple[list[Element], bool]:
    """Take out lists of links to places further down that begin with the same words.

    Return them, and whether lines that they name became the headings of a page without any.
    """
    places = {element: place for place, element in enumerate(root.walk())}
    following, calls = _following_blocks(root), calls_of(root)
    targets = {
        anchor: _named_place(element, following)
        for element in places
        for anchor in (element.attribute("id"), element.attribute("name"))
        if anchor
    }
    contents = [
        _innermost(element, measures)
        for element in select(
            root,
            lambda element: (
                element not in calls and _is_contents(element, measures[element], targets, places)
            ),
        )
    ]
    links = [link for element in contents for link in element.walk() if link.tag == "a"]
    named = [(link, _repeated_target(link, targets)) for link in links]
    has_lines = make_headings([(link, place) for link, place in named if place is not None])
    taken = [*contents, *_labels_of(contents, measures)]
    for element in taken:
        _discount(element, measures)
    take_out(taken)
    return contents, has_lines


def _is_contents(
    element: Element, own: Measure, targets: dict[str, Element], places: dict[Element, int]
) -> bool:
    is_named = bool(element.names) and element.has_class(*_CONTENTS_CLASSES)
    if element.tag not in CONTENTS_TAGS or own.links < (1 if is_named else _MIN_CONTENTS_LINKS):
        return False
    least = _NAMED_CONTENTS_SHARE if is_named else _CONTENTS_SHARE
    said = own.characters - own.titled
    if own.has_code or own.prose or own.local < _NAMED_CONTENTS_SHARE * said:
        return False
    if own.local < least * said and any(map(str.isalpha, text_outside_links(element))):
        # Beside their links, the entries of contents have numbers.
        return False
    if own.headings > 1 or (own.headings and not _is_titled_contents(element)):
        return False
    if _are_phrases(element, own) or (own.is_table and _has_unlinked_cell(element)):
        return False
    links = [below for below in element.walk() if below.tag == "a"]
    found = [target for link in links if (target := _repeated_target(link, targets)) is not None]
    # What leads back to what was said is an index of it.
    ahead = sum(places[target] > places[element] for target in found)
    return 2 * len(found) > len(links) and 2 * ahead >= len(found)


def _has_unlinked_cell(table: Element) -> bool:
    """Return whether a table says something beside links: it lists words, not what is below."""
    words = collapse_spaces(text_outside_links(table)).strip(": ")
    return any(map(str.isalpha, words)) and not _CONTENTS_TITLE.fullmatch(words)


def _are_phrases(element: Element, own: Measure) -> bool:
    """Return whether entries begin outside their links, as "the data directory" does."""
    words = text_outside_links(element).split() if own.characters > own.linked else []
    return sum(word.isalpha() and word.islower() and len(word) > 1 for word in words) >= own.links


def _innermost(contents: Element, measures: dict[Element, Measure]) -> Element:
    """Return the smallest element with all the links, so that no title beside them goes along."""
    links = measures[contents].links
    while True:
        inner = next((e for e in contents.elements() if measures[e].links == links), None)
        if inner is None or inner.tag not in CONTENTS_TAGS:
            return contents
        contents = inner


def _repeated_target(link: Element, targets: dict[str, Element]) -> Element | None:
    """Return the place that a link leads to if it begins with the words of the link."""
    target = targets.get(unquote(link.attribute("href").removeprefix("#")))
    words = letters_of(link.text())
    if target is None or not words:
        return None
    named = target
    if not target.text_start(1).strip() and target.parent is not None:
        # An empty anchor stands before or in what it names.
        named = target.parent
    start = letters_of(named.text_start(2 * len(link.text()) + _LABEL_CHARACTERS))
    # The entries of a wiki are numbered, its headings are not.
    return target if words in start or words.lstrip("0123456789") in start else None


def _following_blocks(root: Element) -> dict[Element, Element]:
    """Return the element that comes after each in its parent."""
    return {
        before: after
        for parent in (root, *root.walk())
        for before, after in pairwise(parent.elements())
    }


def _named_place(anchor: Element, following: dict[Element, Element]) -> Element:
    """Return an anchor, or what comes after the paragraph in which it stands empty and alone."""
    around = anchor.parent
    if around is None or anchor.children or around.text_start(1).strip():
        return anchor
    return following.get(around, anchor)


def _is_titled_contents(element: Element) -> bool:
    title = element.find(*HEADING_TAGS)
    return title is not None and _is_contents_title(title)


def _is_contents_title(element: Element) -> bool:
    return bool(_CONTENTS_TITLE.fullmatch(collapse_spaces(element.text()).rstrip(":¶ ")))


def _labels_of(contents: list[Element], measures: dict[Element, Measure]) -> list[Element]:
    """Return the titles right before tables of contents; each parent is gone through once."""
    wanted = set(contents)
    labels: list[Element] = []
    for parent in {element.parent for element in contents if element.parent is not None}:
        before: Element | None = None
        for child in parent.elements():
            if child in wanted and before is not None and _is_label(before, parent, measures):
                labels.append(before)
            before = child
    return labels


def _is_label(before: Element, parent: Element, measures: dict[Element, Measure]) -> bool:
    """Return whether a line names the contents below, in words or by standing in their box."""
    own = measures[before]
    if own.characters > _LABEL_CHARACTERS or own.links:
        return False
    is_boxed = bool(parent.names) and parent.has_class(*_CONTENTS_CLASSES)
    return is_boxed or _is_contents_title(before)


def _listed_links(root: Element, measures: dict[Element, Measure]) -> frozenset[Element]:
    """Return the links that are all their item, row or line says."""
    return frozenset(
        element for element in root.walk() if element.tag == "a" and _is_listed(element, measures)
    )


def _is_listed(link: Element, measures: dict[Element, Measure]) -> bool:
    for above in link.ancestors():
        if above.tag in HEADING_TAGS:
            return False
        if above.tag in _ENTRY_TAGS:
            own = measures[above]
            if own.link_share >= _LISTED_SHARE and not own.prose:
                return True
            return _opens_entry(link, above, measures)
    return False


def _opens_entry(link: Element, entry: Element, measures: dict[Element, Measure]) -> bool:
    """Return whether an entry of a list is one link and a few words on what it leads to."""
    own = measures[entry]
    around = measures.get(entry.parent) if entry.parent is not None else None
    if own.links != 1 or own.characters > _ENTRY_CHARACTERS or around is None:
        return False
    words = letters_of(link.text())
    start = letters_of(entry.text_start(len(link.text())))
    return around.links >= _MIN_DESCRIBED_LINKS and bool(words) and start.startswith(words)
