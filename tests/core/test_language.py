"""Telling languages apart."""

import pytest

from citewell.core.language import cjk_share, detect_language, has_cjk


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The heron stands in the shallow water and waits for fish to come by.", "en"),
        ("サギは浅い水に立ち、魚が来るのを待ちます。", "ja"),
        ("苍鹭站在浅水中等待鱼儿的到来。", "zh"),
        ("왜가리는 얕은 물에 서서 물고기를 기다립니다.", "ko"),
        (
            "Der Reiher steht im flachen Wasser und wartet dort lange auf Fische, die kommen",
            "other",
        ),
        (
            "サギは鳥です。The heron is a bird that stands in shallow water and waits for fish.",
            "mixed",
        ),
        (
            "私たちは東京で水鳥の数を数えるソフトウェアを作っています。毎年多くの人が使います。"
            "We build software that counts water birds, and many people use it in the city.",
            "mixed",
        ),
        ("The company is in the field of software for the wild. 業種 情報通信業", "mixed"),
        (
            "`kubectl apply` で Pod と Service を作成し、Deployment の状態を確認してください。",
            "ja",
        ),
    ],
)
def test_language_is_told_by_script_and_common_words(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_code_does_not_count_as_prose() -> None:
    page = (
        "設定方法を説明します。\n\n```python\n" + "value = compute(the, of, and_)\n" * 50 + "```\n"
    )

    assert detect_language(page) == "ja"


def test_the_share_of_cjk_letters_is_between_none_and_all() -> None:
    assert cjk_share("heron") == 0.0
    assert cjk_share("鷺") == 1.0
    assert has_cjk("heron 鷺")
    assert not has_cjk("heron")
