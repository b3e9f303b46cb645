"""Running text of a Markdown file: links made absolute and recorded, HTML tags taken out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.ingest.extract.characters import collapse_spaces
from citewell.ingest.extract.html.fragment import render_fragment
from citewell.ingest.extract.html.math import convert_tex_delimiters
from citewell.ingest.extract.links import markdown_target
from citewell.web.urls import without_anchor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.ingest.extract.canonical import CanonicalWriter
    from citewell.ingest.extract.links import LinkResolver

_CODE_SPAN = re.compile(r"(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_LINK = re.compile(
    r"(?<!\\)(!?)\[((?:[^\[\]\\]|\\.|!?\[[^\[\]]*\](?:\([^()\s]*\))?)*)\]"
    r"(?:\(\s*(?:<([^<>\n]*)>|((?:[^\s()]|\([^\s()]*\))*))(?:\s+(?:\"([^\"]*)\"|'([^']*)'))?\s*\)"
    r"|\[([^\[\]]*)\])?(?:\{[^{}\n]*\})?"
)
_AUTOLINK = re.compile(r"<(https?://[^\s<>]+)>")
_HTML_LINK = re.compile(r"<a\s[^>]*?href=[\"']([^\"']*)[\"'][^>]*>(.*?)</a>", re.IGNORECASE)
_HTML_IMAGE = re.compile(r"<img\s[^>]*>", re.IGNORECASE)
_HTML_ATTRIBUTE = re.compile(r"\b(src|alt)=[\"']([^\"']*)[\"']", re.IGNORECASE)
_HTML_MATH = re.compile(r"<math\b.*?</math\s*>", re.IGNORECASE)
_HTML_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_HTML_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9.-]*(?:\s[^<>]*)?/?>")
_ENTITY_SPACE = re.compile(r"&(?:nbsp|ensp|emsp|thinsp);")


class MarkdownInline:
    """Rewrites the running text of one file; code spans stay as they are."""

    def __init__(
        self, writer: CanonicalWriter, links: LinkResolver, definitions: Mapping[str, str]
    ) -> None:
        self._writer = writer
        self._links = links
        self._definitions = definitions

    def rewrite(self, line: str) -> str:
        """Return a line with marks for its links and images."""
        if not any(sign in line for sign in "[<&\\"):
            return line
        # A link's text may hold code, so code is set aside and put back afterwards.
        kept: list[str] = []

        def set_aside(code: re.Match[str]) -> str:
            kept.append(code.group())
            return f"\ufdd3{len(kept) - 1}\ufdd4"

        plain = _CODE_SPAN.sub(set_aside, line) if "`" in line else line
        plain = self._without_html(plain)
        if "[" in plain:
            plain = _LINK.sub(self._link, plain)
        if "\\(" in plain or "\\[" in plain:
            plain = convert_tex_delimiters(plain)
        return re.sub("\ufdd3(\\d+)\ufdd4", lambda at: kept[int(at.group(1))], plain)

    def _without_html(self, line: str) -> str:
        if "&" in line:
            line = _ENTITY_SPACE.sub(" ", line)
        if "<" not in line:
            return line
        if "<math" in line:
            line = _HTML_MATH.sub(self._math, line)
        line = _AUTOLINK.sub(lambda found: f"[{found.group(1)}]({found.group(1)})", line)
        line = _HTML_LINK.sub(lambda found: f"[{found.group(2)}]({found.group(1)})", line)
        line = _HTML_IMAGE.sub(_markdown_image, line)
        return _HTML_TAG.sub("", _HTML_BREAK.sub(" ", line))

    def _math(self, found: re.Match[str]) -> str:
        return " ".join(render_fragment(found.group(), self._writer, self._links))

    def _link(self, found: re.Match[str]) -> str:
        bang, text, bracketed, bare, title, other_title, reference = found.groups()
        target = bracketed if bracketed is not None else bare
        if target is None:
            target = self._definitions.get(reference_key(reference or text))
            if target is None:
                return found.group()
        title = title or other_title or ""
        url = self._links.resolve(target)
        if bang:
            return self._image(text, url, title)
        text = _LINK.sub(self._link, text) if "![" in text else text
        if url is None or not self._links.leads_elsewhere(url) or not text.strip():
            return text
        mark = self._writer.mark_link(without_anchor(url), text)
        return f"{mark}[{text}]({markdown_target(url)})"

    def _image(self, alt: str, url: str | None, title: str) -> str:
        if url is None:
            return alt
        mark = self._writer.mark_image(url, alt=alt, caption=title)
        caption = f' "{title}"' if title else ""
        return f"{mark}![{alt}]({markdown_target(url)}{caption})"


def reference_key(label: str) -> str:
    """Return the form in which two labels of a reference link are compared."""
    return collapse_spaces(label).casefold()


def _markdown_image(image: re.Match[str]) -> str:
    attributes = {name.lower(): value for name, value in _HTML_ATTRIBUTE.findall(image.group())}
    source = attributes.get("src", "").replace(" ", "%20")
    return f"![{attributes.get('alt', '')}]({source})" if source else ""
