"""Choosing and shortening blocks."""

from hypothesis import given
from hypothesis import strategies as st
from tests.answer.results import block

from citewell.answer.quote import pick_quotes
from citewell.research.analyse import analyse_query
from citewell.research.evidence import choose_blocks, weigh_blocks
from citewell.research.excerpt import shorten_blocks


def test_each_side_and_each_page_to_show_keeps_its_best_block() -> None:
    blocks = [
        block("Herons eat fish.", source=1, relevance=0.9, sub_query="herons"),
        block("Herons wade.", source=1, relevance=0.8, sub_query="herons", start=50),
        block("Egrets eat frogs.", source=2, relevance=0.05, sub_query="egrets"),
        block("Cattle graze.", source=3, relevance=0.01, sub_query="herons"),
        block("Reeds grow.", source=4, relevance=0.01, sub_query="herons"),
    ]

    chosen = choose_blocks(blocks, sub_queries=("herons", "egrets"), pages=[3], limit=4)

    assert [each.text for each in chosen] == [
        "Herons eat fish.",
        "Herons wade.",
        "Egrets eat frogs.",
        "Cattle graze.",
    ]


def test_a_heading_alone_is_not_shown_beside_what_says_something() -> None:
    heading, text = block("## Herons"), block("## Herons\n\nThey eat fish.")

    shown = choose_blocks([heading, text], sub_queries=["herons"], pages=[], limit=5)

    assert shown == [text]
    assert choose_blocks([heading], sub_queries=["herons"], pages=[], limit=5) == [heading]


def test_code_comes_first_when_it_is_asked_for() -> None:
    blocks = [
        block("Set the lifetime.", relevance=0.9),
        block("```\ncache.lifetime = 60\n```", relevance=0.6, start=50),
    ]
    analysis = analyse_query("cache lifetime", constraints=["must include code examples"])

    assert weigh_blocks(blocks, analysis)[0].text.startswith("```")


def test_the_definition_of_what_is_asked_comes_before_what_mentions_it() -> None:
    blocks = [
        block("The reflog, the reflog: walk the reflog.", relevance=0.8, sub_query="reflog"),
        block("**reflog**: What a ref was.", relevance=0.2, start=50, sub_query="reflog"),
        block("**reflog**: In passing.", relevance=0.01, start=90, sub_query="reflog"),
    ]

    weighed = weigh_blocks(blocks, analyse_query("reflog"))

    assert [each.start for each in weighed] == [50, 0, 90]


def test_one_block_may_define_both_sides_of_a_comparison() -> None:
    soft, hard = "reset --soft", "reset --hard"
    blocks = [
        block("Examples of reset --hard.", relevance=0.8, sub_query=hard),
        block("**--soft**: Keeps.\n\n**--hard**: Drops.", relevance=0.4, start=50, sub_query=soft),
    ]

    weighed = weigh_blocks(blocks, analyse_query("reset --soft versus reset --hard"))

    assert weighed[0].text.startswith("**--soft**")


def test_what_is_known_already_comes_last() -> None:
    blocks = [
        block("Herons eat fish.", relevance=0.9),
        block("Herons nest in tall pines.", relevance=0.8, start=50),
    ]
    analysis = analyse_query("herons", known_context="Herons eat fish.")

    assert weigh_blocks(blocks, analysis)[0].text == "Herons nest in tall pines."


def test_a_block_of_the_whole_question_goes_to_the_side_it_is_about() -> None:
    query = "What is the difference between herons and egrets?"
    whole = block("Egrets are white.", sub_query=query, heading_path=())

    (weighed,) = weigh_blocks([whole], analyse_query(query))

    assert weighed.sub_query == "egrets"


def test_weaker_blocks_are_cut_to_what_stands_around_their_quotes() -> None:
    filler = "Reeds grow along the river in every direction. " * 60
    blocks = [
        block(f"{filler}Herons eat fish. {filler}", source=source, start=7)
        for source in range(1, 6)
    ]
    quotes = pick_quotes("What do herons eat?", blocks, limit=5)

    shortened = shorten_blocks(blocks, quotes)

    tokens = [each.tokens for each in shortened]
    assert tokens == sorted(tokens, reverse=True)
    assert tokens[-1] < 130
    assert all("Herons eat fish." in each.text for each in shortened)


@given(
    st.lists(
        st.sampled_from(["Herons eat. ", "Fish swim. ", "\n\n", "- x\n", "鳥。"]), max_size=400
    ),
    st.integers(0, 9),
)
def test_a_shortened_block_is_a_slice_that_holds_its_quotes(pieces: list[str], start: int) -> None:
    text = "".join(pieces) + "The end."
    page = "x" * start + text
    blocks = [block(text, source=source, start=start) for source in (1, 2, 3, 4)]
    quotes = pick_quotes("herons eat", blocks, limit=4, per_block=(3, 2))

    for each in shorten_blocks(blocks, quotes):
        own = [quote for quote in quotes if quote.source_id == each.source_id]
        assert page[each.start : each.end] == each.text
        assert all(each.start <= quote.start and quote.end <= each.end for quote in own)
