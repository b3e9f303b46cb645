"""A PDF as tests write it, line by line."""

from __future__ import annotations

from io import BytesIO

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

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
