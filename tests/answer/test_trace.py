"""The expansion trace."""

from inline_snapshot import snapshot
from tests.answer.results import block, result

from citewell.answer.trace import format_trace
from citewell.core.results import ExpansionStep

BASE = "https://example.org/docs/"


def step(url: str, parent: str, depth: int, failure: str | None = None) -> ExpansionStep:
    return ExpansionStep(
        url=url,
        parent_url=parent,
        depth=depth,
        chunks_added=8,
        score_before=0.63,
        score_after=0.71,
        duration_ms=980.4,
        failure=failure,
    )


def test_followed_pages_hang_below_the_pages_that_linked_to_them() -> None:
    found = result(
        block("Fish."),
        steps=(
            step(BASE + "a.html", BASE + "seed.html", 1),
            step(BASE + "b.html", BASE + "seed.html", 1, failure="no such page"),
            step(BASE + "c.html", BASE + "a.html", 2),
            step("https://other.example/", BASE + "seed.html", 1),
        ),
        stop_reason="score plateau",
    )

    assert format_trace(found) == snapshot("""\
[EXPANSION TRACE]
Base: https://example.org/docs/

/seed.html (seed, score: 0.63 → 0.63)
├── /a.html (depth 1, +8 chunks, score: 0.63 → 0.71, 980ms)
│   └── /c.html (depth 2, +8 chunks, score: 0.63 → 0.71, 980ms)
├── /b.html (depth 1) [failed: no such page]
└── https://other.example/ (external, depth 1, +8 chunks, score: 0.63 → 0.71, 980ms)
    [stopped: score plateau]\
""")


def test_pages_without_a_common_folder_are_named_in_full() -> None:
    found = result(block("Fish."), steps=(step("https://b.example/x", "https://a.example/y", 1),))

    assert "https://b.example/x (depth 1" in format_trace(found)
