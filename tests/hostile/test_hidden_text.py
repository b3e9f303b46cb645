"""Text that readers of a page cannot see does not reach the stored page; what they can see does."""

from __future__ import annotations

import time

import pytest
from bench.redteam.hidden_text import read_rendered, read_unrendered, score
from bench.redteam.hidden_text_pages import HIDING, SHOWING
from bench.redteam.hidden_text_rare import RARE_HIDING
from tests.ingest.fetched import extracted

from citewell.core.errors import EmptyPage
from citewell.ingest.extract.html.tree import parse_document

# Only a layout shows that something lies above the text, or pushes it out of its box.
NEEDS_LAYOUT = {
    name for name in (case.name for case in HIDING) if "height:400px" in name or "inset:0" in name
}
EVERY = 12


def test_hidden_text_is_left_out_of_pages_as_they_were_sent() -> None:
    result = score({case.name: read_unrendered(case) for case in (*HIDING, *SHOWING)})

    assert result.tried > 200
    assert set(result.leaked) == NEEDS_LAYOUT
    assert result.lost == ()


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_hidden_text_is_left_out_of_rendered_pages(anyio_backend: str) -> None:
    cases = [case for case in HIDING if case.name in NEEDS_LAYOUT]
    chosen = [*HIDING[::EVERY], *RARE_HIDING[:: EVERY // 2], *SHOWING[::EVERY]]

    result = score(await read_rendered((*cases, *chosen)))

    assert result.tried > 15
    assert result.leaked == ()
    assert result.lost == ()


def test_a_page_that_hides_all_it_says_without_a_script_is_empty() -> None:
    with pytest.raises(EmptyPage):
        extracted("<style>main{display:none}</style><main><p>Herons wade.</p></main>")


def test_a_page_that_its_scripts_will_show_is_kept() -> None:
    page = extracted(
        "<style>main{opacity:0}</style><main><p>Herons wade.</p></main><script></script>"
    )

    assert "Herons wade." in page.text


PARAGRAPHS = "<p class=a>x</p>" * 20_000
HOSTILE_SHEETS = {
    "many rules": "".join(f".a{n}{{color:red}}" for n in range(20_000)),
    "rules for everything": "*{color:red}" * 8_000,
    "different rules for everything": "".join(f":not(.b{n}){{color:red}}" for n in range(5_000)),
    "long chains": "".join(f"y{n} p p p p p p{{display:none}}" for n in range(2_000)),
    "siblings": "".join(f"y{n} ~ p ~ p{{display:none}}" for n in range(2_000)),
    "counted children": "".join(f"p:nth-child({n}n+1){{display:none}}" for n in range(2_000)),
    "nested :has": "p:has(b:has(i:has(u))){display:none}" * 500,
    "nested rules": "a,b,c,d,e,f,g,h{" * 2_000,
    "lists of selectors": (".a," * 5_000 + "b{") * 5,
    "growing variables": "p{"
    + "".join(f"--v{n}:var(--v{n + 1}) var(--v{n + 1});" for n in range(200))
    + "display:var(--v0)}",
    "open braces": "{" * 100_000,
    "open brackets": ":is(" * 50_000,
}


@pytest.mark.parametrize(
    "deep",
    [
        f".x{{margin:{'(' * 2_000}{')' * 2_000}}}",
        f"{':not(' * 900}p{')' * 900}{{color:red}}",
        f"@media {'(' * 2_000}color{')' * 2_000}{{p{{color:red}}}}",
        f"@supports {'(' * 2_000}a:b{')' * 2_000}{{p{{color:red}}}}",
    ],
    ids=["value", "selector", "media", "supports"],
)
def test_what_is_nested_too_deeply_keeps_no_other_rule_from_hiding(deep: str) -> None:
    page = extracted(f"<style>{deep} .x{{display:none}}</style><p>Herons wade.</p><p class=x>No.")

    assert page.text == "Herons wade.\n"


@pytest.mark.parametrize("name", ["--fadeOut", "--A", "--É"])
def test_a_custom_property_hides_whatever_letters_it_has(name: str) -> None:
    page = extracted(
        f"<style>:root{{{name}:none}}.x{{display:var({name})}}</style>"
        "<p>Herons wade.</p><p class=x>No."
    )

    assert page.text == "Herons wade.\n"


@pytest.mark.parametrize("sheet", HOSTILE_SHEETS.values(), ids=HOSTILE_SHEETS.keys())
def test_a_hostile_sheet_takes_bounded_time(sheet: str) -> None:
    started = time.process_time()

    parse_document(f"<style>{sheet}</style>{PARAGRAPHS}")

    assert time.process_time() - started < 10


def test_deep_and_wide_hiding_takes_bounded_time() -> None:
    nested = "<div style='color:#fff'><div style='color:#000'>" * 4_500 + "x"
    boxes = "<div hidden>" * 9_000 + "x" * 100_000
    below = "<div>" * 5_000 + "<p style='color:#fff'>x</p>" * 10_000
    started = time.process_time()

    for html in (nested, boxes, below):
        parse_document(html)

    assert time.process_time() - started < 20
