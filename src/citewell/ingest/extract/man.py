"""Man pages in their source form (roff, with the macros of man or mdoc) by way of HTML.

Only what writes text is understood; requests that compute, define or include are skipped.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.core.errors import EmptyPage
from citewell.ingest.extract.characters import clean_plain_text
from citewell.ingest.extract.html.page import extract_html
from citewell.ingest.extract.man_flow import lines_let_through
from citewell.ingest.extract.man_macros import mdoc_line
from citewell.ingest.extract.man_text import alternating, arguments_of, inline, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from citewell.core.records import ExtractedPage, FetchedPage

_FIRST_CHARACTERS = 8_000
_TITLE = re.compile(r"^\.(?:TH[ \t]+\S|Dd[ \t]|Dt[ \t]+\S)", re.MULTILINE)
_TABLE_BEGINS, _TABLE_ENDS = re.compile(r"[.'][ \t]*TS\b"), re.compile(r"[.'][ \t]*TE\b")
_REQUEST = re.compile(r"[.'][ \t]*([^\s\\]{1,30})?[ \t]*(.*)", re.DOTALL)
# Strings stand for signs and names; longer ones could make a page grow without end.
_MOST_STRINGS, _MOST_STRING_CHARACTERS = 200, 80
_MOST_LEVELS = 20
_FONTS_OF = {"B": "b", "I": "i", "SM": "", "SB": "b"}
_ALTERNATING = frozenset({"BR", "RB", "BI", "IB", "IR", "RI"})
_BULLETS = frozenset({"•", "*", "-", "·", "o", "+"})
_LIST_OF = {"-bullet": "ul", "-dash": "ul", "-hyphen": "ul", "-item": "ul", "-enum": "ol"}


def is_man_source(text: str) -> bool:
    """Return whether a text is a man page as `man` reads it, not as it shows it."""
    start = text[:_FIRST_CHARACTERS].lstrip()
    return start.startswith((".", "'")) and _TITLE.search(start) is not None


def extract_man_page(fetched: FetchedPage) -> ExtractedPage:
    """Return a man page with its headings, fonts, lists, tables and code.

    Raises:
        EmptyPage: it holds no text.
    """
    page = _Page()
    lines = clean_plain_text(fetched.text).split("\n")
    page.read(list(lines_let_through(lines)))
    if not page.title and not any(page.out):
        raise EmptyPage(f"{fetched.final_url} holds no readable text")
    html = f"<main><h1>{page.title}</h1>{''.join(page.out)}</main>"
    read = extract_html(replace(fetched, text=html, kind="html", rendered=True))
    return replace(read, kind="text", screen=b"")


class _Page:
    """HTML that is written request by request."""

    def __init__(self) -> None:
        self.title = ""
        self.out: list[str] = []
        self.name = ""
        self._strings: dict[str, str] = {}
        self._text: list[str] = []
        self._code: list[str] | None = None
        # The list that is open on each level of indentation.
        self._lists: list[str] = [""]
        self._kinds: list[str] = []
        self._tag_follows = False

    def read(self, lines: list[str]) -> None:
        ends = [at for at, line in enumerate(lines) if _TABLE_ENDS.match(line)]
        at = 0
        while at < len(lines):
            line = lines[at]
            at += 1
            if _TABLE_BEGINS.match(line):
                following = bisect_left(ends, at)
                end = ends[following] if following < len(ends) else at
                self._flush()
                self.out.append(_table(lines[at:end], self._strings))
                at = end + 1
            elif line.startswith((".", "'")) and (match := _REQUEST.fullmatch(line)):
                if match[1] is not None:
                    self._request(match[1], match[2])
            elif line.strip() or self._code is not None:
                self._add(inline(line, self._strings))
            else:
                self._flush()
        self._close_all()

    def _request(self, name: str, rest: str) -> None:
        words = arguments_of(rest)
        if name in ("SH", "Sh", "SS", "Ss"):
            self._heading("h2" if name[1] in "Hh" else "h3", " ".join(words))
        elif name in ("TH", "Dt"):
            title = "".join(words[:1]) + (f"({words[1]})" if words[1:] else "")
            self.title = plain(inline(title, self._strings))
        elif name == "ds" and words and len(self._strings) < _MOST_STRINGS:
            value = rest.strip().partition(words[0])[2].strip().removeprefix('"')
            self._strings[words[0]] = value[:_MOST_STRING_CHARACTERS]
        elif name in ("nf", "EX", "Vb", "Bd", "fi", "EE", "Ve", "Ed"):
            self._begin_or_end_code(name, words)
        elif name in ("Bl", "El", "It"):
            self._mdoc_list(name, words)
        elif not self._paragraph_request(name, words):
            self._inline_request(name, words)

    def _heading(self, level: str, text: str) -> None:
        self._close_all()
        self.out.append(f"<{level}>{plain(inline(text, self._strings))}</{level}>")

    def _begin_or_end_code(self, name: str, words: list[str]) -> None:
        self._flush()
        if name in ("nf", "EX", "Vb") or (name == "Bd" and {"-literal", "-unfilled"} & set(words)):
            self._code = []

    def _paragraph_request(self, name: str, words: list[str]) -> bool:
        """Do what a request says of paragraphs and lists; return whether it does."""
        if name in ("PP", "P", "LP", "Pp", "Lp", "HP"):
            self._end_item()
        elif name in ("TP", "TQ"):
            self._flush()
            self._tag_follows = True
        elif name == "IP":
            self._begin_item(inline(words[0], self._strings) if words else "")
        elif name in ("RS", "RE"):
            self._indent(deeper=name == "RS")
        elif name == "br":
            self._text.append("<br>" if self._text and self._code is None else "")
        elif name in ("sp", "Sp") and self._code is None:
            if words and words[0].startswith("-") and self._text[-1:] == ["<br>"]:
                # What follows is printed over the line that ended here.
                del self._text[_start_of_last_line(self._text) :]
            self._flush()
        elif name in ("Dl", "D1"):
            self._flush()
            self.out.append(f"<pre>{plain(mdoc_line('No', words, self))}</pre>")
        else:
            return False
        return True

    def _inline_request(self, name: str, words: list[str]) -> None:
        if name in _FONTS_OF:
            text = " ".join(words)
            self._add(inline(text, self._strings, font=_FONTS_OF[name]) if words else "")
        elif name in _ALTERNATING:
            self._add(alternating(words, name, self._strings))
        elif name in ("UR", "MT") and words:
            self._add(inline(words[0], self._strings))
        elif name == "OP":
            self._add(f"[{alternating(words, 'BI', self._strings).replace('</b><i>', '</b> <i>')}]")
        elif name == "SY":
            self._flush()
            self._add(inline(" ".join(words), self._strings, font="b"))
        elif name[0].isupper():
            self._add(mdoc_line(name, words, self))

    def text_of(self, word: str, font: str = "") -> str:
        """Return a word of mdoc in a font."""
        return inline(word, self._strings, font=font)

    def _mdoc_list(self, name: str, words: list[str]) -> None:
        if name == "Bl":
            self._kinds.append(next((_LIST_OF[word] for word in words if word in _LIST_OF), "dl"))
            self._indent(deeper=True)
        elif name == "El":
            del self._kinds[-1:]
            self._indent(deeper=False)
        elif self._kinds[-1:] == ["dl"]:
            self._begin_item(mdoc_line("No", words, self))
        else:
            self._open_item(self._kinds[-1] if self._kinds else "ul", "")

    def _add(self, html: str) -> None:
        if not html.strip() and self._code is None:
            return
        if self._tag_follows:
            self._tag_follows = False
            self._begin_item(html)
        elif self._code is not None:
            self._code.append(plain(html))
        else:
            self._text.append(html)

    def _flush(self) -> None:
        self._end_code()
        if text := " ".join(filter(None, self._text)).strip().removesuffix("<br>"):
            self.out.append(f"<p>{text}</p>")
        self._text = []

    def _end_code(self) -> None:
        code, self._code = self._code, None
        if code and any(map(str.strip, code)):
            self._flush()
            self.out.append("<pre>{}</pre>".format("\n".join(code)))

    def _begin_item(self, tag: str) -> None:
        bare = plain(tag).strip()
        if not bare and self._lists[-1] == "":
            self._flush()
        elif not bare:
            # The next paragraph of the item.
            self._flush()
        elif bare in _BULLETS:
            self._open_item("ul", "")
        elif re.fullmatch(r"\(?\d{1,3}[.)]", bare):
            self._open_item("ol", "")
        else:
            self._open_item("dl", tag)

    def _open_item(self, kind: str, tag: str) -> None:
        self._flush()
        if kind == "dl" and self.out[-1:] == ["<dd>"]:
            # Terms that share a description.
            self.out.insert(-1, f"<dt>{tag}</dt>")
            return
        if self._lists[-1] != kind:
            self._close_list()
            self.out.append(f"<{kind}>")
            self._lists[-1] = kind
        else:
            self.out.append("</dd>" if kind == "dl" else "</li>")
        self.out += [f"<dt>{tag}</dt>", "<dd>"] if kind == "dl" else ["<li>"]

    def _end_item(self) -> None:
        self._flush()
        # Inside of a list of mdoc, a paragraph belongs to the item.
        if len(self._kinds) < len(self._lists) - 1 or not self._kinds:
            self._close_list()

    def _indent(self, *, deeper: bool) -> None:
        self._flush()
        if deeper and len(self._lists) < _MOST_LEVELS:
            self._lists.append("")
        elif not deeper and len(self._lists) > 1:
            self._close_list()
            self._lists.pop()

    def _close_list(self) -> None:
        self._flush()
        if kind := self._lists[-1]:
            self.out += ["</dd>" if kind == "dl" else "</li>", f"</{kind}>"]
        self._lists[-1] = ""

    def _close_all(self) -> None:
        self._tag_follows = False
        self._kinds = []
        while len(self._lists) > 1:
            self._indent(deeper=False)
        self._close_list()


def _start_of_last_line(text: list[str]) -> int:
    """Return where the line begins that the last break ends."""
    return next((at + 1 for at in range(len(text) - 2, -1, -1) if text[at] == "<br>"), 0)


def _table(lines: list[str], strings: dict[str, str]) -> str:
    """Return a table of `tbl` as HTML; its first row is a header if it is set off."""
    separator, rows = "\t", list(lines)
    options = rows.pop(0) if rows and rows[0].rstrip().endswith(";") else ""
    if match := re.search(r"tab ?\((.)\)", options):
        separator = match[1]
    start = next((at for at, row in enumerate(rows) if row.rstrip().endswith(".")), -1) + 1
    is_bold = bool(start) and re.match(r"\s*[lcrnLCRN]\w*[bB]", rows[0]) is not None
    cells: list[list[str]] = []
    is_ruled = False
    for row in _join_blocks(rows[start:]):
        if row.strip() in ("_", "="):
            is_ruled = is_ruled or len(cells) == 1
        elif row.strip() and not row.startswith("."):
            cells.append([inline(cell.strip(), strings) for cell in row.split(separator)])
    html = []
    for at, each in enumerate(cells):
        cell = "th" if at == 0 and (is_bold or is_ruled) else "td"
        html.append("".join(f"<{cell}>{text}</{cell}>" for text in each))
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in html)}</table>"


def _join_blocks(rows: Sequence[str]) -> Iterator[str]:
    """Give the rows of a table, those of a cell in several lines (`T{` to `T}`) as one."""
    before: str | None = None
    block: list[str] = []
    for row in rows:
        if before is not None and not row.startswith("T}"):
            block.append(row)
            continue
        if before is not None:
            kept = [line for line in block if not line.startswith((".", "'"))]
            row = f"{before}{' '.join(kept)}{row[2:]}"
        before, block = None, []
        if row.endswith("T{"):
            before = row[:-2]
        else:
            yield row
    if before is not None:
        yield from (f"{before}T{{", *block)
