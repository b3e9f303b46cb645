"""Weighing chunks by the caller's wishes, and choosing blocks."""

from tests.answer.results import block
from tests.research.test_support import ranked

from citewell.research.analyse import analyse_query
from citewell.research.weigh import choose_blocks, weigh_by_wishes


def test_each_side_keeps_its_best_block() -> None:
    blocks = [
        block("Herons eat fish.", source=1, relevance=0.9, sub_query="herons"),
        block("Herons wade.", source=1, relevance=0.8, sub_query="herons", start=50),
        block("Egrets eat frogs.", source=2, relevance=0.05, sub_query="egrets"),
        block("Reeds grow.", source=4, relevance=0.01, sub_query="herons"),
    ]

    chosen = choose_blocks(blocks, parts=("herons", "egrets"), limit=4)

    assert [each.text for each in chosen] == [
        "Herons eat fish.",
        "Herons wade.",
        "Egrets eat frogs.",
    ]


def test_a_heading_alone_is_not_shown_beside_what_says_something() -> None:
    heading = block("## Herons", sub_query="herons")
    text = block("## Herons\n\nThey eat fish.", sub_query="herons")

    assert choose_blocks([heading, text], parts=["herons"], limit=5) == [text]
    assert choose_blocks([heading], parts=["herons"], limit=5) == [heading]


def test_a_block_of_the_whole_question_goes_to_the_side_it_is_about() -> None:
    query = "What is the difference between herons and egrets?"
    whole = block("Egrets are white.", sub_query=query, heading_path=())

    (chosen,) = choose_blocks([whole], parts=("herons", "egrets"), limit=5)

    assert chosen.sub_query == "egrets"


def test_code_comes_first_when_it_is_asked_for() -> None:
    weigh = weigh_by_wishes(
        analyse_query("cache lifetime", constraints=["must include code examples"])
    )
    assert weigh is not None

    prose, code = weigh(ranked("Set the lifetime.", "```\ncache.lifetime = 60\n```"))

    assert prose < code


def test_what_is_known_already_counts_for_less() -> None:
    weigh = weigh_by_wishes(analyse_query("herons", known_context="Herons eat fish."))
    assert weigh is not None

    known, new = weigh(ranked("Herons eat fish.", "Herons nest in tall pines."))

    assert known < new


def test_without_wishes_nothing_is_weighed() -> None:
    assert weigh_by_wishes(analyse_query("herons")) is None
