"""PDFs: headings, reading order, tables and code, made with a library that writes them."""

from __future__ import annotations

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from tests.ingest.fetched import extracted
from tests.ingest.paper import HABITS, HEIGHT, JOURNEYS, WIDTH, Paper


def test_headings_come_from_the_sizes_of_the_type() -> None:
    paper = Paper()
    paper.heading("The Heron Handbook", 24)
    paper.heading("Habits", 16)
    paper.prose(HABITS)
    paper.next_page()
    paper.heading("Journeys", 16)
    paper.prose(JOURNEYS)

    page = extracted(paper.bytes(), "pdf")

    assert page.text == (
        f"# The Heron Handbook\n\n## Habits\n\n{HABITS}\n\n## Journeys\n\n{JOURNEYS}\n"
    )
    assert [(s.level, s.heading, s.anchor) for s in page.sections] == [
        (1, "The Heron Handbook", "page=1"),
        (2, "Habits", "page=1"),
        (2, "Journeys", "page=2"),
    ]
    assert page.title == "The Heron Handbook"


def test_a_section_with_a_number_right_below_the_title_is_a_heading_of_its_own() -> None:
    paper = Paper()
    paper.line("Herons of the alder wood", size=18, font="Times-Bold")
    paper.height -= 6
    paper.line("1. Habits of herons and of", size=18, font="Times-Bold")
    paper.line("2 kinds of egrets", size=18, font="Times-Bold")
    paper.prose(HABITS)

    headings = [section.heading for section in extracted(paper.bytes(), "pdf").sections]

    assert headings == ["Herons of the alder wood", "1. Habits of herons and of 2 kinds of egrets"]


def test_headings_in_the_size_of_the_text_come_from_the_outline() -> None:
    paper = Paper()
    paper.heading("1 Habits", 10, level=0)
    paper.prose(HABITS)
    paper.heading("1.1 Journeys", 10, level=1)
    paper.prose(JOURNEYS)

    page = extracted(paper.bytes(), "pdf")

    assert page.text == f"# 1 Habits\n\n{HABITS}\n\n## 1.1 Journeys\n\n{JOURNEYS}\n"


def test_two_columns_are_read_one_after_the_other() -> None:
    paper = Paper()
    paper.line(
        "A line over both of the columns, as wide as the whole page is, and a little wider still.",
        size=12,
    )
    paper.height -= 10
    top = paper.height
    for text in (HABITS, HABITS.replace("Grey", "Purple"), HABITS.replace("Grey", "Night")):
        paper.prose(text, left=60, width=48)
    paper.height = top - 4
    for text in (
        JOURNEYS,
        JOURNEYS.replace("winter", "autumn"),
        JOURNEYS.replace("winter", "spring"),
    ):
        paper.prose(text, left=320, width=48)

    text = extracted(paper.bytes(), "pdf").text

    places = [
        text.index(part)
        for part in (
            "A line over",
            "Grey",
            "Purple",
            "Night",
            "In winter",
            "In autumn",
            "In spring",
        )
    ]
    assert places == sorted(places)
    assert HABITS in text
    assert JOURNEYS in text


def test_a_column_may_hold_more_lines_of_code_than_of_prose() -> None:
    paper = Paper()
    top = paper.height
    for text in (HABITS, HABITS.replace("Grey", "Purple"), HABITS.replace("Grey", "Night")):
        paper.prose(text, left=60, width=48)
    paper.height = top
    paper.prose(JOURNEYS, left=320, width=48)
    for number in range(16):
        paper.line(f"wade({number})", left=320, font="Courier")

    text = extracted(paper.bytes(), "pdf").text

    assert HABITS in text
    assert JOURNEYS in text


