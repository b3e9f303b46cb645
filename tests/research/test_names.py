"""Names in a question that nothing found holds."""

import pytest

from citewell.core.words import words
from citewell.research.names import find_names, missing_names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        (
            "How can I send urllib.request traffic through a SOCKS5 proxy?",
            ["urllib.request", "SOCKS5"],
        ),
        ("Does it support zstd as a content encoding?", ["zstd"]),
        ("How do I turn a model into a Pydantic schema?", ["Pydantic"]),
        ("Why is the value None after I assign order.customer = 7?", ["None"]),
        ("How do I print MyType or my_list?", []),
        ("Why is the sky blue?", []),
        ("SSD の TRIM を実行する設定は？", ["SSD", "TRIM"]),
    ],
)
def test_code_acronyms_and_proper_names_are_names(question: str, names: list[str]) -> None:
    assert find_names(question) == names


def test_a_name_is_missing_where_no_chunk_or_only_a_far_one_holds_it() -> None:
    held = [frozenset(words("Send requests through a proxy."))] * 12
    far = frozenset(words("SOCKS5 is named here."))
    question = "How do I use a SOCKS5 proxy?"

    assert missing_names(question, held) == (["SOCKS5"], [])
    assert missing_names(question, [*held, far]) == ([], ["SOCKS5"])
    assert missing_names(question, [far, *held]) == ([], [])


def test_a_slip_in_a_name_is_not_missing() -> None:
    held = [frozenset(words("Mail packages.debian.org about it."))]

    assert missing_names("Who reads pakcages.debian.org?", held) == ([], [])
