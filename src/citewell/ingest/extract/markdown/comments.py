"""Comments in Markdown: of HTML, of MDX and of note-taking programs."""

from __future__ import annotations

import re

_HTML = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# As definitions of links that nothing can refer to.
_UNSHOWN_LINK = re.compile(r"^ {0,3}\[[^\]\n]{1,100}\]:[ \t]*<>[ \t].*$", re.MULTILINE)
# Browsers take what begins so for comments.
_DECLARATION = re.compile(r"^ {0,3}<(?:\?|!\[CDATA\[|![A-Za-z])", re.MULTILINE)
_CODE = r"`[^`\n]*+`"
_MDX_OPENING = re.compile(rf"{_CODE}|\{{[ \t]{{0,9}}/\*")
_MDX_CLOSING = re.compile(r"\*/[ \t]{0,9}\}")
_PERCENT = re.compile(rf"{_CODE}|(?<![%\w])%%(?!%)(?:[^%\n]|%(?!%))++%%(?![%\w])")


def without_comments(text: str) -> str:
    """Return Markdown that holds no block of code, without its comments."""
    if "<!--" in text:
        text = _HTML.sub("", text)
    if "]:" in text:
        text = _UNSHOWN_LINK.sub("", text)
    if "<!" in text or "<?" in text:
        text = _without_declarations(text)
    if "/*" in text:
        text = _without_mdx_comments(text)
    return _without_percent_comments(text) if "%%" in text else text


def _without_declarations(text: str) -> str:
    pieces: list[str] = []
    position = 0
    for opening in _DECLARATION.finditer(text):
        if opening.start() < position:
            continue
        mark = opening.group().lstrip()
        closing = "?>" if mark == "<?" else "]]>" if mark == "<![CDATA[" else ">"
        pieces.append(text[position : opening.start()])
        end = text.find(closing, opening.end())
        position = len(text) if end < 0 else end + len(closing)
    return "".join((*pieces, text[position:]))


def _without_mdx_comments(text: str) -> str:
    pieces: list[str] = []
    position = 0
    for opening in _MDX_OPENING.finditer(text):
        if opening.start() < position or opening.group().startswith("`"):
            continue
        closing = _MDX_CLOSING.search(text, opening.end())
        if closing is None:
            break
        pieces.append(text[position : opening.start()])
        position = closing.end()
    return "".join((*pieces, text[position:]))


def _without_percent_comments(text: str) -> str:
    """Return the text without `%% … %%`, as Obsidian writes comments, in a line or over lines."""
    kept: list[str] = []
    opened: int | None = None
    for source in text.split("\n"):
        line = _PERCENT.sub(lambda m: m.group() if m.group().startswith("`") else "", source)
        kept.append(line)
        words = line.strip()
        if opened is not None and words.endswith("%%"):
            del kept[opened:]
            opened = None
        elif opened is None and words.startswith("%%") and not words.startswith("%%%"):
            opened = len(kept) - 1
    return "\n".join(kept)
