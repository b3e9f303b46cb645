"""AsciiDoc as canonical Markdown, line by line; nothing is included from elsewhere."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.ingest.extract.asciidoc_conditions import lines_let_through
from citewell.ingest.extract.canonical import CanonicalWriter, join_blocks
from citewell.ingest.extract.characters import clean_plain_text
from citewell.ingest.extract.html.admonitions import label_of
from citewell.ingest.extract.html.fragment import render_fragment
from citewell.ingest.extract.links import LinkResolver
from citewell.ingest.extract.markdown.page import extract_markdown

if TYPE_CHECKING:
    from citewell.core.records import ExtractedPage, FetchedPage

_MAX_ATTRIBUTES = 200
_MAX_COLUMNS = 40

_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
# The signs below headings, by their level.
_UNDERLINES = " =-~^+"
_UNDERLINE = re.compile(r"={3,}|-{3,}|~{3,}|\^{3,}|\+{3,}")
_TITLE = re.compile(r"[^\s.\[/|:*-].*\w")
_ATTRIBUTE = re.compile(r":(!?[\w-]{1,80}!?):(?:[ \t]++(.*))?")
_USE = re.compile(r"\{([\w-]{1,80})\}")
_SILENT_USE = re.compile(r"\{(?:set|counter2):[^{}]{0,300}\}")
_COMMENT_STYLE = re.compile(r"[ \t]{0,9}comment(?![\w-])")
_FORMULA = re.compile(r"stem|latexmath|asciimath")
_BLOCK_ATTRIBUTES = re.compile(r"\[([^\[\]]{0,300})\]")
_ANCHOR = re.compile(r"\[\[([\w:.-]{1,200})[^\[\]]{0,200}\]\]")
_BLOCK_TITLE = re.compile(r"\.([^\s.].{0,300})")
_LISTED = re.compile(r"(\*{1,5}|-|\.{1,5}|\d{1,4}\.)[ \t]+(\S.*)")
_TERM = re.compile(r"(\S.{0,300}?)(::|:::|;;)(?:[ \t]++(.*))?")
_ADMONITION = re.compile(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+(\S.*)")
_MACRO = re.compile(r"(include|toc|image|video|audio)::([^\[\]]{0,500})\[([^\[\]]{0,500})\]")
_COLUMNS = re.compile(r"cols=\"?([^\"\]]{1,200})")
_TIMES = re.compile(r"[ \t]{0,5}(\d{1,2})\*")
_CELL = re.compile(r"(?:^|[ \t])(?:\d{1,2}[+*])?[<^>]?[aehlmdsv]?\|")

_LINK = re.compile(
    r"(?:link:)?(https?://[^\s\[\]<>]{1,300}+)\[([^\[\]]{0,300}+)\]"
    r"|link:([^\s\[\]]{1,300}+)\[([^\[\]]{0,300}+)\]"
)
_IMAGE = re.compile(r"(?<![\w:])image:(?!:)([^\s\[\]]{1,300}+)\[([^\[\]]{0,300}+)\]")
_CROSS_REFERENCE = re.compile(
    r"<<([^<>,]{1,200})(?:,([^<>]{0,300}))?>>|xref:([^\s\[\]]{1,300})\[([^\[\]]{0,300})\]"
)
_PASSED = re.compile(r"`\+([^`+]{1,500})\+`|\+\+([^+]{1,500})\+\+")
_STRONG = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,500})(?<=[^\s*])\*(?![\w*])")
_EMPHASISED = re.compile(r"(?<![\w_])_(?=[^\s_])([^_\n]{1,500})(?<=[^\s_])_(?![\w_])")
_CODE_OR_TAG = re.compile(r"(`[^`\n]{1,500}`)|(?<!\\)<(?=/?[A-Za-z])(?!https?:)")
_ROLE = re.compile(r"\[[\w.# -]{1,60}\]#([^#\n]{1,300})#")
_INLINE_MACRO = re.compile(
    r"(?:kbd|btn|menu|footnote|pass|stem|latexmath|indexterm2):[^\s\[\]]{0,100}\[([^\[\]]{0,500})\]"
)
# Entries of the index and other ends of references, which no reader sees.
_UNSHOWN = re.compile(
    r"(`[^`\n]{1,500}+`|(?<!\+)\+\+[^+\n]{1,500}+\+\+(?!\+))"
    r"|\(\(\([^()]{1,1000}+(?:\([^()]{0,200}+\)[^()]{0,1000}+){0,20}+\)\)\)"
    r"|(?<!\w)(?:indexterm::?|anchor:[\w:.-]{1,200}+|icon:[\w.-]{1,100}+)"
    r"\[(?:[^\]\\]|\\.){0,1000}+\]"
)
_MOST_LINES_OF_TERM = 10
_HTML = re.compile(r"pass:[a-z,]{0,20}\[([^\]\n]{0,2000}+)\]|\+\+\+([^+\n]{1,2000}+)\+\+\+")

_CODE_STYLES = frozenset({"source", "listing", "literal"})
# What an attribute stands for can name others; a line of them must not grow without end.
_MOST_RESOLVED_CHARACTERS = 5_000
_DELIMITERS = frozenset({"----", "....", "====", "****", "____", "++++", "////", "--", "```"})
_VERBATIM = frozenset({"----", "....", "```", "++++", "////"})
_LABELS = frozenset({"NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"})


def extract_asciidoc(fetched: FetchedPage) -> ExtractedPage:
    """Return an AsciiDoc file with its headings, lists, tables, code and links.

    Raises:
        EmptyPage: there is no text.
    """
    markdown = as_markdown(clean_plain_text(fetched.text), url=fetched.final_url)
    made = replace(fetched, text=markdown, kind="markdown")
    page = extract_markdown(made, has_comments=False)
    return replace(page, kind="asciidoc")


def as_markdown(source: str, *, url: str) -> str:
    """Return AsciiDoc as Markdown; links in HTML that it passes through are relative to `url`."""
    reader = _Reader(lines_let_through(source.split("\n")), url)
    return "\n".join(reader.read())


class _Reader:
    """Goes through a file line by line."""

    def __init__(self, lines: list[str], url: str) -> None:
        self._lines = lines
        self._url = url
        self._place = 0
        self._attributes: dict[str, str] = {}
        self._style = ""
        self._open: list[tuple[str, str]] = []
        """The delimiters of open blocks, and their kinds of call-out."""
        self._output: list[str] = []

    def read(self) -> list[str]:
        """Return the lines of the Markdown."""
        while self._place < len(self._lines):
            line = self._lines[self._place].rstrip()
            self._place += 1
            if "(((" in line:
                line = self._whole_terms(line)
            is_read = self._parse_underlined(line) or self._parse_block(line)
            if not (is_read or self._parse_setting(line)):
                self._parse_text(line)
        return self._output

    def _whole_terms(self, line: str) -> str:
        """Return a line with those that an entry of the index in it goes on to."""
        for _ in range(_MOST_LINES_OF_TERM):
            is_open = line.rfind("(((") > line.rfind(")))")
            if (
                not is_open
                or self._place == len(self._lines)
                or not self._lines[self._place].strip()
            ):
                break
            line = f"{line} {self._lines[self._place].strip()}"
            self._place += 1
        return line

    def _parse_underlined(self, line: str) -> bool:
        """Read a heading with a line of signs below it; return whether there is one."""
        below = self._lines[self._place].rstrip() if self._place < len(self._lines) else ""
        before = self._lines[self._place - 2].strip() if self._place > 1 else ""
        if not _UNDERLINE.fullmatch(below) or not _TITLE.match(line) or self._is_comment():
            return False
        if abs(len(below) - len(line)) > 2 or (before and not before.startswith(("[", "//"))):
            return False
        if any(below == delimiter for delimiter, _ in self._open[-1:]):
            return False
        self._place += 1
        self._output += ["", f"{'#' * _UNDERLINES.index(below[0])} {self._inline(line)}", ""]
        self._style = ""
        return True

    def _parse_block(self, line: str) -> bool:
        """Read a block between delimiters or a table; return whether there is one."""
        if line in ("|===", ",===", "!==="):
            if self._is_comment():
                self._skip_comment(line)
                return True
            self._write_table(self._take_until(line))
            return True
        mark = line[:4] if len(line) >= 4 and len(set(line)) == 1 else line
        if line.startswith("```"):
            mark, self._style = "```", line[3:].strip() or self._style
        if mark not in _DELIMITERS:
            return False
        if self._is_comment():
            self._skip_comment("```" if mark == "```" else line)
            return True
        if mark not in _VERBATIM:
            self._open_or_close(line)
            return True
        content = self._take_until("```" if mark == "```" else line)
        if mark == "++++" and not _FORMULA.match(self._style):
            self._write_html(content)
        elif mark != "////":
            self._write_code(content)
        return True

    def _is_comment(self) -> bool:
        return self._style.partition(" ")[0] == "comment"

    def _skip_comment(self, delimiter: str) -> None:
        self._take_until(delimiter)
        self._style = ""

    def _write_html(self, content: list[str]) -> None:
        self._output += ["", *self._rendered("\n".join(content)).split("\n"), ""]
        self._style = ""

    def _rendered(self, html: str) -> str:
        """Return what a reader sees of HTML that is passed through."""
        writer = CanonicalWriter()
        blocks = render_fragment(html, writer, LinkResolver(self._url))
        return writer.finish(join_blocks(blocks)).text

    def _passed_html(self, passed: re.Match[str]) -> str:
        html = passed.group(1) or passed.group(2) or ""
        return " ".join(self._rendered(html).split()) if "<" in html else html

    def _take_until(self, delimiter: str) -> list[str]:
        start = self._place
        while self._place < len(self._lines) and self._lines[self._place].rstrip() != delimiter:
            self._place += 1
        content = self._lines[start : self._place]
        self._place += 1
        return content

    def _write_code(self, content: list[str]) -> None:
        parts = [part.strip() for part in self._style.split(",")]
        language = parts[1] if len(parts) > 1 and parts[0] in ("source", "") else ""
        language = language if language.isalnum() else ""
        if "attributes" in self._style:
            content = [self._resolve(line) for line in content]
        fence = "```"
        while any(line.lstrip().startswith(fence) for line in content):
            fence += "`"
        self._output += ["", f"{fence}{language}", *content, fence, ""]
        self._style = ""

    def _label(self) -> str:
        """Return the kind of call-out that the attributes before a block name; "" for others."""
        kind = self._style.partition(",")[0].partition("#")[0].strip().upper()
        return kind if kind in _LABELS else ""

    def _open_or_close(self, delimiter: str) -> None:
        """Write where a call-out starts and ends; the text inside is read as any other."""
        kind, self._style = self._label(), ""
        if not kind and self._open and self._open[-1][0] == delimiter:
            kind, line = self._open.pop()[1], ":::"
        else:
            self._open.append((delimiter, kind))
            line = f":::{kind.lower()}"
        self._output += ["", line, ""] if kind else [""]

    def _write_table(self, content: list[str]) -> None:
        rows: list[list[str]] = []
        columns = self._columns()
        cells: list[str] = []
        for line in content:
            if not line.strip() or line.startswith("//"):
                continue
            pieces = _CELL.split(line)
            if pieces[0].strip() and cells:
                cells[-1] = f"{cells[-1]} {pieces[0].strip()}"
            cells += [piece.strip() for piece in pieces[1:]]
            columns = columns or min(max(len(pieces) - 1, 1), _MAX_COLUMNS)
        rows = [cells[i : i + columns] for i in range(0, len(cells), columns)] if columns else []
        self._output.append("")
        for number, row in enumerate(rows):
            filled = [*row, *[""] * (columns - len(row))]
            self._output.append(f"| {' | '.join(self._inline(cell) for cell in filled)} |")
            if number == 0:
                self._output.append(f"|{' --- |' * columns}")
        self._output.append("")
        self._style = ""

    def _columns(self) -> int:
        """Return how many columns the attributes before a table give it; 0 if they do not."""
        found = _COLUMNS.search(self._style)
        if not found:
            return 0
        parts = [part for part in found.group(1).replace(";", ",").split(",") if part.strip()]
        times = _TIMES.match(found.group(1))
        return min(int(times.group(1)) if times else len(parts), _MAX_COLUMNS)

    def _parse_setting(self, line: str) -> bool:
        """Read a line that says something about others; return whether it is one."""
        if line.startswith("//"):
            return True
        attribute = _ATTRIBUTE.fullmatch(line)
        if attribute:
            if len(self._attributes) < _MAX_ATTRIBUTES:
                value = self._resolve(attribute.group(2) or "")
                self._attributes[attribute.group(1)] = value[:300]
            return True
        macro = _MACRO.fullmatch(line)
        if macro:
            if macro.group(1) == "image":
                target = macro.group(2).replace(" ", "%20")
                self._output += ["", f"![{macro.group(3).partition(',')[0]}]({target})", ""]
            return True
        if _ANCHOR.fullmatch(line):
            return True
        style = _BLOCK_ATTRIBUTES.fullmatch(line)
        if style:
            is_comment = _COMMENT_STYLE.match(style.group(1))
            self._style = "comment" if is_comment else f"{self._style} {style.group(1)}".strip()
            return True
        title = _BLOCK_TITLE.fullmatch(line)
        if title:
            self._output += ["", f"**{self._inline(title.group(1))}**", ""]
            return True
        return False

    def _parse_text(self, line: str) -> None:
        if line and self._is_comment():
            self._skip_comment("")
            return
        if line and self._style.partition(",")[0].strip() in _CODE_STYLES:
            # Without delimiters, the paragraph is the program.
            self._write_code([line, *self._take_until("")])
            return
        if line and self._style.partition(",")[0].strip() == "pass":
            self._write_html([line, *self._take_until("")])
            return
        heading = _HEADING.fullmatch(line)
        if heading:
            text = self._inline(heading.group(2).rstrip("= "))
            self._output += ["", f"{'#' * len(heading.group(1))} {text}", ""]
            return
        listed = _LISTED.fullmatch(line.lstrip())
        if listed:
            mark = listed.group(1)
            depth = len(mark) - 1 if mark[0] in "*." else 0
            bullet = "-" if mark[0] in "*-" else "1."
            self._output.append(f"{'   ' * depth}{bullet} {self._inline(listed.group(2))}")
            return
        admonition = _ADMONITION.fullmatch(line)
        if admonition:
            label = label_of(admonition.group(1))
            self._output.append(f"{label} {self._inline(admonition.group(2))}")
            return
        term = _TERM.fullmatch(line) if "::" in line or ";;" in line else None
        if term:
            self._output += ["", f"**{self._inline(term.group(1))}**", ""]
            self._output += [self._inline(term.group(3))] if term.group(3) else []
            return
        if line == "+" or line in ("'''", "<<<"):
            self._output.append("")
            return
        words = self._inline(line.removesuffix(" +"))
        if line:
            kind, self._style = self._label(), ""
            words = f"{label_of(kind)} {words}" if kind else words
        self._output.append(words)

    def _resolve(self, text: str) -> str:
        """Return text with the values of the attributes that it names, and of those in these."""
        for _ in range(2):
            if "{" not in text or len(text) > _MOST_RESOLVED_CHARACTERS:
                break
            text = _USE.sub(lambda use: self._attributes.get(use.group(1), use.group()), text)
        return text

    def _inline(self, text: str) -> str:
        """Return a line with its links, references and emphasis in Markdown."""
        if "{" in text:
            text = self._resolve(_SILENT_USE.sub("", text))
        if "(((" in text or "[" in text:
            text = _UNSHOWN.sub(lambda match: match[1] or "", text)
        if "pass:" in text or "+++" in text:
            text = _HTML.sub(self._passed_html, text)
        if "[" in text:
            text = _IMAGE.sub(_markdown_image, text)
            text = _LINK.sub(_markdown_link, text)
            text = _ROLE.sub(r"\1", _INLINE_MACRO.sub(r"\1", _ANCHOR.sub("", text)))
        if "<<" in text or "xref:" in text:
            text = _CROSS_REFERENCE.sub(_reference_text, text)
        if "<" in text:
            # What looks like a tag is text, unlike in Markdown.
            text = _CODE_OR_TAG.sub(lambda match: match[1] or r"\<", text)
        text = _PASSED.sub(
            lambda passed: f"`{passed.group(1)}`" if passed.group(1) else passed.group(2), text
        )
        if "*" in text:
            text = _STRONG.sub(r"**\1**", text)
        return _EMPHASISED.sub(r"*\1*", text) if "_" in text else text


def _markdown_image(image: re.Match[str]) -> str:
    words = image.group(2).partition(",")[0].strip().strip('"')
    return f"![{words}]({image.group(1)})"


def _markdown_link(link: re.Match[str]) -> str:
    target = link.group(1) or link.group(3)
    words = (link.group(2) or link.group(4) or "").partition(",")[0].rstrip("^").strip('"')
    return f"[{words or target}]({target})"


def _reference_text(reference: re.Match[str]) -> str:
    target = reference.group(1) or reference.group(3)
    words = reference.group(2) or reference.group(4)
    return (words or target.rpartition("#")[2]).strip()
