"""How high a Mermaid diagram will about be, so that a page keeps room for it before it is drawn."""

from __future__ import annotations

import re

# As Mermaid sets a drawing, in pixels.
_RANK, _BETWEEN_RANKS = 54, 50
_WORDS, _DECISION = 24, 57
_RANK_WIDTH = 170
_COLUMN_WIDTH = 736
_MESSAGE, _HEADS = 46, 190
_LINE = 42
_OTHER = 400
_LEAST, _MOST = 70, 900

_MAX_LINES = 300
_ARROW = re.compile(r"[<xo]?(?:--|==|-\.|~~)[-=.~]*[>xo]?(?:\|[^|\n]{0,200}\|)?")
_NODE = re.compile(r"\s*(\w+)")
_MESSAGE_LINE = re.compile(r"\s*[^\s:]+\s*(?:-{1,2}|<<-{1,2})(?:>>|[>x)]).*|\s*[Nn]ote ")


def estimate_height(source: str) -> int:
    """Return the height of a diagram in pixels, as far as its source tells."""
    lines = [line for line in source.splitlines()[:_MAX_LINES] if line.strip()]
    lines = [line for line in lines if not line.lstrip().startswith("%%")]
    kind, *rest = lines[0].split() if lines else [""]
    if kind in ("graph", "flowchart"):
        height = _flowchart_height(lines[1:], is_wide=rest[:1] in (["LR"], ["RL"]))
    elif kind == "sequenceDiagram":
        height = _HEADS + _MESSAGE * sum(1 for line in lines if _MESSAGE_LINE.match(line))
    elif kind in ("classDiagram", "stateDiagram", "stateDiagram-v2", "erDiagram"):
        height = _LINE * len(lines)
    else:
        height = _OTHER
    return min(max(height, _LEAST), _MOST)


def _flowchart_height(lines: list[str], *, is_wide: bool) -> int:
    """Return the height from the ranks of the nodes: how many steps each is from the first."""
    ranks: dict[str, int] = {}
    for line in lines:
        rank = 0
        for part in _ARROW.split(line):
            name = _NODE.match(part)
            if name is not None:
                rank = max(ranks.get(name[1], 0), rank)
                ranks[name[1]] = rank
                rank += 1
    deep = max(ranks.values(), default=0) + 1
    counts = list(ranks.values())
    broad = max((counts.count(rank) for rank in set(counts)), default=1)
    if not is_wide:
        # Words on an arrow and a decision take more room than a plain step.
        source = "\n".join(lines)
        more = _WORDS * min(source.count("|") // 2, deep - 1) + _DECISION * ("{" in source)
        return deep * (_RANK + _BETWEEN_RANKS) - _BETWEEN_RANKS + more
    shrunk = min(1.0, _COLUMN_WIDTH / (deep * _RANK_WIDTH))
    return round((broad * (_RANK + _BETWEEN_RANKS) - _BETWEEN_RANKS) * shrunk)
