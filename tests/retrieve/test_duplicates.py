"""Near-duplicates."""

from __future__ import annotations

from citewell.retrieve.duplicates import SeenTexts

TEXT = "The grey heron waits in shallow water for fish, for frogs and for small eels."


def seen(*texts: str) -> SeenTexts:
    shown = SeenTexts()
    for text in texts:
        shown.add(text)
    return shown


def test_the_same_words_in_other_case_and_spacing_are_held() -> None:
    assert seen(TEXT).holds(TEXT.upper().replace(" ", "\n"))


def test_a_part_of_a_longer_text_is_held() -> None:
    assert seen(f"First. {TEXT} Last.").holds(TEXT)


def test_a_longer_text_around_a_known_one_is_new() -> None:
    longer = TEXT + " It breeds in colonies high above the river, where sticks are woven for weeks."

    assert not seen(TEXT).holds(longer)


def test_the_same_fact_in_other_words_is_new() -> None:
    assert not seen(TEXT).holds("Herons stand in the shallows and catch frogs, eels and fish.")


def test_japanese_is_compared_by_its_letters() -> None:
    text = "アオサギは浅い水の中でじっと魚を待ち、近づいたところを素早く捕らえる。"

    assert seen(text).holds(text.replace("。", "！"))
    assert not seen(text).holds("フクロウは夜の森でネズミを狩り、昼は木の洞で休んでいる。")


def test_nothing_is_held_at_first() -> None:
    assert not SeenTexts().holds(TEXT)