def test_what_stands_below_columns_of_one_length_is_read_after_both() -> None:
    paper = Paper()
    top = paper.height
    for text in (HABITS, HABITS.replace("Grey", "Purple")):
        paper.prose(text, left=60, width=48)
    end, paper.height = paper.height, top
    for text in (HABITS.replace("Grey", "Night"), HABITS.replace("Grey", "Reef")):
        paper.prose(text, left=320, width=48)
    paper.height = min(end, paper.height)
    paper.heading("Birds")
    for font, lefts, row in (
        ("Times-Bold", (80, 175), ("Name", "Food")),
        ("Times-Roman", (60, 160), ("Little egret", "fish and frogs")),
    ):
        for left, cell in zip(lefts, row, strict=True):
            paper.line(cell, left=left, font=font)
            paper.height += 12.5
        paper.height -= 14

    text = extracted(paper.bytes(), "pdf").text

    order = [text.index(word) for word in ("Grey", "Purple", "Night", "Reef", "# Birds")]
    assert order == sorted(order)
    assert "| Name | Food |\n| --- | --- |\n| Little egret | fish and frogs |" in text


def test_the_name_of_a_file_is_no_title() -> None:
    paper = Paper()
    paper.canvas.setTitle("herons-final.docx")
    paper.heading("Herons of the coast")
    paper.prose(HABITS)

    assert extracted(paper.bytes(), "pdf").title == "Herons of the coast"


def test_a_table_keeps_its_rows_and_code_its_indentation() -> None:
    paper = Paper()
    paper.prose(HABITS)
    for row in (
        ("Bird", "Length", "Food"),
        ("Heron", "98 cm", "fish and frogs"),
        ("Egret", "60 cm", "a|b"),
    ):
        for left, cell in zip((60, 160, 260), row, strict=True):
            paper.line(cell, left=left)
            paper.height += 12.5
        paper.height -= 14
    paper.prose(JOURNEYS)
    for code in (
        "def wade(depth):",
        "    if depth > 3:",
        "        return None",
        "    return depth * 2",
    ):
        paper.line(code, font="Courier")

    text = extracted(paper.bytes(), "pdf").text

    assert (
        "| Bird | Length | Food |\n| --- | --- | --- |\n| Heron | 98 cm | fish and frogs |\n"
        "| Egret | 60 cm | a\\|b |\n"
    ) in text
    assert (
        "```\ndef wade(depth):\n    if depth > 3:\n        return None\n    return depth * 2\n```"
    ) in text


def test_what_every_page_repeats_at_its_edges_is_left_out() -> None:
    paper = Paper()
    for number in range(1, 6):
        paper.line("Herons of the world")
        paper.prose(f"Chapter {'abcde'[number - 1]} says: {HABITS}")
        paper.prose(f"Chapter {'abcde'[number - 1]} adds: {JOURNEYS}")
        paper.height = 40
        paper.line(str(number), left=WIDTH / 2)
        paper.next_page()

    text = extracted(paper.bytes(), "pdf").text

    assert "Herons of the world" not in text
    assert "\n3\n" not in text
    assert all(f"Chapter {letter} says" in text for letter in "abcde")


def test_the_name_of_a_chapter_beside_the_number_of_the_page_is_left_out() -> None:
    paper = Paper()
    for number, chapter in enumerate(["Habits", "Journeys", "Nests", "Food"], start=1):
        paper.line(f"Chapter {number}: {chapter} {number + 4}")
        paper.heading(f"{number} {chapter}")
        paper.prose(f"{chapter} in short: {HABITS}")
        paper.prose(f"More of {chapter}: {JOURNEYS}")
        paper.prose(f"A last word on {chapter}, in the year 1850")
        paper.next_page()

    text = extracted(paper.bytes(), "pdf").text

    assert "Chapter" not in text
    assert "# 2 Journeys" in text
    assert text.count("in the year 1850") == 4


