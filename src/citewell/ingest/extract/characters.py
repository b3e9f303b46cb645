"""Characters that a reader cannot see, and white space, brought to one form."""

from __future__ import annotations

import re

# Zero-width and bidi controls, soft hyphens, fillers, tag characters and noncharacters: text can
# hide in or behind them, and search would not match across them.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ufdd0-\ufdef\ud800-\udfff"
    "\ufffe\uffff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    # Joiners shape Persian and Indic words and emoji; anywhere else they are only a hiding place.
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x85\x0b\x0c]")
_TRAILING_SPACE = re.compile(r"(?<![ \t])[ \t]++$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{4,}")


def drop_invisible(text: str) -> str:
    """Return `text` without characters that a reader cannot see."""
    if text.isascii():
        return text
    return _INVISIBLE.sub("", text)


def drop_controls(text: str) -> str:
    """Return `text` without control characters other than tab and newline."""
    return _CONTROL.sub("", text)


def clean_plain_text(text: str) -> str:
    """Return `text` with newlines as line ends and nothing a reader cannot see."""
    return drop_controls(drop_invisible(_LINE_ENDS.sub("\n", text)))


def tidy_lines(text: str) -> str:
    """Return `text` without spaces at line ends or more than two blank lines in a row."""
    # Looking first is far cheaper than a substitution that finds nothing.
    if " \n" in text or "\t\n" in text or text[-1:] in (" ", "\t"):
        text = _TRAILING_SPACE.sub("", text)
    return _BLANK_LINES.sub("\n\n\n", text) if "\n\n\n\n" in text else text


def collapse_spaces(text: str) -> str:
    """Return `text` on one line, each run of white space one space."""
    return " ".join(text.split())


def letters_of(text: str) -> str:
    """Return the letters and digits of `text` in lower case, for comparing."""
    return "".join(character for character in text.lower() if character.isalnum())
