"""The expansion trace."""

from inline_snapshot import snapshot
from tests.answer.results import block, result

from citewell.answer.trace import format_trace
from citewell.core.boundary import Boundary
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

    assert format_trace(found, Boundary("n0nce")) == snapshot("""\
[EXPANSION TRACE]
⟦n0nce
Base: https://example.org/docs/

/seed.html (seed, score: 0.63 → 0.63)
├── /a.html (depth 1, +8 chunks, score: 0.63 → 0.71, 980ms)
│   └── /c.html (depth 2, +8 chunks, score: 0.63 → 0.71, 980ms)
├── /b.html (depth 1) [failed: no such page]
└── https://other.example/ (external, depth 1, +8 chunks, score: 0.63 → 0.71, 980ms)
n0nce⟧
    [stopped: score plateau]\
""")


def test_a_given_page_from_which_nothing_was_followed_is_shown_too() -> None:
    found = result(
        block("Fish."),
        seeds=(BASE + "one.html", BASE + "two.html"),
        steps=(step(BASE + "a.html", BASE + "two.html", 1),),
    )

    assert format_trace(found, Boundary("n0nce")) == snapshot("""\
[EXPANSION TRACE]
⟦n0nce
Base: https://example.org/docs/

/one.html (seed, score: 0.63 → 0.63)
/two.html (seed, score: 0.63 → 0.63)
└── /a.html (depth 1, +8 chunks, score: 0.63 → 0.71, 980ms)
n0nce⟧
    [stopped: answered]\
""")


def test_pages_of_another_site_than_the_given_ones_are_external() -> None:
    away = "https://other.example/"
    found = result(
        block("Fish."),
        seeds=("https://a.example/docs/seed.html",),
        steps=(
            step(away + "x", "https://a.example/docs/seed.html", 1),
            step(away + "y", "https://a.example/docs/seed.html", 1),
        ),
    )

    assert format_trace(found, Boundary("n0nce")) == snapshot("""\
[EXPANSION TRACE]
⟦n0nce
https://a.example/docs/seed.html (seed, score: 0.63 → 0.63)
├── https://other.example/x (external, depth 1, +8 chunks, score: 0.63 → 0.71, 980ms)
└── https://other.example/y (external, depth 1, +8 chunks, score: 0.63 → 0.71, 980ms)
n0nce⟧
    [stopped: answered]\
""")
