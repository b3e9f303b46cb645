"""The rules of a page's own style sheets that can hide or show text."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

import tinycss2

from citewell.core.frozen import frozen
from citewell.ingest.extract.hiding.conditions import holds_on_screen, is_supported
from citewell.ingest.extract.hiding.declarations import Declaration, expand
from citewell.ingest.extract.hiding.selectors import Selector, parse_selectors, within
from citewell.ingest.extract.hiding.values import as_css

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selectolax.lexbor import LexborHTMLParser, LexborNode
    from tinycss2.ast import Node

# tinycss2 takes some two microseconds a character: this bounds a page to a third of a second.
_MAX_SHEET_CHARACTERS = 150_000
_MAX_RULES = 4_000
_MAX_NESTING = 8
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
    has_external = has_external or "@import" in text
    return StyleSheets(
        rules=_parse(text[:_MAX_SHEET_CHARACTERS]),
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
def _parse(text: str) -> tuple[Rule, ...]:
    if not text:
        return ()
    reader = _SheetReader()
    nodes = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    reader.read(nodes, around=(), layer="", depth=0)
    return tuple(reader.rules)


@dataclass(slots=True)
class _SheetReader:
    """Collects rules in order, whatever at-rules and other rules they are nested in."""

    rules: list[Rule] = field(default_factory=list)
    layers: dict[str, int] = field(default_factory=dict)

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
        match node.lower_at_keyword:
            case "media" if not holds_on_screen(prelude):
                return
            case "supports" if not is_supported(node.prelude):
                return
            case "layer":
                names = [f"{layer}.{name.strip()}" for name in prelude.split(",")]
                for name in names:
                    self.layers.setdefault(name, len(self.layers))
                layer = names[0]
            case "scope":
                around = within(around, node.prelude)
            case "media" | "supports" | "starting-style":
                pass
            case _:
                return
        if node.content is not None and node.lower_at_keyword != "starting-style":
            self._parse_block(node, around=around, layer=layer, depth=depth + 1)
