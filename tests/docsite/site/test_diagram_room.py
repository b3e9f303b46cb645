"""The room that a page keeps for a diagram, compared with what Mermaid draws."""

from __future__ import annotations

import pytest

from citewell.docsite.site.diagram_room import estimate_height


@pytest.mark.parametrize(
    ("source", "drawn"),
    [
        (
            "graph TD\n A[Client] -->|asks| B(Server)\n B --> C{Found?}\n C -->|yes| D\n C -->|no| E",
            471,
        ),
        ("flowchart LR\n  A[Observer] -->|counts| B(Survey)\n  B --> C[Publish]", 70),
        ("sequenceDiagram\n  Alice->>Bob: Hello", 198 + 42),
    ],
    ids=["down", "right", "sequence"],
)
def test_the_room_is_about_that_of_the_drawing(source: str, drawn: int) -> None:
    assert drawn * 0.85 <= estimate_height(source) <= drawn * 1.2


@pytest.mark.parametrize("source", ["", "%% nothing", "graph", "pie\n" + '"a" : 1\n' * 9999])
def test_any_source_gets_a_height_within_bounds(source: str) -> None:
    assert 70 <= estimate_height(source) <= 900
