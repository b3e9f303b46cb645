"""Questions of a person: quotes in their context, the pages followed, forms to copy."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tools.library import EGRETS, HERONS, ME, open_library

from citewell.core.errors import InvalidArgument, ScopeViolation
from citewell.core.words import content_words
from citewell.docsite.site.stored_text import render_stored_texts
from citewell.tools.tool import Call
from citewell.tools.webapp.ask import Asked, ask, recent_questions
from citewell.tools.webapp.quote_context import context_of, excerpt_of

pytestmark = pytest.mark.anyio


async def test_a_quote_is_shown_in_its_context_with_the_words_of_the_question() -> None:
    async with open_library(HERONS, EGRETS) as library:
        call = Call(parts=library.parts, caller=ME)
        view = await ask(Asked(question="How long does the heron stand still?"), call, library.app)

    first = view.cards[0]
    assert view.result.answered
    assert (first.title, first.source_id) == ("Herons", 1)
    assert f'id="card-{first.id}"' in first.html
    assert "<b>stands</b> <b>still</b>" in first.html


def test_the_sentence_that_answers_is_marked_before_the_words_of_the_question() -> None:
    text = "A heron waits. The default isolation level is Read Committed. It is never dirty."
    wanted = frozenset(content_words("What is the default isolation level?"))
    key = (15, text.index(" It"))
    marked = excerpt_of(text, 0, len(text), quote_id="q", key=key, question_words=wanted)
    unrelated = excerpt_of(text, 0, 14, quote_id="q", key=None, question_words=wanted)

    html = render_stored_texts([marked, unrelated])
    answers = [re.findall(r'<mark(?: id="q")? class="answer">(.*?)</mark>', part) for part in html]
    assert [re.sub("<.?b>", "", part) for part in answers[0]] == [
        "The default isolation level is Read Committed."
    ]
    assert answers[1] == []
    assert html[0].count('id="q"') == 1


async def test_unlikely_quotes_step_back_and_questions_are_remembered() -> None:
    async with open_library(HERONS) as library:
        call = Call(parts=library.parts, caller=ME)
        view = await ask(Asked(question="What does the grey heron eat?"), call, library.app)
        await ask(Asked(question="Where does a heron nest?"), call, library.app)
        recent = await recent_questions(call)
        of_others = await recent_questions(replace(call, caller=replace(ME, key_hash="other")))

    card = view.cards[0]
    shown = replace(view, cards=[replace(card, confidence=c) for c in (0.1, 0.4, 0.05, None)])
    assert [card.confidence for card in shown.likely] == [0.1, 0.4, None]
    assert [card.confidence for card in shown.unlikely] == [0.05]
    assert recent == ["Where does a heron nest?", "What does the grey heron eat?"]
    assert of_others == []


async def test_quotes_that_hardly_answer_are_not_said_to_answer() -> None:
    async with open_library(HERONS) as library:
        call = Call(parts=library.parts, caller=ME)
        view = await ask(Asked(question="What does the grey heron eat?"), call, library.app)

    def certainty_at(confidence: float | None) -> str:
        first = replace(view.cards[0], confidence=confidence)
        # A surer quote below it is not what is read as the answer.
        others = [replace(card, confidence=0.95) for card in view.cards]
        return replace(view, cards=[first, *others]).certainty

    assert [certainty_at(each) for each in (0.31, 0.5, 0.79, 0.8, None)] == [
        *("low", "fair", "fair", "high", "high")
    ]


async def test_quotes_are_copied_with_their_sources() -> None:
    async with open_library(HERONS) as library:
        call = Call(parts=library.parts, caller=ME)
        view = await ask(Asked(question="What does the grey heron eat?"), call, library.app)

    quote = view.cards[0].quote
    assert view.copies["markdown"].startswith(f"> {quote.text.splitlines()[0]}")
    assert f"]({HERONS.url}#grey%20heron:~:text=The%20grey" in view.copies["markdown"]
    assert "  title = {Herons},\n" in view.copies["bibtex"]
    assert "  urldate = {2026-03-14}\n" in view.copies["bibtex"]
    csl = json.loads(view.copies["csl"])
    assert [entry["URL"] for entry in csl] == [card.url for card in view.cards]
    assert len({entry["id"] for entry in csl}) == len(csl)
    assert all(f"url = {{{card.url}}}" in view.copies["bibtex"] for card in view.cards)
    assert csl[0]["accessed"] == {"date-parts": [[2026, 3, 14]]}
    assert "[SOURCES]" in view.copies["brief"]


async def test_what_a_tool_refuses_is_refused_and_a_question_is_metered() -> None:
    async with open_library(HERONS) as library:
        blind = replace(ME, toolsets=frozenset({"people"}))
        reader = replace(ME, key_hash="reader", scopes=frozenset({"read"}))
        meter, store = library.parts.access.meter, library.parts.store
        with pytest.raises(ScopeViolation):
            await ask(Asked(question="x"), Call(parts=library.parts, caller=blind), library.app)
        call = Call(parts=library.parts, caller=reader)
        with pytest.raises(ScopeViolation):
            await ask(Asked(question="x", urls=("https://a.example/",)), call, library.app)
        with pytest.raises(InvalidArgument):
            await ask(Asked(question=""), call, library.app)
        await ask(Asked(question="What does the heron eat?"), call, library.app)
        await meter.write_out()
        used = await store.access.usage(owner="reader")

    assert {(total.tool, total.outcome) for total in used} >= {("search", "ok")}


def test_context_ends_at_sentences_and_never_runs_into_the_next_line() -> None:
    long = "Far away. " * 40 + "Just before. THE QUOTE. Just after. " + "Far behind. " * 40
    text = f"# H\n\n{long}\n- next bullet"
    start = text.index("THE QUOTE.")
    span = context_of(text, start, start + len("THE QUOTE."))

    shown = text[span.start : span.end]
    assert shown.startswith("Far away. ")
    assert shown.endswith("Far behind. ")
    assert "Just before. THE QUOTE. Just after." in shown
    assert len(shown) < 450
    bullet = "- one is short.\n- two"
    assert context_of(bullet, 2, 15).end == len("- one is short.")


@given(st.text(alphabet="ab. \n`", max_size=300), st.data())
def test_a_context_holds_its_quote_and_stays_in_its_lines(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, max(0, len(text) - 1)))
    end = data.draw(st.integers(start + 1, max(start + 1, len(text))))
    span = context_of(text, start, end)

    assert span.start <= start
    assert span.end >= min(end, len(text))
    assert "\n" not in text[span.start : start]
    assert "\n" not in text[end : span.end]


def test_quoted_lines_of_a_program_stay_a_program() -> None:
    text = "Intro.\n\n```python\nfirst = 1\nsecond = 2\n```\n"
    start = text.index("second")
    excerpt = excerpt_of(
        text, start, start + 10, quote_id="q", key=None, question_words=frozenset()
    )
    html = render_stored_texts([excerpt])[0]

    assert 'data-language="python"' in html
    assert 'class="hll"' in html
