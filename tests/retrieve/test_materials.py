from __future__ import annotations

import numpy as np

from citewell.retrieve.materials import MAX_PIECE_CHARACTERS, rank_pieces, split_material


def test_paragraphs_become_pieces_with_clean_white_space() -> None:
    text = "  The  warranty lasts\ntwo years. \n\n \n\n\tReturns are  free.\n"

    assert split_material(text) == ["The warranty lasts two years.", "Returns are free."]


def test_lines_of_any_system_end_paragraphs_and_none_comes_twice() -> None:
    text = (
        "Page 1\r\n\r\nThe warranty lasts\r\ntwo years.\r\n \r\nPage 1\r\n\r\n\r\nReturns are free."
    )

    assert split_material(text) == ["Page 1", "The warranty lasts two years.", "Returns are free."]


def test_a_long_paragraph_is_cut_after_sentences() -> None:
    sentences = [f"Sentence {at} says something of little weight." for at in range(200)]

    pieces = split_material(" ".join(sentences))

    assert len(pieces) > 1
    assert all(len(piece) < MAX_PIECE_CHARACTERS for piece in pieces)
    assert all(piece.endswith("weight.") for piece in pieces)
    assert " ".join(pieces) == " ".join(sentences)


def test_text_without_sentences_or_spaces_is_still_cut() -> None:
    text = "".join(chr(0x4E00 + number) for number in range(4_000))

    pieces = split_material(text)

    assert "".join(pieces) == text
    assert all(len(piece) < MAX_PIECE_CHARACTERS for piece in pieces)


def test_parts_of_a_long_table_have_its_header_and_parts_of_code_its_fence() -> None:
    header = "| Option | Delay |\n|---|---|\n"
    rows = "".join(f"| option-{n} | {n} ms |\n" for n in range(200))
    code = "".join(f"step_{n} = configure(channel={n})\n" for n in range(100))

    table = split_material(header + rows)
    program = split_material(f"```python\n{code}```")

    assert len(table) > 2
    assert all(piece.startswith(f"{header}| option-") for piece in table)
    assert len(program) > 2
    assert all(piece.startswith("```python\nstep_") for piece in program)
    assert all(piece.endswith(")\n```") for piece in program)
    assert all(len(piece) <= MAX_PIECE_CHARACTERS for piece in table + program)


def test_a_row_that_is_too_long_for_a_piece_is_cut() -> None:
    pieces = split_material("| " + "word " * 500 + "|")

    assert len(pieces) == 2


def test_japanese_sentences_are_kept_whole() -> None:
    pieces = split_material("保証は二年です。" * 400)

    assert len(pieces) > 1
    assert all(piece.endswith("。") for piece in pieces)


def test_the_piece_with_the_rarer_words_comes_first() -> None:
    pieces = ["The price of the heron.", "The price of the egret.", "Owls sleep."]

    assert rank_pieces("price of egrets", pieces, vectors={}, query_vector=None) == [1, 0]


def test_vectors_bring_in_what_words_do_not_find() -> None:
    pieces = ["Guarantee period: 24 months.", "Shipping is free."]
    vectors = {0: np.array([1.0, 0.0], np.float32), 1: np.array([0.0, 1.0], np.float32)}

    ranked = rank_pieces(
        "How long is the warranty?",
        pieces,
        vectors=vectors,
        query_vector=np.array([1.0, 0.0], np.float32),
    )

    assert ranked[0] == 0


def test_a_heading_goes_with_the_paragraph_below_it() -> None:
    text = "# Shop\n\n## Returns\n\nReturns are free.\n\nThey take a week.\n\n## End"

    assert split_material(text) == [
        "# Shop",
        "## Returns\n\nReturns are free.",
        "They take a week.",
        "## End",
    ]


def test_a_few_words_must_be_nearer_to_the_query_than_a_paragraph() -> None:
    query = np.array([1.0, 0.0], np.float32)
    near = np.array([0.65, 0.76], np.float32)
    pieces = ["See also these methods:", "The method casts a spell on a piece. " * 4]

    ranked = rank_pieces(
        "castling",
        pieces,
        vectors={0: near, 1: near},
        query_vector=query,
        model="granite-30m-en-int8",
    )

    assert ranked == [1]


def test_what_announces_code_goes_with_it_under_its_heading() -> None:
    text = "## Limits\n\nSet it so:\n\n```\nlimit = 3\n```\n\nBirds: they fly."

    assert split_material(text) == [
        "## Limits\n\nSet it so:\n\n```\nlimit = 3\n```",
        "Birds: they fly.",
    ]
