"""HTML inside a line of Markdown, written as Markdown or taken out."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.ingest.extract.html.tree import parse_document

if TYPE_CHECKING:
    from collections.abc import Callable

# No tag is looked for beyond the next "<": a line of unclosed ones is read once.
_AUTOLINK = re.compile(r"<(https?://[^\s<>]+)>")
_ANCHOR = re.compile(r"<a\s[^<>]*+>|</a\s*+>", re.IGNORECASE)
_HREF = re.compile(r"\bhref=[\"']([^\"']*+)[\"']", re.IGNORECASE)
_IMAGE = re.compile(r"<img\s[^<>]*+>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"\b(src|alt)=[\"']([^\"']*+)[\"']", re.IGNORECASE)
_MATH = re.compile(r"<math\b|</math\s*+>", re.IGNORECASE)
_BREAK = re.compile(r"<br\s*+/?>", re.IGNORECASE)
_TAG = re.compile(r"(?<!\\)</?[A-Za-z][A-Za-z0-9.-]*+(?:\s[^<>]*+)?/?>")
_OPENING = re.compile(r"<([A-Za-z][A-Za-z0-9-]{0,30}+)(\s[^<>]*+)>")
_ANY_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]{0,30}+)(?![\w-])[^<>]*+>")
_EMPTY = frozenset("area br col embed hr img input link meta source track wbr".split())
_ENTITY_SPACE = re.compile(r"&(?:nbsp|ensp|emsp|thinsp);")


def without_html(line: str, *, render_math: Callable[[str], str]) -> str:
    """Return the line with links and images as Markdown, and without other tags."""
    if "&" in line:
        line = _ENTITY_SPACE.sub(" ", line)
    if "<" not in line:
        return line
    if "<math" in line:
        line = _replace_math(line, render_math)
    line = _without_hidden(line)
    line = _AUTOLINK.sub(lambda link: f"[{link.group(1)}]({link.group(1)})", line)
    line = _IMAGE.sub(_markdown_image, _replace_anchors(line))
    return _TAG.sub("", _BREAK.sub(" ", line))


def _without_hidden(line: str) -> str:
    """Return the line without elements that their own attributes hide."""
    pieces: list[str] = []
    position = 0
    for opening in _OPENING.finditer(line):
        name, attributes = opening.group(1).lower(), opening.group(2).lower()
        if opening.start() < position or name in _EMPTY:
            continue
        may_hide = any(word in attributes for word in ("hidden", "style", "color"))
        if not may_hide or not _hides(opening.group()):
            continue
        pieces.append(line[position : opening.start()])
        position = _end_of(name, line, opening.end())
    return "".join((*pieces, line[position:]))


def _end_of(name: str, line: str, start: int) -> int:
    depth = 1
    for tag in _ANY_TAG.finditer(line, start):
        if tag.group(2).lower() == name:
            depth += -1 if tag.group(1) else 1
        if not depth:
            return tag.end()
    return len(line)


@lru_cache(maxsize=1_000)
def _hides(opening: str) -> bool:
    """Return whether nobody sees a word inside of an element that begins so."""
    return "heron" not in (parse_document(f"<p>{opening}heron").body.text() or "")


def _replace_anchors(line: str) -> str:
    pieces: list[str] = []
    position = 0
    opened: re.Match[str] | None = None
    for tag in _ANCHOR.finditer(line):
        if not tag.group().startswith("</"):
            opened = tag
            continue
        href = _HREF.search(opened.group()) if opened is not None else None
        if opened is not None and href is not None:
            words = line[opened.end() : tag.start()]
            pieces += [line[position : opened.start()], f"[{words}]({href.group(1)})"]
            position = tag.end()
        opened = None
    return "".join((*pieces, line[position:]))


def _replace_math(line: str, render_math: Callable[[str], str]) -> str:
    pieces: list[str] = []
    position, start = 0, -1
    for tag in _MATH.finditer(line):
        if not tag.group().startswith("</"):
            start = tag.start() if start < 0 else start
        elif start >= 0:
            pieces += [line[position:start], render_math(line[start : tag.end()])]
            position, start = tag.end(), -1
    return "".join((*pieces, line[position:]))


def _markdown_image(image: re.Match[str]) -> str:
    attributes = {name.lower(): value for name, value in _ATTRIBUTE.findall(image.group())}
    source = attributes.get("src", "").replace(" ", "%20")
    return f"![{attributes.get('alt', '')}]({source})" if source else ""
