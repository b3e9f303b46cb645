"""Tables of PDFs as LaTeX and browsers set them, and what only looks like one."""

from __future__ import annotations

import pytest
from tests.ingest.fetched import extracted
from tests.ingest.paper import HABITS, JOURNEYS, Paper

_LEFTS = (60.0, 160.0, 260.0)


def row(
    paper: Paper,
    *cells: str,
    lefts: tuple[float, ...] = _LEFTS,
    font: str = "Times-Roman",
    gap: float = 0.0,
) -> None:
    for left, cell in zip(lefts, cells, strict=True):
        if cell:
            paper.line(cell, left=left, font=font)
            paper.height += 12.5
    paper.height -= 12.5 + gap


def test_a_cell_of_several_lines_is_one_cell() -> None:
    paper = Paper()
    paper.prose(HABITS)
    row(paper, "Bird", "Length", "Food")
    row(paper, "Heron", "98 cm", "fish, frogs and am-")
    row(paper, "", "", "phibians of all kinds")
    row(paper, "Egret", "60 cm", "insects")
    paper.height -= 12
    paper.prose(JOURNEYS)

    assert (
        "| Bird | Length | Food |\n| --- | --- | --- |\n"
        "| Heron | 98 cm | fish, frogs and amphibians of all kinds |\n"
        f"| Egret | 60 cm | insects |\n\n{JOURNEYS}\n"
    ) in extracted(paper.bytes(), "pdf").text


def test_wide_gaps_divide_rows_whose_cells_all_have_several_lines() -> None:
    paper = Paper()
    paper.prose(HABITS)
    row(paper, "Bird", "Length", "Food", gap=8)
    row(paper, "Great", "98 cm", "fish and")
    row(paper, "", "", "frogs and")
    row(paper, "heron", "or less", "mice", gap=8)
    row(paper, "Egret", "60 cm", "insects", gap=8)

    assert (
        "| Great heron | 98 cm or less | fish and frogs and mice |\n| Egret | 60 cm | insects |\n"
    ) in extracted(paper.bytes(), "pdf").text


def test_numbers_that_stand_flush_right_are_in_the_column_of_their_title() -> None:
    paper = Paper()
    paper.prose(HABITS)
    for name, number, meaning in (("limit", "4096", "fish"), ("timeout", "30", "seconds")):
        if name == "limit":
            row(paper, "Option", "Default", "Meaning")
        paper.canvas.setFont("Times-Roman", 10)
        paper.canvas.drawRightString(
            160 + paper.canvas.stringWidth("Default"), paper.height, number
        )
        row(paper, name, "", meaning)

    assert (
        "| Option | Default | Meaning |\n| --- | --- | --- |\n| limit | 4096 | fish |\n"
        "| timeout | 30 | seconds |\n"
    ) in extracted(paper.bytes(), "pdf").text


def test_bold_titles_that_stand_closer_than_cells_head_the_columns() -> None:
    paper = Paper()
    paper.prose(HABITS)
    lefts = (60.0, 96.0, 133.0)
    row(paper, "Setting", "Default", "Meaning", lefts=lefts, font="Times-Bold")
    row(paper, "limit", "10", "Fish in the cache", lefts=lefts)
    row(paper, "time", "3", "Hours in the pond", lefts=lefts)

    assert (
        "| Setting | Default | Meaning |\n| --- | --- | --- |\n| limit | 10 | Fish in the cache |\n"
        "| time | 3 | Hours in the pond |\n"
    ) in extracted(paper.bytes(), "pdf").text


def test_items_with_a_wide_gap_after_their_mark_are_no_rows() -> None:
    paper = Paper()
    paper.prose(HABITS)
    for words in ("Herons wade in the water, where", "", "Egrets follow the cattle"):
        if words:
            row(paper, "1.", words, lefts=(80, 100))
        else:
            row(paper, "", "they wait for fish", lefts=(80, 100))
    paper.prose(JOURNEYS)

    assert (
        "1. Herons wade in the water, where they wait for fish\n\n"
        f"1. Egrets follow the cattle\n\n{JOURNEYS}\n"
    ) in extracted(paper.bytes(), "pdf").text


def test_prose_with_wide_spaces_is_no_table() -> None:
    paper = Paper()
    lefts = (60.0, 250.0)
    row(paper, "The help of the system is in chapter 3.", "In it there are commands", lefts=lefts)
    row(
        paper,
        "that lead to sections, and further down",
        "there is a way to choose",
        lefts=(60, 262),
    )
    row(paper, "how they are shown by the program that", "reads them to the user.", lefts=lefts)

    assert "|" not in extracted(paper.bytes(), "pdf").text


@pytest.mark.parametrize("is_grid", [True, False])
def test_drawn_lines_part_the_cells_of_a_tight_table(*, is_grid: bool) -> None:
    paper = Paper()
    paper.prose(HABITS)
    lefts = (60.0, 114.0, 148.0)
    right, top = 230.0, paper.height + 10
    row(paper, "", "Size in", "", lefts=lefts)
    row(paper, "Bird", "cm", "Food", lefts=lefts)
    rules = [top, paper.height + 10]
    paper.height -= 5
    for cells in (("Grey heron", "98", "fish, frogs and"), ("Little egret", "60", "insects")):
        row(paper, *cells, lefts=lefts)
        if cells[1] == "98":
            row(paper, "", "", "voles", lefts=lefts)
        rules += [paper.height + 8]
        paper.height -= 5
    drawn = rules if is_grid else [rules[0], rules[1], rules[-1]]
    for height in drawn:
        paper.canvas.line(58, height, right, height)
    for left in (58.0, 112.0, 146.0, right) if is_grid else ():
        paper.canvas.line(left, rules[-1], left, rules[0])
    paper.height -= 12
    paper.prose(JOURNEYS)

    assert (
        "| Bird | Size in cm | Food |\n| --- | --- | --- |\n"
        "| Grey heron | 98 | fish, frogs and voles |\n"
        "| Little egret | 60 | insects |\n"
    ) in extracted(paper.bytes(), "pdf").text
