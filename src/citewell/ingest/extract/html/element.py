"""Element: a node of the light tree that extraction works on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.ingest.extract.characters import drop_invisible

if TYPE_CHECKING:
    from collections.abc import Iterator

HEADING_TAGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
BLOCK_TAGS = frozenset(
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol "
    "p pre search section summary table tbody td tfoot th thead tr ul caption".split()
)

# A place on a page begins with its words; what comes after so many nodes is not its beginning.
_MAX_STEPS = 300


class Element:
    """An element with its visible children; a text child is a plain string."""

    __slots__ = ("attributes", "children", "has_block", "has_heading", "names", "parent", "tag")

    def __init__(self, tag: str, attributes: dict[str, str | None], parent: Element | None) -> None:
        self.tag = tag
        self.attributes = attributes
        self.children: list[Element | str] = []
        self.parent = parent
        self.has_block = False
        """Whether a block element stands somewhere below."""
        self.has_heading = False
        """Whether a heading does."""
        self.names = ""
        """Class and id in lower case, with a space before, between and after."""
        if attributes:
            class_names, own_id = attributes.get("class"), attributes.get("id")
            if class_names or own_id:
                self.names = f" {class_names or ''} {own_id or ''} ".lower()

    def attribute(self, name: str) -> str:
        """Return an attribute without surrounding space; "" when it is missing."""
        value = self.attributes.get(name)
        return drop_invisible(value).strip() if value else ""

    def has_class(self, *names: str) -> bool:
        """Return whether the element has one of the class names (or that id)."""
        own = self.names
        if own:
            for name in names:
                if f" {name} " in own:
                    return True
        return False

    def elements(self) -> list[Element]:
        """Return the child elements."""
        return [child for child in self.children if not isinstance(child, str)]

    def walk(self) -> Iterator[Element]:
        """Yield the elements below, in document order."""
        stack = self.elements()[::-1]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(element.elements()[::-1])

    def find(self, *tags: str) -> Element | None:
        """Return the first element below that has one of the tags."""
        return next((element for element in self.walk() if element.tag in tags), None)

    def ancestors(self) -> Iterator[Element]:
        """Yield the parent, its parent and so on."""
        at = self.parent
        while at is not None:
            yield at
            at = at.parent

    def text(self) -> str:
        """Return all text below, as it stands."""
        pieces: list[str] = []
        stack: list[Element | str] = [self]
        while stack:
            at = stack.pop()
            if isinstance(at, str):
                pieces.append(at)
            else:
                stack.extend(at.children[::-1])
        return "".join(pieces)

    def text_start(self, characters: int) -> str:
        """Return the first `characters` of the text below, or more; less of an odd tree."""
        pieces: list[str] = []
        stack = [iter(self.children)]
        for _ in range(_MAX_STEPS):
            if not stack or characters <= 0:
                break
            node = next(stack[-1], None)
            if node is None:
                stack.pop()
            elif isinstance(node, str):
                pieces.append(node)
                characters -= len(node.strip())
            else:
                stack.append(iter(node.children))
        return "".join(pieces)

    def remove(self) -> None:
        """Take the element out of its parent."""
        if self.parent is not None:
            self.parent.children = [c for c in self.parent.children if c is not self]
