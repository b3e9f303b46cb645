"""Taking a question apart."""

import pytest

from citewell.research.analyse import MAX_SUB_QUERIES, analyse_query


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("What port does the server use?", "factual"),
        ("How do I install the server?", "how_to"),
        ("Compare SQLite and PostgreSQL", "comparison"),
        ("Explain the architecture", "exploratory"),
        ("サーバーの設定方法", "how_to"),
        ("SQLiteとPostgreSQLの違いは？", "comparison"),
        ("概要を教えてください", "exploratory"),
        ("ポート番号はいくつですか", "factual"),
    ],
)
def test_the_intent_is_inferred(query: str, intent: str) -> None:
    assert analyse_query(query).intent == intent


def test_a_given_intent_is_kept() -> None:
    assert analyse_query("How do I install it?", intent="factual").intent == "factual"


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("What is a heron?", ["What is a heron?"]),
        ("What is $? called in other shells?", ["What is $? called in other shells?"]),
        ("Why does http://x/?a=1 fail there?", ["Why does http://x/?a=1 fail there?"]),
        (
            "How do I stop herons?How do I start egrets?",
            ["How do I stop herons?", "How do I start egrets?"],
        ),
        ("What is the difference between herons and egrets?", ["herons", "egrets"]),
        (
            "Compare how scikit-learn and XGBoost handle categorical features",
            ["scikit-learn handle categorical features", "XGBoost handle categorical features"],
        ),
        (
            "SQLite vs PostgreSQL for small sites",
            ["SQLite for small sites", "PostgreSQL for small sites"],
        ),
        ("サギとツルの違いは何ですか", ["サギ", "ツル"]),
        ("サギとツルの違いについて教えてください", ["サギ", "ツル"]),
        (
            "サギとツルの違いは、飛び方では何ですか",
            ["サギは、飛び方では何ですか", "ツルは、飛び方では何ですか"],
        ),
        (
            "What does fetch return? How are errors raised?",
            ["What does fetch return?", "How are errors raised?"],
        ),
        (
            "How do I set the port and where is the log written?",
            ["How do I set the port", "where is the log written?"],
        ),
        (
            "How and why does the cache expire?",
            ["How does the cache expire?", "why does the cache expire?"],
        ),
        (
            "Compare how VACUUM and CLUSTER lock the table",
            ["VACUUM lock the table", "CLUSTER lock the table"],
        ),
        (
            "Which partitioning methods are built in and when is each useful?",
            [
                "Which partitioning methods are built in",
                "when is each useful? (Which partitioning methods are built in)",
            ],
        ),
        (
            "HTTP client: how long until a request is given up, and which code do I see then?",
            [
                "HTTP client: how long until a request is given up",
                "which code do I see then? (HTTP client)",
            ],
        ),
        (
            "What goes into the header for Japanese, and what for Polish?",
            [
                "What goes into the header for Japanese",
                "what for Polish? (What goes into the header for Japanese)",
            ],
        ),
        (
            "What is the difference between herons and egrets, and where do cranes live in winter?",
            [
                "What is the difference between herons and egrets",
                "where do cranes live in winter?",
            ],
        ),
        (
            "I mistype the password, hang up and do it all again: never banned. What is missing?",
            ["I mistype the password, hang up and do it all again: never banned. What is missing?"],
        ),
        (
            "We compare names of Macs with those of our database. They differ. What is wrong?",
            ["We compare names of Macs with those of our database. They differ. What is wrong?"],
        ),
        ("Where are bread and butter kept?", ["Where are bread and butter kept?"]),
        ("料金は？期限は？", ["料金は？", "期限は？"]),
    ],
)
def test_a_question_is_split_into_the_questions_it_is_made_of(query: str, parts: list[str]) -> None:
    assert list(analyse_query(query).sub_queries) == parts


def test_a_question_without_parts_keeps_its_lines() -> None:
    asked = "pool = Pool(4)\npool.map(load, urls)\n\nWhy does the program hang?"

    assert analyse_query(asked).sub_queries == (asked,)


def test_there_are_never_many_sub_queries() -> None:
    query = " ".join(f"What is thing{n}?" for n in range(20))

    assert len(analyse_query(query).sub_queries) == MAX_SUB_QUERIES


def test_constraints_say_what_to_prefer() -> None:
    analysis = analyse_query(
        "the API", constraints=["must include code examples", "focus on performance benchmarks"]
    )

    assert analysis.wants_code
    assert {"perform", "benchmark"} <= analysis.focus_words
    assert "must" not in analysis.focus_words


def test_known_context_becomes_known_words() -> None:
    assert analyse_query("x", known_context="Herons eat fish").known_words == {
        "heron",
        "eat",
        "fish",
    }
    assert analyse_query("x", known_context="  ").known_words == frozenset()
