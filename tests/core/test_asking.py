"""What is left of a Japanese question without the words that only ask."""

from __future__ import annotations

import pytest

from citewell.core.asking import without_asking


@pytest.mark.parametrize(
    ("question", "left"),
    [
        pytest.param("Podとは何ですか？", "Pod", id="what is"),
        pytest.param("Podとは", "Pod", id="what"),
        pytest.param("鉄道が開通したのは何年か", "鉄道が開通した", id="which year"),
        pytest.param("永楽帝の孫は誰でしょうか。", "永楽帝の孫", id="who"),
        pytest.param("この湖は何と呼びますか", "この湖", id="what is it called"),
        pytest.param("鍵の更新について教えてください", "鍵の更新", id="tell me about"),
        pytest.param("証明書はどのように更新しますか", "証明書は 更新し", id="how"),
        pytest.param("どんなポートを使いますか", "ポートを使い", id="what kind of"),
    ],
)
def test_what_only_asks_is_left_out(question: str, left: str) -> None:
    assert without_asking(question) == left


@pytest.mark.parametrize("text", ["きのこ", "証明書の更新", "where is it?", "とは"])
def test_what_does_not_ask_or_does_nothing_else_stays_as_it_is(text: str) -> None:
    assert without_asking(text) == text


def test_a_long_text_loses_only_what_stands_at_its_end() -> None:
    assert without_asking("の" * 10_000 + "鍵とは何ですか") == "の" * 10_000 + "鍵"
