"""The rules of a page's own style sheets that can hide or show text."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

import tinycss2

from citewell.core.frozen import frozen
from citewell.ingest.extract.hiding.conditions import (
    holds_in_container,
    holds_on_screen,
    is_supported,
)
from citewell.ingest.extract.hiding.declarations import Declaration, expand
from citewell.ingest.extract.hiding.selectors import Selector, parse_selectors, within
from citewell.ingest.extract.hiding.values import as_css

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selectolax.lexbor import LexborHTMLParser, LexborNode
    from tinycss2.ast import Node

Keyframes = Mapping[str, tuple[tuple[Declaration, ...], ...]]

# tinycss2 takes some two microseconds a character: this bounds a page to a third of a second.
_MAX_SHEET_CHARACTERS = 150_000
_MAX_RULES = 4_000
_MAX_NESTING = 8
_MAX_FRAMES = 100
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,9})?")
_IMPORT = re.compile(r"@import\s++(?!(?:url\(\s*+)?[\"']?data:)", re.IGNORECASE)
_CONDITIONAL: Mapping[str, Callable[[Node], bool]] = {
    "media": lambda rule: holds_on_screen(as_css(rule.prelude).strip()),
    "supports": lambda rule: is_supported(rule.prelude),
    "container": lambda rule: holds_in_container(rule.prelude),
}
_UNLAYERED = 1_000_000


@frozen
class Rule:
    """Declarations and the selectors of what they are for, with its place in the cascade."""

    selectors: tuple[Selector, ...]
    declarations: tuple[Declaration, ...]
    layer: int
    order: int


@frozen
class StyleSheets:
    """The rules of a page's own sheets, and whether others are linked to that cannot be known."""

    rules: tuple[Rule, ...]
    keyframes: Keyframes
    """Of each animation, what its frames declare, from first to last."""
    initial: Mapping[str, str]
    """What custom properties are where nothing is declared of them."""
    sources: tuple[str, ...]
    has_external: bool


def style_sheets(parsed: LexborHTMLParser) -> StyleSheets:
    """Return the style sheets that a page carries inside itself."""
    sources: list[str] = []
    has_external = False
    preferred = _default_set(parsed)
    for node in parsed.css("style, link[rel~=stylesheet i]"):
        attributes = node.attributes
        if (attributes.get("type") or "text/css").strip().lower() != "text/css":
            continue
        title = attributes.get("title") or ""
        if not _is_alternate(node):
            preferred = preferred or title
        if title not in ("", preferred) or not holds_on_screen(attributes.get("media") or ""):
            continue
        if node.tag == "style":
            sources.append(node.text())
            continue
        sheet = _data_sheet(attributes.get("href") or "")
        has_external = has_external or sheet is None
        sources.append(sheet or "")
    text = "\n".join(source for source in sources if source.strip())
    has_external = has_external or _IMPORT.search(text) is not None
    rules, keyframes, initial = _parse(text[:_MAX_SHEET_CHARACTERS])
    return StyleSheets(
        rules=rules,
        keyframes=keyframes,
        initial=initial,
        sources=tuple(sources),
        has_external=has_external,
    )


def _default_set(parsed: LexborHTMLParser) -> str:
    """Return the name of the sheets that a page asks to be shown with; "" for the first name."""
    asked = parsed.css_first("meta[http-equiv=default-style i]")
    return (asked.attributes.get("content") or "") if asked is not None else ""


def _is_alternate(node: LexborNode) -> bool:
    return "alternate" in (node.attributes.get("rel") or "").lower().split()


def _data_sheet(reference: str) -> str | None:
    """Return the sheet that a data URL holds; None for any other reference."""
    head, comma, data = reference.strip().partition(",")
    if not comma or not head.lower().startswith("data:text/css"):
        return None
    content = unquote_to_bytes(data)
    if head.lower().endswith(";base64"):
        try:
            content = base64.b64decode(content)
        except binascii.Error:
            return ""
    return content.decode("utf-8", "replace")


# The pages of a site mostly carry the same sheets.
@lru_cache(maxsize=64)
def _parse(text: str) -> tuple[tuple[Rule, ...], Keyframes, Mapping[str, str]]:
    if not text:
        return (), {}, {}
    reader = _SheetReader()
    nodes = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    reader.read(nodes, around=(), layer="", depth=0)
    return tuple(reader.rules), reader.keyframes, reader.initial


