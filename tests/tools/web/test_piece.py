"""Pieces of a page: nothing is lost between them, and each can be read by itself."""

from __future__ import annotations

from citewell.tools.web.piece import as_whole_blocks, cut_piece

HEADER = "| Option | Meaning |\n|---|---|\n"
ROWS = [f"| option-{n} | Sets the delay of channel {n}. |\n" for n in range(40)]


def pieces(text: str, *, max_tokens: int) -> list[str]:
    """The pieces as a reader sees them, each after the one before."""
    shown: list[str] = []
    start = 0
    while start < len(text):
        piece = cut_piece(text, start, max_tokens=max_tokens)
        shown.append(as_whole_blocks(text, start, piece))
        start += len(piece)
    return shown


def test_every_piece_of_a_table_has_its_header() -> None:
    shown = pieces("# Options\n\n" + HEADER + "".join(ROWS), max_tokens=150)

    assert len(shown) > 2
    assert shown[0].startswith("# Options\n\n" + HEADER)
    assert all(piece.startswith(HEADER + "| option-") for piece in shown[1:])
    assert all(sum(row.strip() in piece for piece in shown) == 1 for row in ROWS)


def test_a_cell_that_goes_on_is_still_under_its_header_and_beside_its_row() -> None:
    terms = " ".join(f"Clause {n} covers part {n}." for n in range(60))
    header = "| Product | Terms |\n|---|---|\n"

    second = pieces(f"{header}| Kettle | {terms} |\n", max_tokens=120)[1]

    assert second.startswith(f"{header}| Kettle | … Clause")


def test_a_heading_is_not_a_piece_alone_where_the_text_below_is_long() -> None:
    sentences = [f"The pump of basin {n} starts after {n} seconds." for n in range(60)]

    first = pieces("# Pumps\n\n" + " ".join(sentences), max_tokens=120)[0]

    assert first.startswith("# Pumps\n\n" + sentences[0])
    assert first.rstrip().endswith("seconds.")


def test_a_long_paragraph_after_much_text_begins_the_next_piece() -> None:
    opening = "The first paragraph takes more than half of the room that there is for one piece."
    text = f"{opening}\n\n{' '.join(['Then comes more.'] * 40)}\n"

    assert pieces(text, max_tokens=30)[:2] == [opening, "Then comes more. " * 7]


def test_a_piece_that_cuts_code_in_a_block_quote_is_fenced_in_the_quote() -> None:
    code = "".join(f"> print({n})\n" for n in range(100))

    shown = pieces(f"> Run:\n>\n> ```\n{code}> ```\n", max_tokens=150)

    assert len(shown) > 2
    assert all(piece.startswith("> ```\n> print") for piece in shown[1:])
    assert all(piece.endswith(")\n> ```") for piece in shown)
