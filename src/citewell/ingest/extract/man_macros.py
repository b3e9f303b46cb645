"""Lines of mdoc: macros that may follow each other on a line, each with its own font or marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

_FONTS = {
    "Ar": "i", "Cm": "b", "Ic": "b", "Fl": "b", "Li": "code", "Pa": "i", "Em": "i", "Sy": "b",
    "Ev": "code", "Va": "i", "Vt": "i", "Fa": "i", "Fn": "b", "Ft": "i", "Dv": "code", "Er": "code",
    "Nm": "b", "Ad": "i", "An": "", "No": "", "Xr": "", "Sx": "", "Tn": "", "Lk": "", "Mt": "",
    "St": "", "Nd": "", "Cd": "b", "In": "b", "Ms": "b", "Ql": "code",
}  # fmt: skip
_ENCLOSING = {
    "Op": ("[", "]"), "Pq": ("(", ")"), "Dq": ("“", "”"), "Sq": ("‘", "’"), "Aq": ("&lt;", "&gt;"),
    "Bq": ("[", "]"), "Brq": ("{", "}"), "Qq": ('"', '"'),
}  # fmt: skip
_MARKS = {
    "Oo": "[", "Oc": "]", "Po": "(", "Pc": ")", "Do": "“", "Dc": "”", "So": "‘", "Sc": "’",
    "Ao": "&lt;", "Ac": "&gt;", "Bo": "[", "Bc": "]", "Bro": "{", "Brc": "}", "Qo": '"', "Qc": '"',
    "Ux": "UNIX", "Bx": "BSD", "Fx": "FreeBSD", "Nx": "NetBSD", "Ox": "OpenBSD",
}  # fmt: skip
_NO_SPACE_BEFORE = frozenset(". , : ; ) ] ? ! ] ) } ” ’ > &gt;".split())
_NO_SPACE_AFTER = frozenset("( [ { “ ‘ &lt;".split())
_SILENT = frozenset(
    "Dd Os Bk Ek Rs Re Ta Tg Sm Xo Xc IX XX PD AT UC DT TA HY LINKSTYLE TS TE EQ EN".split()
)
_SKIPPED = frozenset({"Xo", "Xc", "Ta"})


_KNOWN = frozenset({*_FONTS, *_ENCLOSING, *_MARKS, "Ns", "Ap"})


class _Writer(Protocol):
    name: str

    def text_of(self, word: str, font: str = "") -> str:
        """Return a word in a font."""


def mdoc_line(macro: str, words: Sequence[str], writer: _Writer) -> str:
    """Return a line of macros as HTML."""
    if macro in _SILENT:
        return ""
    parts: list[str] = []
    _read(macro, list(words), writer, parts)
    line = ""
    is_open = True
    for part in parts:
        if part == "\0":
            is_open = True
            continue
        space = "" if is_open or part in _NO_SPACE_BEFORE else " "
        line += space + part
        is_open = part in _NO_SPACE_AFTER
    return line


def _read(macro: str, words: list[str], writer: _Writer, parts: list[str]) -> None:
    """Append what a macro and those behind it write; a NUL stands where no space is wanted."""
    closing: list[str] = []
    first, macro, font, taken = macro, "", "", 0
    for word in [first, *words] if first in _KNOWN else words:
        if word in _SKIPPED:
            continue
        if word in _ENCLOSING:
            parts += [_ENCLOSING[word][0], "\0"]
            closing.append(_ENCLOSING[word][1])
        elif word in _MARKS:
            parts.append(_MARKS[word])
        elif word == "Ns":
            parts.append("\0")
        elif word == "Ap":
            parts += ["\0", "'", "\0"]
        elif word in _FONTS:
            _end_of(macro, taken, writer, parts)
            macro, font, taken = word, _FONTS[word], 0
            parts += ["—"] if word == "Nd" else []
        else:
            _word(macro, word, font, taken, writer, parts)
            taken += 1
    _end_of(macro, taken, writer, parts)
    for mark in reversed(closing):
        # Punctuation at the end of a line stands behind what closes.
        at = len(parts)
        while at and parts[at - 1] in (".", ",", ":", ";"):
            at -= 1
        parts[at:at] = ["\0", mark]


def _word(macro: str, word: str, font: str, taken: int, writer: _Writer, parts: list[str]) -> None:
    if word in _NO_SPACE_BEFORE or word in _NO_SPACE_AFTER or word == "|":
        _end_of(macro, taken, writer, parts)
        parts.append(writer.text_of(word))
    elif macro == "Fl":
        parts.append(writer.text_of(f"-{word}", font))
    elif macro == "Xr" and taken == 1:
        parts += ["\0", writer.text_of(f"({word})")]
    else:
        if macro == "Nm" and not writer.name:
            writer.name = word
        parts.append(writer.text_of(word, font))


def _end_of(macro: str, taken: int, writer: _Writer, parts: list[str]) -> None:
    """Append what a macro without words of its own stands for."""
    if taken:
        return
    if macro == "Nm" and writer.name:
        parts.append(writer.text_of(writer.name, "b"))
    elif macro == "Fl":
        parts.append(writer.text_of("-", "b"))
    elif macro == "Ar":
        parts.append(writer.text_of("file ...", "i"))
