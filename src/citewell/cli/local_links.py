"""Check the links of a document that lead to files beside it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from typing_extensions import override

from citewell.app.citation_check import CheckedReference
from citewell.core.cited_document import Reference
from citewell.core.html_anchors import html_anchors, is_plain_anchor
from citewell.core.text import one_line
from citewell.docsite.files import PAGE_SUFFIXES
from citewell.docsite.pages import parse_page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from citewell.app.citation_check import ReferenceVerdict

_HTML_SUFFIXES = (".html", ".htm", ".xhtml")
# A template fills in the rest of such an address.
_IN_TEMPLATE = re.compile(r"\{\{|\{%|<%|\$\{")
# Generators make anchors alike but for runs of these.
_JOINED = re.compile(r"[-_]+")


def check_local_links(text: str, path: Path) -> list[CheckedReference]:
    """Return the verdicts on the links of a Markdown or HTML file that have no scheme, in order.

    The file must exist, as it is or as a page that a generator makes of it, and have the anchor.
    """
    if path.suffix in PAGE_SUFFIXES:
        links = list(_markdown_links(text))
    elif path.suffix in _HTML_SUFFIXES:
        links = _LinksOfHtml(text, first_line=1).links
    else:
        return []
    lines: dict[str, int] = {}
    for line, target in links:
        lines.setdefault(target, line)
    return [
        _judge(Reference(line=line, url=target), target, path)
        for target, line in lines.items()
        if target and not _IN_TEMPLATE.search(target) and not _is_whole(target)
    ]


def _is_whole(target: str) -> bool:
    """Return whether an address names a site or a scheme, and is judged with the others."""
    try:
        address = urlsplit(target)
    except ValueError:
        # Only what stands for a host can be wrong.
        return not target.lstrip().startswith(("//", "\\\\"))
    return bool(address.netloc or address.scheme)


def _judge(reference: Reference, target: str, path: Path) -> CheckedReference:
    try:
        address = urlsplit(target)
    except ValueError:
        return _verdict(reference, "unreachable", f"'{one_line(target)}' is not a URL.")
    if address.path.startswith("/"):
        said = "It begins at the root of a site, which is not known here."
        return _verdict(reference, "not_checked", said)
    named = unquote(address.path)
    file = _find_file(path.parent / named) if named else path
    if file is None:
        return _verdict(reference, "gone", f"There is no file {one_line(named)}.")
    anchor = unquote(address.fragment)
    if anchor and is_plain_anchor(anchor) and _lacks_anchor(file, anchor):
        said = f"The file is there, but has no anchor #{one_line(anchor)}."
        return _verdict(reference, "gone", said)
    return _verdict(reference, "found", "The file is there.")


def _verdict(reference: Reference, verdict: ReferenceVerdict, explanation: str) -> CheckedReference:
    return CheckedReference(reference=reference, verdict=verdict, explanation=explanation)


def _find_file(file: Path) -> Path | None:
    """Return the file or folder, or the source of the page that a generator puts there."""
    sources = (file.parent / f"{file.name.removesuffix('.html')}{end}" for end in PAGE_SUFFIXES)
    return next((each for each in (file, *sources) if _exists(each)), None)


def _exists(file: Path) -> bool:
    try:
        return file.exists()
    except OSError:
        # The name is longer than any, for one.
        return False


def _lacks_anchor(file: Path, anchor: str) -> bool:
    if not file.is_file() or file.suffix not in (*PAGE_SUFFIXES, *_HTML_SUFFIXES):
        return False
    text = file.read_text(encoding="utf-8", errors="replace")
    anchors = html_anchors(text)
    if file.suffix in PAGE_SUFFIXES:
        page = parse_page(file.name, text, mtime=0, size=0)
        anchors |= {section.anchor for section in page.sections}
    return _JOINED.sub("-", anchor) not in {_JOINED.sub("-", each) for each in anchors}


def _markdown_links(text: str) -> Iterator[tuple[int, str]]:
    """Yield the addresses of links and images, also of those in HTML, with their lines."""
    for block in MarkdownIt("commonmark").enable("table").parse(text):
        line = block.map[0] + 1 if block.map else 1
        for token in block.children or [block]:
            if token.type in ("softbreak", "hardbreak"):
                line += 1
            elif token.type in ("html_inline", "html_block"):
                yield from _LinksOfHtml(token.content, first_line=line).links
            elif address := token.attrGet("href") or token.attrGet("src"):
                yield line, str(address)


class _LinksOfHtml(HTMLParser):
    """The addresses of links and images of HTML, with their lines."""

    def __init__(self, html: str, *, first_line: int) -> None:
        super().__init__()
        self.links: list[tuple[int, str]] = []
        self._first_line = first_line
        self.feed(html)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("a", "img"):
            line = self._first_line + self.getpos()[0] - 1
            self.links += [
                (line, value) for name, value in attrs if name in ("href", "src") and value
            ]
