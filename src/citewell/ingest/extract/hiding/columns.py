"""The cells of table columns that are collapsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from selectolax.lexbor import LexborNode

_MOST_COLUMNS = 1_000


def cells_of(columns: Iterable[LexborNode]) -> Iterator[LexborNode]:
    """Yield the cells that stand in the columns of `col` and `colgroup` elements."""
    chosen: dict[int, tuple[LexborNode, set[int]]] = {}
    for column in columns:
        table = column.parent
        while table is not None and table.tag != "table":
            table = table.parent
        if table is not None:
            places = chosen.setdefault(table.mem_id, (table, set()))[1]
            places.update(_places_of(column, table))
    for table, places in chosen.values():
        for row in table.css("tr"):
            at = 0
            for cell in row.iter():
                width = _span(cell, "colspan")
                if cell.tag in ("td", "th") and places.issuperset(range(at, at + width)):
                    yield cell
                at += width


def _places_of(column: LexborNode, table: LexborNode) -> range:
    at = 0
    for node in table.css("col, colgroup"):
        has_own = node.tag == "colgroup" and node.css_first("col") is not None
        width = 0 if has_own else _span(node, "span")
        if node.mem_id == column.mem_id:
            inside = sum(_span(col, "span") for col in node.css("col")) if has_own else width
            return range(at, at + inside)
        at += width
    return range(0)


def _span(node: LexborNode, attribute: str) -> int:
    written = node.attributes.get(attribute) or ""
    return min(int(written), _MOST_COLUMNS) if written.isascii() and written.isdigit() else 1
