"""Call-outs of Markdown dialects, rewritten as labelled paragraphs."""

from __future__ import annotations

import re

from citewell.ingest.extract.html.admonitions import is_kind, is_marked, label_of

_MKDOCS = re.compile(r"^([ \t]*+)(?:!!!|\?\?\?\+?)[ \t]++([\w-]++)[^\"\n]*+(?:\"(.*)\")?[ \t]*+$")
_COLONS = re.compile(r"^([ \t]*+)(:{3,}+)[ \t]*+\{?([\w-]++)\}?[ \t]*+(.*)$")
_SLASHES = re.compile(r"^([ \t]*+)(/{3,}+)[ \t]*+([\w-]++)(?:[ \t]*+\|[ \t]*+(.*))?$")
_ATTRIBUTES = re.compile(r"\{[^{}]*+\}$")
_CLOSING = re.compile(r"^[ \t]*(:{3,}|/{3,})[ \t]*$")
_GITHUB = re.compile(r"^([ \t]*+>)[ \t]*+\[!(\w++)\][+-]?[ \t]*+(.*)$")
_REFERENCE = re.compile(r"\[[^\[\]]{1,200}+\]:")
_FENCE = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")


class AdmonitionReader:
    """Goes through the lines of a file and labels its call-outs."""

    def __init__(self) -> None:
        self._output: list[str] = []
        self._fence = ""
        self._label = ""
        """A label that waits for the first words of its call-out."""
        self._indents: list[tuple[int, str]] = []
        """How far the content of each open MkDocs call-out is indented, and its icon."""
        self._fenced: list[str] = []
        """The icon of each open block between lines of colons or slashes; "" of other blocks."""
        self._quoted = ""
        """The icon of a call-out that is a quotation."""

    def rewrite(self, lines: list[str]) -> list[str]:
        """Return the lines with each call-out starting with its label."""
        for line in lines:
            self._parse(line)
        self._flush()
        return self._output

    def _parse(self, source: str) -> None:
        line = self._dedented(source)
        if self._fence:
            words = line.strip(" \t>")
            if words.startswith(self._fence) and not words.strip(self._fence[0]):
                self._fence = ""
            self._output.append(line)
            return
        fence = _FENCE.match(line)
        if fence:
            self._flush()
            self._fence = fence.group(1)
            self._output.append(line)
        elif not self._opens(line):
            self._write(line)

    def _opens(self, line: str) -> bool:
        """Open or close a call-out if the line does so."""
        mkdocs = _MKDOCS.match(line)
        if mkdocs:
            indent, kind, title = mkdocs.groups()
            icon = self._start(kind, title)
            self._indents.append((len(indent) + 4, icon))
            return True
        blocks = _COLONS.match(line) or _SLASHES.match(line)
        if blocks and is_kind(blocks.group(3)):
            self._fenced.append(self._start(blocks.group(3), _title(blocks.group(4) or "")))
            return True
        if blocks:
            self._fenced.append("")
            return blocks.group(2)[0] == "/"
        if _CLOSING.match(line):
            self._flush()
            self._fenced = self._fenced[:-1]
            return True
        github = _GITHUB.match(line)
        if github and is_kind(github.group(2)):
            self._quoted = self._start(github.group(2), github.group(3))
            return True
        return False

    def _start(self, kind: str, title: str | None) -> str:
        """Open a call-out and return its icon."""
        self._flush()
        if self._output and self._output[-1].strip():
            self._output.append("")
        self._label = label_of(kind)
        if title and title.strip().lower() != kind.lower():
            self._output.extend((f"{self._label} {title.strip()}", ""))
            self._label = ""
        return label_of(kind).split()[0]

    def _write(self, line: str) -> None:
        if self._quoted:
            if not line.lstrip().startswith(">"):
                self._quoted = ""
            else:
                line = re.sub(r"^[ \t]*> ?", "", line)
        if line.startswith("#"):
            # A call-out that was never closed ends with its section.
            self._fenced = []
        if not self._label and self._output and not self._output[-1].strip():
            icon = self._quoted or next(iter(self._fenced[-1:]), "") or self._indented_icon()
            line = f"{icon} {line}" if icon and not _is_no_paragraph(line) else line
        if self._label and line.strip():
            if line.lstrip().startswith(("- ", "* ", "|", "#", "1. ")):
                self._flush()
            else:
                line, self._label = f"{self._label} {line.strip()}", ""
        if not self._label or line.strip():
            self._output.append(line)

    def _flush(self) -> None:
        """Write a label whose call-out does not start with words."""
        if self._label:
            self._output.extend((self._label, ""))
            self._label = ""

    def _indented_icon(self) -> str:
        return self._indents[-1][1] if self._indents else ""

    def _dedented(self, line: str) -> str:
        if not self._indents:
            return line
        if not line.strip():
            return line
        width = len(line) - len(line.lstrip())
        if not self._fence:
            while self._indents and width < self._indents[-1][0]:
                self._indents.pop()
        inner = 4 * len(self._indents)
        return line[min(inner, width) :]


def _is_no_paragraph(line: str) -> bool:
    starts_otherwise = line.startswith(("<", "+ ", "\t")) or _REFERENCE.match(line)
    return is_marked(line) or bool(starts_otherwise) or not any(map(str.isalnum, line))


def _title(rest: str) -> str | None:
    """Return the title in what follows a call-out's kind: `[Title]{.class}`, or plain words."""
    words = _ATTRIBUTES.sub("", rest.rstrip()).rstrip()
    if words.startswith("[") and words.endswith("]"):
        words = words[1:-1]
    return words or None
