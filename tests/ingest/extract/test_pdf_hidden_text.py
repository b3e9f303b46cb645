"""PDF: what no reader of a page sees is left out, and nothing else."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Callable

import pytest
from PIL import Image, ImageDraw
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas
from tests.ingest.fetched import extracted
from tests.ingest.paper import HABITS, Paper

from citewell.core.errors import EmptyPage


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