def test_underscores_that_are_drawn_as_lines_are_read() -> None:
    paper = Paper()
    paper.line("Call set")
    end = 60 + paper.canvas.stringWidth("Call set", "Times-Roman", 10)
    paper.canvas.rect(end + 0.3, HEIGHT - 70, 4, 0.6, stroke=0, fill=1)
    paper.canvas.drawString(end + 4.6, HEIGHT - 70, "input before anything is read.")
    paper.canvas.line(60, paper.height, 200, paper.height)

    assert (
        extracted(paper.bytes(), "pdf").text
        == "## Page 1\n\nCall set_input before anything is read.\n"
    )


def test_a_line_that_is_set_off_is_not_joined_with_the_text_after_it() -> None:
    paper = Paper()
    paper.line("The name of a bird is defined as follows in the language of this handbook:")
    paper.line("let heron = bird", left=90)
    paper.line("Such a definition may stand anywhere, and it holds for all of the handbook.")

    text = extracted(paper.bytes(), "pdf").text

    assert "\n\nSuch a definition may stand anywhere" in text


def test_a_word_that_was_cut_at_the_end_of_a_line_is_whole() -> None:
    paper = Paper()
    paper.line("The heron waits for hours in shal-")
    paper.line("low water before it strikes at a well-")
    paper.line("Known fish.")

    assert (
        "in shallow water before it strikes at a well- Known fish."
        in extracted(paper.bytes(), "pdf").text
    )


def test_a_page_with_more_text_than_is_read_says_so() -> None:
    paper = Paper()
    for number in range(200):
        paper.line(f"{number}: " + "The heron waits for a fish. " * 14, size=2.5)

    text = extracted(paper.bytes(), "pdf").text

    assert "[cut here: page 1 goes on for" in text


def test_prose_in_a_font_that_calls_itself_fixed_is_no_code() -> None:
    pdfmetrics.registerFont(TTFont("Vera", "Vera.ttf"))
    paper = Paper()
    for start in range(0, len(HABITS), 60):
        paper.line(HABITS[start : start + 60], font="Vera")
    honest = paper.bytes()
    # The first bit says that all letters are equally wide.
    lying = honest.replace(b"/Flags 4", b"/Flags 5")

    assert honest != lying
    assert "```" not in extracted(lying, "pdf").text


def test_code_that_runs_on_in_the_next_column_keeps_its_indentation() -> None:
    paper = Paper()
    top = paper.height
    paper.prose(HABITS, width=40)
    paper.line("for bird in birds:", left=66, font="Courier")
    paper.line("    if bird.wades:", left=66, font="Courier")
    paper.height = top
    paper.line("        count += 1", left=316, font="Courier")
    paper.line("    else:", left=316, font="Courier")
    paper.prose(JOURNEYS, left=310, width=40)

    page = extracted(paper.bytes(), "pdf")

    assert (
        "```\nfor bird in birds:\n    if bird.wades:\n        count += 1\n    else:\n```"
        in page.text
    )


def test_a_line_with_the_number_of_the_page_is_left_out_of_two_pages() -> None:
    paper = Paper()
    for number in (1, 2):
        paper.prose(HABITS)
        paper.prose(JOURNEYS)
        paper.height = 40
        paper.line(f"Journal of Fen Studies, page {number}", size=8)
        if number == 1:
            paper.next_page()

    assert "Journal" not in extracted(paper.bytes(), "pdf").text


def test_signatures_and_bold_numbered_titles_stand_apart_from_the_text() -> None:
    paper = Paper()
    paper.prose(HABITS)
    for number in ("ii", "iii"):
        paper.prose(JOURNEYS)
        paper.height = 40
        paper.line(number)
        paper.next_page()
        paper.height -= 10
        paper.line("2.1 The Names of Birds", font="Times-Bold")
        paper.height -= 10
        paper.line("fen.name(bird)")
        paper.prose(f"Returns the name of a bird. {HABITS}", left=90, width=80)

    text = extracted(paper.bytes(), "pdf").text

    assert "\n\nii" not in text
    assert (
        f"## 2.1 The Names of Birds\n\nfen.name(bird)\n\nReturns the name of a bird. {HABITS}"
        in (text)
    )
