"""PDFs: headings, reading order, tables and code, made with a library that writes them."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Callable
from io import BytesIO

import pytest
from PIL import Image, ImageDraw
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from tests.ingest.fetched import extracted

from citewell.core.errors import EmptyPage

WIDTH, HEIGHT = A4
HABITS = (
    "Grey herons wade slowly in shallow water and wait for fish to come within reach of their "
    "bills. They nest in colonies in tall trees close to lakes and rivers, often for many years."
)
JOURNEYS = (
    "In winter many of them move to the coast, where the water stays open. Young birds wander "
    "further than old ones and have been seen hundreds of miles from where they hatched."
)


class Paper:
    """A PDF that is written line by line."""

    def __init__(self) -> None:
        self._bytes = BytesIO()
        self.canvas = Canvas(self._bytes, pagesize=A4, pageCompression=0)
        self.height = HEIGHT - 70

    def line(
        self, text: str, *, left: float = 60, size: float = 10, font: str = "Times-Roman"
    ) -> None:
        self.canvas.setFont(font, size)
        self.canvas.drawString(left, self.height, text)
        self.height -= 1.25 * size

    def prose(self, text: str, *, left: float = 60, width: int = 90) -> None:
        words: list[str] = []
        for word in text.split():
            if len(" ".join([*words, word])) > width:
                self.line(" ".join(words), left=left)
                words = []
            words.append(word)
        self.line(" ".join(words), left=left)
        self.height -= 8

    def heading(self, text: str, size: float = 16, *, level: int | None = None) -> None:
        self.height -= size
        if level is not None:
            self.canvas.bookmarkPage(text)
            self.canvas.addOutlineEntry(text, text, level, closed=False)
        self.line(text, size=size, font="Times-Bold")
        self.height -= 6

    def next_page(self) -> None:
        self.canvas.showPage()
        self.height = HEIGHT - 70

    def bytes(self) -> bytes:
        self.canvas.save()
        return self._bytes.getvalue()


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


def write_at(page: Canvas, text: str) -> None:
    page.setFont("Times-Roman", 12)
    page.drawString(60, 400, text)


def in_mode(page: Canvas, mode: int) -> None:
    text = page.beginText(60, 400)
    text.setTextRenderMode(mode)
    text.setFont("Times-Roman", 12)
    text.textOut("hidden words")
    page.drawText(text)


def in_colour(page: Canvas, shade: float, *, alpha: float = 1.0) -> None:
    page.setFillGray(shade, alpha=alpha)
    write_at(page, "hidden words")


def beyond_a_clip(page: Canvas) -> None:
    path = page.beginPath()
    path.rect(0, 0, 5, 5)
    page.clipPath(path, stroke=0)
    write_at(page, "hidden words")


def scaled(page: Canvas, across: float, up: float) -> None:
    page.translate(60, 400)
    page.scale(across, up)
    page.setFont("Times-Roman", 12)
    page.drawString(0, 0, "hidden words")


def covered(page: Canvas) -> None:
    write_at(page, "hidden words")
    page.setFillGray(0.8)
    page.rect(50, 390, 200, 30, stroke=0, fill=1)


def on_its_own_colour(page: Canvas) -> None:
    page.rect(50, 390, 200, 30, stroke=0, fill=1)
    write_at(page, "hidden words")


def inside_a_form(page: Canvas) -> None:
    page.beginForm("stamp")
    in_colour(page, 1.0)
    page.endForm()
    page.doForm("stamp")


HIDDEN: dict[str, Callable[[Canvas], object]] = {
    "invisible": lambda page: in_mode(page, 3),
    "clipping only": lambda page: in_mode(page, 7),
    "white on white": lambda page: in_colour(page, 1.0),
    "nearly white": lambda page: in_colour(page, 0.98),
    "transparent": lambda page: in_colour(page, 0.0, alpha=0.0),
    "clipped": beyond_a_clip,
    "tiny": lambda page: scaled(page, 0.04, 0.04),
    "squeezed": lambda page: scaled(page, 0.01, 1),
    "off the page": lambda page: page.drawString(9_000, 400, "hidden words"),
    "covered": covered,
    "black on black": on_its_own_colour,
    "white in a form": inside_a_form,
}


@pytest.mark.parametrize("way", HIDDEN)
def test_text_that_no_reader_sees_is_left_out(way: str) -> None:
    paper = Paper()
    paper.prose(HABITS)
    paper.canvas.saveState()
    HIDDEN[way](paper.canvas)
    paper.canvas.restoreState()

    assert extracted(paper.bytes(), "pdf").text == f"## Page 1\n\n{HABITS}\n"


def test_text_on_a_layer_that_is_off_is_left_out() -> None:
    source = pdf_of(
        "BT /F 12 Tf 72 700 Td (Seen.) Tj ET /OC /L BDC BT /F 12 Tf 72 650 Td (Hidden.) Tj ET EMC"
    )

    assert extracted(source, "pdf").text == "## Page 1\n\nSeen.\n"


def test_the_words_that_are_drawn_are_read_and_not_their_replacement() -> None:
    source = pdf_of(
        "/Span <</ActualText (Hidden words instead.)>> BDC BT /F 12 Tf 72 700 Td (Seen.) Tj ET EMC"
    )

    assert extracted(source, "pdf").text == "## Page 1\n\nSeen.\n"


def test_a_replacement_of_a_few_letters_is_kept_as_for_ligatures() -> None:
    source = pdf_of("BT /F 12 Tf 72 700 Td /Span <</ActualText (ffi)>> BDC (x) Tj EMC (ce) Tj ET")

    assert extracted(source, "pdf").text == "## Page 1\n\nffice\n"


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_text_of_every_shade_is_kept_on_pages_turned_or_cut(angle: int) -> None:
    source = pdf_of(
        "0.1 0.2 0.5 rg 0 0 700 800 re f 1 1 1 rg BT /F 5 Tf 72 700 Td (White on blue.) Tj ET "
        "0.6 g BT /F 5 Tf 72 300 Td (Grey.) Tj ET",
        f"/Rotate {angle} /CropBox [50 250 400 750]",
    )

    assert extracted(source, "pdf").text == "## Page 1\n\nWhite on blue.\n\nGrey.\n"


def test_the_text_layer_of_a_scan_is_kept_where_the_image_shows_words() -> None:
    picture = Image.new("RGB", (600, 200), "white")
    ImageDraw.Draw(picture).text((20, 40), "Scanned heron", fill="black", font_size=48)
    paper = Paper()
    paper.canvas.drawInlineImage(picture, 60, 400, 300, 100)
    for height, words in ((460, "Scanned heron"), (410, "Not in the picture")):
        text = paper.canvas.beginText(70, height)
        text.setTextRenderMode(3)
        text.setFont("Times-Roman", 24)
        text.textOut(words)
        paper.canvas.drawText(text)

    assert extracted(paper.bytes(), "pdf").text == "## Page 1\n\nScanned heron\n"


def test_letters_of_a_font_that_is_not_embedded_are_kept_unless_painted_white() -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    paper = Paper()
    paper.line("サギは魚を待つ。", font="HeiseiMin-W3")
    paper.canvas.setFillGray(1.0)
    paper.line("見えない言葉。", font="HeiseiMin-W3")

    assert extracted(paper.bytes(), "pdf").text == "## Page 1\n\nサギは魚を待つ。\n"


@pytest.mark.parametrize("size", ["1000000000 1", "1 1000000000", "1000000 1000000", "9 0.001"])
def test_a_page_of_absurd_size_is_read_within_bounds(size: str) -> None:
    source = pdf_of("BT /F 12 Tf 1 0 Td (Seen.) Tj ET").replace(
        b"0 0 612 792", f"0 0 {size}".encode()
    )
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with contextlib.suppress(EmptyPage):
        extracted(source, "pdf")

    # In kilobytes on Linux.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used < 300_000


def pdf_of(content: str, page_entries: str = "") -> bytes:
    """Return a PDF with one page and the layer L, which is off."""
    objects = (
        "<</Type/Catalog/Pages 2 0 R/OCProperties<</OCGs[5 0 R]/D<</OFF[5 0 R]>>>>>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<<"
        "/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>/Properties<</L 5 0 R>>>>"
        f"{page_entries}>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        "<</Type/OCG/Name(L)>>",
    )
    source, places = "%PDF-1.7\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(source))
        source += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    return (
        f"{source}xref\n0 6\n0000000000 65535 f \n{table}"
        f"trailer\n<</Size 6/Root 1 0 R>>\nstartxref\n{len(source)}\n%%EOF"
    ).encode()
