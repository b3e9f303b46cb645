"""A Markdown file as canonical Markdown: the author's text without what readers do not see."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.errors import EmptyPage
from citewell.core.language import detect_language
from citewell.core.records import ExtractedPage
from citewell.core.text import without_closing_hashes
from citewell.ingest.extract.canonical import CanonicalWriter, join_blocks, plain_text
from citewell.ingest.extract.characters import clean_plain_text
from citewell.ingest.extract.html.fragment import render_fragment
from citewell.ingest.extract.links import LinkResolver
from citewell.ingest.extract.markdown.admonitions import AdmonitionReader
from citewell.ingest.extract.markdown.code_blocks import FENCE, fence_end
from citewell.ingest.extract.markdown.comments import without_comments
from citewell.ingest.extract.markdown.front_matter import split_front_matter
from citewell.ingest.extract.markdown.inline import MarkdownInline, reference_key
from citewell.ingest.extract.markdown.set_aside import SetAside
from citewell.ingest.extract.markdown.slug import SlugCounter

if TYPE_CHECKING:
    from citewell.core.records import FetchedPage

_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]++(.*)$")
_HEADING_ID = re.compile(r"(?<![ \t])[ \t]*+\{:?[ \t]*+#([^\s{}]++)[^{}]*+\}$")
_ATTRIBUTES = re.compile(r"(?<![ \t])[ \t]*+\{:?[ \t]*+[.#][^{}]*+\}$")
_NAMED_ANCHOR = re.compile(
    r"<a\s(?=[^<>]*?(?:name|id)=[\"']([^\"'<>]++)[\"'])[^<>]*+>\s*+(?:</a>)?"
)
_UNDERLINE = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
_DEFINITION = re.compile(r"^ {0,3}\[([^\[\]^]+)\]:[ \t]*<?([^\s<>]+)>?(?:[ \t]+[\"'(].*)?$")
_MDX_EXPORT = re.compile(r"export\s++(?:const|default|function)\b")
_MDX_SOURCE = re.compile(r"\sfrom\s++['\"]")
_HTML_BLOCK = re.compile(
    r"^ {0,3}<(math|table|div|details|figure|p|ul|ol|dl|section|aside|center|script|style"
    r"|template|iframe|svg|noscript|picture|video|h[1-6]|pre|blockquote|span|form|button)\b",
    re.IGNORECASE,
)
_OPEN_TAG = re.compile(r"<(?:img|a)(?:\s[^<>]*+)?\Z", re.IGNORECASE)
_MOST_TAG_LINES = 12
_HIDING = re.compile(r"\bhidden\b|display\s*:\s*none|visibility\s*:\s*hidden")
_WHOLE_ELEMENTS = frozenset(
    {"iframe", "math", "noscript", "pre", "script", "style", "svg", "table", "template"}
)


def extract_markdown(fetched: FetchedPage, *, has_comments: bool = True) -> ExtractedPage:
    """Return a Markdown file with absolute links and labelled call-outs.

    One made from another format has no comments: what looks like one is text.

    Raises:
        EmptyPage: nothing but settings or comments.
    """
    fields, body = split_front_matter(clean_plain_text(fetched.text))
    indented = SetAside("\ufdd7", "\ufdd8")
    if has_comments:
        is_mdx = fetched.final_url.lower().endswith(".mdx")
        body = without_comments(body, indented, is_mdx=is_mdx)
    writer = CanonicalWriter()
    reader = _MarkdownReader(writer, LinkResolver(fetched.final_url), indented)
    canonical = writer.finish(reader.read(body))
    if not canonical.text.strip():
        raise EmptyPage(f"{fetched.final_url} holds no readable text")
    headings = [section for section in canonical.sections if section.heading]
    first = min(headings, key=lambda section: section.level).heading if headings else ""
    return ExtractedPage(
        title=plain_text(fields.get("title", "")) or first or _file_name(fetched.final_url),
        text=canonical.text,
        kind="markdown",
        language=detect_language(canonical.text),
        sections=canonical.sections,
        links=canonical.links,
        images=canonical.images,
        description=fields.get("description", ""),
        published_at=fields.get("date") or None,
        modified_at=fields.get("last_modified_at") or fields.get("lastmod") or None,
    )


class _MarkdownReader:
    """Goes through a file line by line."""

    def __init__(self, writer: CanonicalWriter, links: LinkResolver, indented: SetAside) -> None:
        self._writer = writer
        self._links = links
        self._indented = indented
        self._slugs = SlugCounter()
        self._inline = MarkdownInline(writer, links, {})
        self._output: list[str] = []
        self._closing_lines: dict[str, dict[int, int]] = {}

    def read(self, body: str) -> str:
        lines = AdmonitionReader().rewrite(body.split("\n"))
        lines, definitions = _split_definitions(lines)
        self._inline = MarkdownInline(self._writer, self._links, definitions)
        at = 0
        while at < len(lines):
            at = self._parse_block(lines, at)
        return self._indented.restore("\n".join(self._output))

    def _parse_block(self, lines: list[str], at: int) -> int:
        """Write what starts at a line; return where the next thing starts."""
        line = lines[at]
        fence = FENCE.match(line)
        if fence:
            end = fence_end(lines, at + 1, fence.group(2))
            self._output.extend(lines[at:end])
            return end
        heading = _HEADING.match(line)
        if heading:
            self._write_heading(len(heading.group(1)), without_closing_hashes(heading.group(2)))
            return at + 1
        if self._is_underlined(lines, at):
            self._write_heading(1 if "=" in lines[at + 1] else 2, line.strip())
            return at + 2
        if _HTML_BLOCK.match(line):
            return self._parse_html(lines, at)
        if _is_mdx_line(line):
            return at + 1
        end = _tag_end(lines, at)
        if end > at + 1:
            line = " ".join([line.rstrip(), *map(str.strip, lines[at + 1 : end])])
        self._output.append(self._inline.rewrite(line))
        return end

    def _is_underlined(self, lines: list[str], at: int) -> bool:
        line = lines[at]
        if not line.strip() or at + 1 >= len(lines) or not _UNDERLINE.match(lines[at + 1]):
            return False
        starts_paragraph = at == 0 or not lines[at - 1].strip()
        return (
            starts_paragraph
            and line.lstrip()[0] not in "|>-*+"
            and len(line) - len(line.lstrip()) < 4
        )

    def _write_heading(self, level: int, source: str) -> None:
        own_id = _HEADING_ID.search(source)
        text = _ATTRIBUTES.sub("", _HEADING_ID.sub("", source))
        named = _NAMED_ANCHOR.search(text)
        text = self._inline.rewrite(_NAMED_ANCHOR.sub("", text)).strip()
        words = plain_text(text)
        if not words:
            return
        slug = self._slugs.slug(words)
        anchor = own_id.group(1) if own_id else named.group(1) if named else slug
        mark = self._writer.mark_section(level, text, anchor)
        if self._output and self._output[-1].strip():
            self._output.append("")
        self._output.append(f"{mark}{'#' * level} {text}")

    def _parse_html(self, lines: list[str], at: int) -> int:
        """Render HTML up to the blank line, or the closing tag, that ends it."""
        end = at + 1
        while end < len(lines) and lines[end].strip():
            end += 1
        tag = _HTML_BLOCK.match(lines[at])
        name = tag.group(1).lower() if tag else ""
        if _reads_to_closing_tag(name, lines[at]):
            last = self._closing_line(name, lines, at)
            end = end if last is None else last + 1
        # Between tags nothing is code because it is indented.
        source = self._indented.restore("\n".join(lines[at:end]))
        if _holds_markdown(source):
            self._output.extend(self._inline.rewrite(line) for line in source.split("\n"))
        else:
            self._output.append(join_blocks(render_fragment(source, self._writer, self._links)))
        return end

    def _closing_line(self, name: str, lines: list[str], at: int) -> int | None:
        """Return the line that closes the element opened at line `at`; None where none does."""
        if name not in self._closing_lines:
            # Looked for once: a page that opens a thousand tables need not close one of them.
            written = [self._indented.restore(line) for line in lines]
            self._closing_lines[name] = _closing_lines(name, written)
        return self._closing_lines[name].get(at)


def _closing_lines(name: str, lines: list[str]) -> dict[int, int]:
    """Return, for each line with an opening tag, the line where its first such element ends."""
    tag = re.compile(rf"<(/?){name}\b", re.IGNORECASE)
    opened: list[int] = []
    closing: dict[int, int] = {}
    for number, line in enumerate(lines):
        for found in tag.finditer(line):
            if not found.group(1):
                opened.append(number)
            elif opened:
                # Elements of one line end from the inside out.
                closing[opened.pop()] = number
    return closing


def _is_mdx_line(line: str) -> bool:
    if line.startswith("export"):
        return bool(_MDX_EXPORT.match(line))
    is_import = line.startswith(("import ", "import\t")) and line.endswith(("'", '"', "';", '";'))
    return is_import and bool(_MDX_SOURCE.search(line))


def _tag_end(lines: list[str], at: int) -> int:
    """Return the line after one that closes the image or link whose tag a line leaves open."""
    if "<" in lines[at] and _OPEN_TAG.search(lines[at]):
        for end in range(at + 1, min(at + _MOST_TAG_LINES, len(lines))):
            if not lines[end].strip() or "<" in lines[end].partition(">")[0]:
                break
            if ">" in lines[end]:
                return end + 1
    return at + 1


def _reads_to_closing_tag(name: str, line: str) -> bool:
    return name in _WHOLE_ELEMENTS or bool(_HIDING.search(line))


def _holds_markdown(source: str) -> bool:
    """Return whether an HTML block wraps Markdown, as centred badges and images often do."""
    if "<table" in source or _HIDING.search(source):
        return False
    return bool(re.search(r"\]\(|^#{1,6} ", source, re.MULTILINE))


def _split_definitions(lines: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the lines without reference definitions, and the definitions."""
    kept: list[str] = []
    definitions: dict[str, str] = {}
    at = 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if fence:
            end = fence_end(lines, at + 1, fence.group(2))
            kept.extend(lines[at:end])
            at = end
            continue
        found = _DEFINITION.match(lines[at])
        if found:
            definitions.setdefault(reference_key(found.group(1)), found.group(2))
        else:
            kept.append(lines[at])
        at += 1
    return kept, definitions


def _file_name(url: str) -> str:
    return url.rstrip("/").rpartition("/")[2] or url
