"""Takes out of a parsed page what its own styles and attributes keep readers from seeing.

Sheets that the page only links to are not known, nor what its scripts do: text that they alone hide
stays, and so does what a control on the page would show. A rendered page needs none of this; the
browser has judged it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from citewell.ingest.extract.hiding.colours import legacy_colour
from citewell.ingest.extract.hiding.columns import cells_of
from citewell.ingest.extract.hiding.declarations import longhands, parse_style_attribute
from citewell.ingest.extract.hiding.reveal import Revealed
from citewell.ingest.extract.hiding.selectors import SelectorMatcher
from citewell.ingest.extract.hiding.style import (
    Style,
    compute,
    is_box_hidden,
    is_not_displayed,
    substitute,
    with_variables,
)
from citewell.ingest.extract.hiding.style_sheets import StyleSheets, style_sheets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from selectolax.lexbor import LexborHTMLParser, LexborNode

_WITH_STYLES = (
    "[style], [hidden], [popover], [bgcolor], body[text], font[color], dialog:not([open]), "
    "[mathcolor], [mathsize], mphantom"
)
_COLOUR_ATTRIBUTES = {
    "bgcolor": "background-color",
    "color": "color",
    "text": "color",
    "mathcolor": "color",
}
_CODE_TAGS = frozenset({"pre", "code"})
_PAGE_TAGS = frozenset({"html", "body"})
# A page that would lose this share of its text shows it once its scripts have run, or by a sheet
# from elsewhere.
_SCRIPTED_SHARE = 0.75
_WHOLE_SHARE = 0.95
# Hidden elements inside one another are measured only so often.
_MAX_MEASURED_PAGES = 10
# Attributes rank below every sheet, a style attribute above.
_ATTRIBUTE_RANK = (-1, 0, (0, 0, 0), 0)


@dataclass(slots=True)
class _Declared:
    """What is declared for one element: for each property, its rank in the cascade and value."""

    node: LexborNode
    values: dict[str, tuple[tuple[object, ...], str]] = field(default_factory=dict)

    @property
    def raw(self) -> dict[str, str]:
        """The values that win."""
        return {name: value for name, (_, value) in self.values.items()}

    def add(self, name: str, value: str, rank: tuple[object, ...]) -> None:
        known = self.values.get(name)
        if known is None or known[0] <= rank:
            self.values[name] = (rank, value)


def remove_hidden(parsed: LexborHTMLParser, html: str) -> None:
    """Remove the elements and texts that no reader of the page sees."""
    sheets = style_sheets(parsed)
    for source in sheets.sources:
        html = html.replace(source, "") if source else html
    matcher = SelectorMatcher(parsed, html)
    declared: dict[int, _Declared] = {}
    first_lines: dict[int, _Declared] = {}
    revealed = Revealed(parsed, has_scripts="<script" in html)
    for rule in sheets.rules:
        for selector in rule.selectors:
            matched = matcher.match(selector)
            if selector.is_state:
                revealed.note_rule(rule.declarations, matched)
                continue
            chosen = first_lines if selector.is_first_line else declared
            for key, node in matched.items():
                own = chosen.setdefault(key, _Declared(node))
                for name, value, important in rule.declarations:
                    layer = -rule.layer if important else rule.layer
                    own.add(name, value, (2 * important, layer, selector.specificity, rule.order))
    for node in parsed.css(_WITH_STYLES):
        _add_attributes(declared.setdefault(node.mem_id, _Declared(node)))
    _hide_beside_shadows(parsed, declared)
    if declared or first_lines:
        _Judge(parsed, declared, sheets, revealed).remove(first_lines)


def _add_attributes(own: _Declared) -> None:
    attributes = own.node.attributes
    is_closed = own.node.tag == "dialog" or "popover" in attributes
    if is_closed or ("hidden" in attributes and attributes["hidden"] != "until-found"):
        own.add("display", "none", _ATTRIBUTE_RANK)
    if own.node.tag == "mphantom":
        own.add("visibility", "hidden", _ATTRIBUTE_RANK)
    if size := (attributes.get("mathsize") or "").strip():
        for longhand, value in longhands("font-size", "0px" if size == "0" else size):
            own.add(longhand, value, _ATTRIBUTE_RANK)
    for attribute, name in _COLOUR_ATTRIBUTES.items():
        colour = legacy_colour(attributes.get(attribute) or "")
        if colour is not None:
            red, green, blue = (round(255 * part) for part in colour[:3])
            for longhand, value in longhands(name, f"rgb({red}, {green}, {blue})"):
                own.add(longhand, value, _ATTRIBUTE_RANK)
    for name, value, important in parse_style_attribute(attributes.get("style") or ""):
        own.add(name, value, (3 if important else 1, 0, (0, 0, 0), 0))


class _Judge:
    """Computes the styles of one page's elements and takes out what they hide."""

    def __init__(
        self,
        parsed: LexborHTMLParser,
        declared: dict[int, _Declared],
        sheets: StyleSheets,
        revealed: Revealed,
    ) -> None:
        self._declared = declared
        self._revealed = revealed
        self._is_uncertain = sheets.has_external
        self._keyframes = sheets.keyframes
        self._styles: dict[int, Style] = {}
        known = Style(colour=None) if sheets.has_external else Style()
        self._root = replace(known, variables=sheets.initial)
        body = parsed.body
        self._page_text = len(body.text_lexbor()) if body is not None else 0
        self._measured = 0
        self._judged: dict[object, tuple[Style, bool, Style]] = {}
        self._boxes: dict[int, LexborNode] = {}
        self._muted: dict[int, LexborNode] = {}

    def remove(self, first_lines: Mapping[int, _Declared]) -> None:
        """Take out hidden boxes whole, and of elements with unreadable text their text."""
        for own in list(self._declared.values()):
            self._style(own.node)
        for node in (*self._with_hidden_first_line(first_lines), *self._collapsed_cells()):
            self._boxes[node.mem_id] = node
        for text in self._unreadable_texts():
            text.decompose()
        removed: dict[int, LexborNode] = {}
        outside: dict[int, bool] = {}
        # Boxes come after those around them, so what is around one is decided by then.
        for key, node in self._boxes.items():
            if _is_inside(node, removed, outside):
                continue
            if self._revealed.by_control(node):
                _set_apart(node)
            elif not self._is_page(node):
                removed[key] = node
        for node in removed.values():
            node.decompose()

    def _with_hidden_first_line(self, lines: Mapping[int, _Declared]) -> Iterator[LexborNode]:
        """Yield elements whose first line is unreadable; where that ends is not known."""
        for own in lines.values():
            around = self._style(own.node)
            line, _ = self._judge(own.raw, around, is_page=False)
            if line.hides_text and not around.hides_text:
                yield own.node

    def _collapsed_cells(self) -> Iterator[LexborNode]:
        columns = [
            own.node
            for own in self._declared.values()
            if own.node.tag in ("col", "colgroup") and own.raw.get("visibility") == "collapse"
        ]
        return cells_of(columns)

    def _unreadable_texts(self) -> list[LexborNode]:
        texts: list[LexborNode] = []
        walked: set[int] = set()
        for key, node in self._muted.items():
            if key not in walked and not self._revealed.by_control(node):
                muted = self._muted_texts(node, walked)
                if not self._is_most(sum(len(text.text_content or "") for text in muted)):
                    texts.extend(muted)
        return texts

    def _style(self, node: LexborNode) -> Style:
        """Return the style of an element; that of all around it is computed on the way."""
        above: list[LexborNode] = []
        step: LexborNode | None = node
        while step is not None and step.mem_id not in self._styles:
            above.append(step)
            step = step.parent
        style = self._root if step is None else self._styles[step.mem_id]
        for element in reversed(above):
            style = self._style_within(element, style)
            self._styles[element.mem_id] = style
        return style

    def _style_within(self, node: LexborNode, around: Style) -> Style:
        own = self._declared.get(node.mem_id)
        if self._is_uncertain and node.tag not in _PAGE_TAGS and _has_names(node):
            # A sheet from elsewhere may paint a background for it.
            around = replace(around, backdrop=None)
        if own is None:
            return around
        raw = own.raw
        key = (node.tag in _PAGE_TAGS, tuple(raw.items()), id(around))
        judged = self._judged.get(key)
        if judged is None:
            # The style around is kept, so that no other can come to have its id.
            judged = self._judged[key] = (*self._judge(raw, around, is_page=key[0]), around)
        style, hides_box, _ = judged
        if hides_box:
            self._boxes[node.mem_id] = node
        if style.hides_text and not around.hides_text:
            self._muted[node.mem_id] = node
        return style

    def _judge(self, raw: dict[str, str], around: Style, *, is_page: bool) -> tuple[Style, bool]:
        """Return the style that declarations come to, and whether they hide the box."""
        values = substitute(raw, around)
        if is_page and self._revealed.has_scripts:
            # Pages are held back like this until their scripts or fonts have come.
            held_back = ("visibility", "opacity", "display")
            values = {name: value for name, value in values.items() if name not in held_back}
        style = with_variables(raw, compute(values, around, is_page=is_page))
        hides = is_not_displayed(values) or is_box_hidden(values, style, around)
        frames = self._frames(values)
        if hides and not frames and "animation" in values and self._is_all_known:
            return style, True
        hidden = [self._is_hidden({**values, **frame}, around) for frame in frames]
        if hidden and (all(hidden) or (hidden[-1] and _stays(values))):
            return style, True
        return style, hides and not self._revealed.fades_in(values)

    @property
    def _is_all_known(self) -> bool:
        """Whether neither a sheet from elsewhere nor a script can animate anything."""
        return not self._is_uncertain and not self._revealed.has_scripts

    def _frames(self, values: Mapping[str, str]) -> list[dict[str, str]]:
        """Return what the frames of an element's animation declare."""
        names = values.get("animation", "").replace(",", " ").split()
        named = next((self._keyframes[name] for name in names if name in self._keyframes), ())
        return [{part.name: part.value for part in frame} for frame in named]

    def _is_hidden(self, values: Mapping[str, str], around: Style) -> bool:
        style = compute(values, around, is_page=False)
        is_shown = not is_not_displayed(values) and not is_box_hidden(values, style, around)
        return not is_shown or (style.hides_text and not around.hides_text)

    def _muted_texts(self, root: LexborNode, walked: set[int]) -> list[LexborNode]:
        """Return the texts below an element that are unreadable as its own are."""
        texts: list[LexborNode] = []
        stack = [(root, True)]
        while stack:
            node, hides = stack.pop()
            walked.add(node.mem_id)
            own = self._styles.get(node.mem_id)
            hides = own.hides_text if own is not None else hides
            child = node.first_child
            while child is not None:
                if child.is_text_node:
                    if hides and (child.text_content or "").strip():
                        texts.append(child)
                elif child.is_element_node:
                    stack.append((child, hides))
                child = child.next
        return texts

    def _is_page(self, node: LexborNode) -> bool:
        """Return whether an element holds most of the page."""
        if self._measured > _MAX_MEASURED_PAGES * self._page_text:
            return False
        characters = len(node.text_lexbor())
        self._measured += characters
        return self._is_most(characters)

    def _is_most(self, characters: int) -> bool:
        """Return whether so much text is most of the page, which then is shown by other means."""
        if not self._revealed.has_scripts and not self._is_uncertain:
            return False
        share = _SCRIPTED_SHARE if self._revealed.has_scripts else _WHOLE_SHARE
        return characters > share * self._page_text