@dataclass(slots=True)
class _SheetReader:
    """Collects rules in order, whatever at-rules and other rules they are nested in."""

    rules: list[Rule] = field(default_factory=list)
    layers: dict[str, int] = field(default_factory=dict)
    initial: dict[str, str] = field(default_factory=dict)
    keyframes: dict[str, tuple[tuple[Declaration, ...], ...]] = field(default_factory=dict)

    def read(
        self, nodes: Sequence[Node], *, around: tuple[Selector, ...], layer: str, depth: int
    ) -> None:
        if depth > _MAX_NESTING:
            return
        for node in nodes:
            if len(self.rules) >= _MAX_RULES:
                return
            if node.type == "qualified-rule":
                selectors = parse_selectors(node.prelude, around)
                if selectors:
                    self._parse_block(node, around=selectors, layer=layer, depth=depth)
            elif node.type == "at-rule":
                self._parse_at_rule(node, around=around, layer=layer, depth=depth)

    def _parse_block(
        self, node: Node, *, around: tuple[Selector, ...], layer: str, depth: int
    ) -> None:
        content = tinycss2.parse_blocks_contents(
            node.content, skip_comments=True, skip_whitespace=True
        )
        declarations = tuple(expand(content))
        if declarations and around:
            rank = self.layers.setdefault(layer, len(self.layers)) if layer else _UNLAYERED
            rule = Rule(
                selectors=around, declarations=declarations, layer=rank, order=len(self.rules)
            )
            self.rules.append(rule)
        self.read(content, around=around, layer=layer, depth=depth + 1)

    def _parse_at_rule(
        self, node: Node, *, around: tuple[Selector, ...], layer: str, depth: int
    ) -> None:
        prelude = as_css(node.prelude).strip()
        keyword = node.lower_at_keyword
        if keyword in _CONDITIONAL:
            if not _CONDITIONAL[keyword](node):
                return
        elif keyword == "layer":
            names = [f"{layer}.{name.strip()}" for name in prelude.split(",")]
            for name in names:
                self.layers.setdefault(name, len(self.layers))
            layer = names[0]
        # The root of one without a prelude is where the sheet stands.
        elif keyword == "scope" and prelude:
            around = within(around, node.prelude)
        else:
            self._note(node, prelude, layer=layer, depth=depth)
            return
        if node.content is not None:
            self._parse_block(node, around=around, layer=layer, depth=depth + 1)

    def _note(self, node: Node, prelude: str, *, layer: str, depth: int) -> None:
        """Note what an at-rule says that has no rules for elements of this page inside."""
        match node.lower_at_keyword:
            case "keyframes" | "-webkit-keyframes":
                self.keyframes[prelude.strip("\"'").lower()] = _frames(node)
            case "property":
                self._note_property(prelude.lower(), node)
            case "import" if (sheet := _data_sheet(_address(node))) is not None:
                nodes = tinycss2.parse_stylesheet(sheet, True, True)
                self.read(nodes, around=(), layer=layer, depth=depth + 1)

    def _note_property(self, name: str, rule: Node) -> None:
        for node in tinycss2.parse_blocks_contents(rule.content or [], True, True):
            if node.type == "declaration" and node.lower_name == "initial-value":
                self.initial[name] = as_css(node.value).strip().lower()


def _address(rule: Node) -> str:
    for node in rule.prelude:
        if node.type in ("url", "string"):
            return str(node.value)
        if node.type == "function" and node.lower_name == "url":
            return next((str(part.value) for part in node.arguments if part.type == "string"), "")
    return ""


def _frames(rule: Node) -> tuple[tuple[Declaration, ...], ...]:
    """Return what the frames of an animation declare, by their places."""
    frames: list[tuple[float, tuple[Declaration, ...]]] = []
    for node in tinycss2.parse_rule_list(rule.content or [], True, True)[:_MAX_FRAMES]:
        if node.type != "qualified-rule":
            continue
        content = tinycss2.parse_blocks_contents(node.content, True, True)
        declarations = tuple(expand(content))
        for place in as_css(node.prelude).lower().split(","):
            name = place.strip()
            percent = {"from": "0", "to": "100"}.get(name, name.removesuffix("%"))
            if _NUMBER.fullmatch(percent):
                frames.append((float(percent), declarations))
    # Without a first or a last frame, an animation begins or ends as the element is.
    places = {place for place, _ in frames}
    frames += [(place, ()) for place in (0.0, 100.0) if place not in places]
    return tuple(declarations for _, declarations in sorted(frames, key=itemgetter(0)))
