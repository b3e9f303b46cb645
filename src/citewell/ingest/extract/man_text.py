"""The text of man pages: arguments, escapes and fonts of roff as HTML."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ARGUMENT = re.compile(r'"((?:[^"]|"")*)(?:"|\Z)|((?:\\.|[^\s\\])+|\\\Z)')
_ESCAPE = re.compile(
    r"\\(?:"
    r"f(?:\[(?P<font>[^\]]{0,20})\]|\((?P<font2>..)|(?P<font1>.))"
    r"|\[(?P<long>[^\]]{1,40})\]|\((?P<two>..)"
    r"|\*(?:\[(?P<string>[^\]]{1,40})\]|\((?P<string2>..)|(?P<string1>.))"
    r"|(?P<comment>[\"#]).*"
    r"|v(?P<mark>['\"^~@!#$,;/`])(?P<moved>[-+]?[\d.]+)[a-zA-Z]?(?P=mark)"
    r"|[hvwXDLloNbBRSHxAZCY](?P<quote>['\"^~@!#$,;/`])(?:(?!(?P=quote)).){0,200}(?P=quote)"
    r"|\?.{0,200}?\\\?|!.*|z(?:\\(?:\(..|\[[^\]]{0,40}\]|.)|.)?"
    r"|s(?:[+-]?\d{1,2}|\[[^\]]{0,9}\]|'[^']{0,9}'|\([+-]?..)"
    r"|[mMnkgFOVY](?:\[[^\]]{0,40}\]|\(..|.)"
    r"|(?P<one>.)|\Z)"
)
_FONTS = {
    "B": "b", "3": "b", "I": "i", "2": "i", "CB": "b", "CI": "i", "BI": "b", "4": "b", "C": "code",
    "CW": "code", "CR": "code", "V": "b",
}  # fmt: skip
_ONE = {
    "-": "-", "e": "\\", "\\": "\\", " ": " ", "~": "\u00a0", "0": " ", "'": "'", "`": "`",
    ".": ".", "t": "\t",
}  # fmt: skip
_NAMED = (
    "aq ' dq \" lq “ rq ” oq ‘ cq ’ ga ` ha ^ ti ~ rs \\ em — en – hy - mi - bu • co © rg ® tm ™ "
    "de ° mu × -> → <- ← <= ≤ >= ≥ != ≠ +- ± pl + eq = sl / ba | bv | or | ul _ at @ sh # Do $ "
    "lB [ rB ] lC { rC } la ⟨ ra ⟩ Fo « Fc » Eu € Po £ sc § dg † *m μ mc µ ss ß ae æ oe œ o/ ø "
    "oa å R ® Tm ™ if ∞ 12 ½ 14 ¼"
).split()
_GLYPHS = dict(zip(_NAMED[::2], _NAMED[1::2], strict=True))
_ACCENTS = {
    "'": "\u0301",
    "`": "\u0300",
    "^": "\u0302",
    ":": "\u0308",
    "~": "\u0303",
    ",": "\u0327",
}
_MOST_LINES_MOVED = 2
_CODE_POINT = re.compile(r"u([0-9A-F]{4,6})")


def arguments_of(text: str) -> list[str]:
    """Return the arguments of a request; quotation marks keep spaces together."""
    return [
        match[1].replace('""', '"') if match[1] is not None else match[2]
        for match in _ARGUMENT.finditer(text)
    ]


def inline(text: str, strings: Mapping[str, str], *, font: str = "") -> str:
    """Return a line of text as HTML, begun in a font (`b`, `i`, `code` or none)."""
    parts: list[str] = []
    previous = ""
    end = 0

    def add(plain: str) -> None:
        if plain:
            shown = escape(plain, quote=False)
            parts.append(f"<{font}>{shown}</{font}>" if font and plain.strip() else shown)

    for match in _ESCAPE.finditer(text):
        add(text[end : match.start()])
        end = match.end()
        name = next((match[each] for each in ("font", "font2", "font1") if match[each]), None)
        named = next((match[each] for each in ("string", "string2", "string1") if match[each]), "")
        if name is not None or match["font"] == "":
            new = previous if name in ("P", None) else _FONTS.get(name or "", "")
            previous, font = font, new
        elif named:
            value = strings.get(named, _GLYPHS.get(named, ""))
            # A string of strings could grow without end.
            parts.append(inline(value, {}, font=font))
        else:
            add(_glyph(match))
        if match["comment"] or _leaves_its_line(match["moved"]):
            break
    else:
        add(text[end:])
    return _joined("".join(parts))


def alternating(words: Sequence[str], fonts: str, strings: Mapping[str, str]) -> str:
    """Return words set in two fonts by turns, without spaces between them (`.BR`)."""
    tags = {"B": "b", "I": "i", "R": ""}
    shown = [inline(word, strings, font=tags[fonts[at % 2]]) for at, word in enumerate(words)]
    return "".join(shown)


def plain(text: str) -> str:
    """Return HTML of this module without its tags."""
    return re.sub(r"</?(?:b|i|code)>", "", text)


def _leaves_its_line(moved: str | None) -> bool:
    """Return whether a motion takes what follows off its line, as a superscript's does not."""
    return moved is not None and abs(_number(moved)) >= _MOST_LINES_MOVED


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _glyph(match: re.Match[str]) -> str:
    name = match["long"] or match["two"]
    if name is None:
        return _ONE.get(match["one"] or "", "")
    if point := _CODE_POINT.fullmatch(name):
        value = int(point[1], 16)
        return chr(value) if value < 0x110000 and not 0xD800 <= value < 0xE000 else ""
    if name not in _GLYPHS and len(name) == 2 and name[0] in _ACCENTS:
        return name[1] + _ACCENTS[name[0]]
    return _GLYPHS.get(name, "")


def _joined(html: str) -> str:
    """Return HTML in which neighbours of one font are one."""
    return re.sub(r"</(b|i|code)>(\s*)<\1>", r"\2", html)