def _stays(values: Mapping[str, str]) -> bool:
    """Return whether an element stays as the last frame of its animation leaves it."""
    words = f"{values.get('animation', '')} {values.get('animation-fill-mode', '')}".split()
    return "forwards" in words or "both" in words


def _hide_beside_shadows(parsed: LexborHTMLParser, declared: dict[int, _Declared]) -> None:
    """Hide what stands beside a shadow tree that has no place for it."""
    for template in parsed.css("template[shadowrootmode]"):
        around = template.parent
        if around is None or "<slot" in (template.html or ""):
            continue
        for node in around.iter():
            if node.mem_id != template.mem_id:
                own = declared.setdefault(node.mem_id, _Declared(node))
                own.add("display", "none", (4,))


def _set_apart(node: LexborNode) -> None:
    """Part what is shown on demand from the word before it, as a footnote from its number."""
    around = node.parent
    while around is not None and around.tag not in _CODE_TAGS:
        around = around.parent
    if around is None:
        node.insert_before(" ")


def _has_names(node: LexborNode) -> bool:
    attributes = node.attributes
    return bool(attributes.get("class") or attributes.get("id"))


def _is_inside(node: LexborNode, boxes: dict[int, LexborNode], known: dict[int, bool]) -> bool:
    passed: list[int] = []
    result = False
    step = node.parent
    while step is not None:
        key = step.mem_id
        if key in boxes or key in known:
            result = key in boxes or known[key]
            break
        passed.append(key)
        step = step.parent
    known.update(dict.fromkeys(passed, result))
    return result
