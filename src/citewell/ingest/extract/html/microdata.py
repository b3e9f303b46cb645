"""What a page says of itself in microdata attributes, as the objects JSON-LD would have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.ingest.extract.characters import collapse_spaces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborHTMLParser, LexborNode

_MAX_ELEMENTS = 20_000
_MAX_VALUE_CHARACTERS = 5_000
# Where an element keeps its value when it is not its text.
_VALUE_ATTRIBUTES = {
    "meta": "content",
    "data": "value",
    "meter": "value",
    "time": "datetime",
    "a": "href",
    "link": "href",
    "img": "src",
}


def parse_microdata(parsed: LexborHTMLParser) -> Iterator[dict[str, Any]]:
    """Yield the page's schema.org items that are not the property of another."""
    for node in parsed.css("[itemscope][itemtype*='schema.org']"):
        if "itemprop" not in node.attributes:
            yield _item(node)


def _item(root: LexborNode) -> dict[str, Any]:
    item = _new_item(root)
    # Each entry is an element and the item whose properties it may hold.
    waiting: list[tuple[LexborNode, dict[str, Any]]] = [(child, item) for child in _children(root)]
    waiting.reverse()
    seen = 0
    while waiting and seen < _MAX_ELEMENTS:
        node, owner = waiting.pop()
        seen += 1
        attributes = node.attributes
        holder = owner
        if "itemprop" in attributes:
            is_item = "itemscope" in attributes
            value = _new_item(node) if is_item else _value(node)
            for name in (attributes["itemprop"] or "").split():
                _add(owner, name, value)
            holder = value if isinstance(value, dict) else owner
        elif "itemscope" in attributes:
            continue  # an item of its own, which stands here only to be seen
        waiting.extend((child, holder) for child in reversed(_children(node)))
    return item


def _children(node: LexborNode) -> list[LexborNode]:
    return list(node.iter(include_text=False))


def _new_item(node: LexborNode) -> dict[str, Any]:
    kinds = (node.attributes.get("itemtype") or "").split()
    return {"@type": kinds[0].rstrip("/").rpartition("/")[2]} if kinds else {}


def _value(node: LexborNode) -> str:
    attribute = _VALUE_ATTRIBUTES.get(node.tag or "")
    given = node.attributes.get(attribute) if attribute is not None else None
    if given is None:
        given = node.attributes.get("content")
    text = node.text(separator="\n") if given is None else given
    lines = (collapse_spaces(line) for line in text.splitlines())
    return "\n".join(line for line in lines if line)[:_MAX_VALUE_CHARACTERS]


def _add(item: dict[str, Any], name: str, value: str | dict[str, Any]) -> None:
    known = item.get(name)
    if known is None:
        item[name] = value
    elif isinstance(known, list):
        known.append(value)
    else:
        item[name] = [known, value]
