"""The statements of a TypeScript `.d.ts` file and of the bodies in it, read in one pass."""

from __future__ import annotations

import re
from typing import Final

from citewell.core.frozen import frozen

MODULES: Final = frozenset({"namespace", "module", "global"})
_WITH_BODY = MODULES | {"interface", "class", "enum"}
_WITH_BASES: Final = frozenset({"interface", "class"})
_KEYWORDS = _WITH_BODY | {"type", "function", "const", "let", "var"}
_MODIFIERS = frozenset(
    {
        *("export", "default", "declare", "abstract", "async", "static", "readonly", "public"),
        *("protected", "private", "override", "accessor", "get", "set"),
    }
)
_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"[\w$#]+")
# `=>` and `<<` are no brackets.
_MARK = re.compile(r"/\*|//|=>|<<|[\"'`\n(){}\[\]<>;,]")
_OPENING: Final = {")": "(", "]": "[", "}": "{", ">": "<"}
_CLOSING: Final = frozenset(_OPENING.values())
_ENDS: Final = {"/*": "*/", "//": "\n", '"': '"', "'": "'", "`": "`"}
_SKIPPED: Final = frozenset({*_ENDS, "=>", "<<"})
# A statement goes on in the next line after one of these, or when that line begins with one.
_JOINS = ("|", "&", "=", "=>", ":", "?", "extends ", "implements ")
_LONGEST_JOIN = 20
_MOST_DEPTH = 8
_MOST_OPEN = 100


@frozen
class Statement:
    """A declaration, a member, or anything else that a file or a body consists of."""

    start: int
    end: int
    comment: str
    """What stands in the documentation comment before it; empty without one."""
    words: tuple[str, ...]
    """Its modifiers and keywords."""
    name: str
    body_start: int | None = None
    """Where the bracket stands that opens its body; None without a body."""
    body: tuple[Statement, ...] = ()

    @property
    def kind(self) -> str:
        """The keyword that says what is declared; empty for a member."""
        return _kind(self.words)


def parse_statements(text: str) -> tuple[Statement, ...]:
    """Return the statements of a file; what cannot be understood is part of some statement."""
    return _Reader(text).parse_body(0)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def parse_body(self, depth: int) -> tuple[Statement, ...]:
        """Return the statements up to the bracket that closes the body, or the end of the file."""
        text = self._text
        statements: list[Statement] = []
        comment = ""
        while True:
            self._skip_space()
            start = self._place
            if text.startswith(("/*", "//"), start):
                self._place = start + 2
                self._skip_rest_of(text[start : start + 2])
                if text.startswith("/**", start):
                    comment = text[start + 3 : self._place - 2]
            elif start >= len(text) or (text[start] == "}" and depth):
                self._place = start + 1
                return tuple(statements)
            elif text[start] in ";,}":
                self._place = start + 1
            else:
                statements.append(self._parse_statement(comment, depth))
                comment = ""

    def _parse_statement(self, comment: str, depth: int) -> Statement:
        start = self._place
        words, name, self._place = _parse_head(self._text, start)
        kind = _kind(words)
        body_start: int | None = None
        body: tuple[Statement, ...] = ()
        open_brackets: list[str] = []
        end: int | None = None
        while end is None:
            mark, place = self._next_mark()
            if not mark:
                end = place
            elif mark in _CLOSING:
                if mark == "{" and not open_brackets and self._opens_body(kind, place, depth):
                    body_start = place
                    body = self.parse_body(depth + 1)
                    # `type T = { … } & U` goes on.
                    end = None if kind == "type" else self._place
                elif len(open_brackets) < _MOST_OPEN:
                    open_brackets.append(mark)
            elif mark == "}" and "{" not in open_brackets:
                self._place = end = place
            elif mark in _OPENING:
                _close(open_brackets, mark)
            elif mark == "," and not open_brackets and kind in _WITH_BASES:
                self._skip_space()  # the next one that it extends can be in the next line
            elif not open_brackets and (mark != "\n" or not self._goes_on(place)):
                end = place + (mark == ";")
        return Statement(
            start=start,
            end=end,
            comment=comment,
            words=words,
            name=name,
            body_start=body_start,
            body=body,
        )

    def _next_mark(self) -> tuple[str, int]:
        """Return the next bracket or end of a statement and its place; at the end of all, ""."""
        while match := _MARK.search(self._text, self._place):
            self._place = match.end()
            if match[0] not in _SKIPPED:
                return match[0], match.start()
            self._skip_rest_of(match[0])
        self._place = len(self._text)
        return "", self._place

    def _opens_body(self, kind: str, bracket: int, depth: int) -> bool:
        """Return whether a bracket opens the body of a statement, not the type of something."""
        before = self._text[max(0, bracket - _LONGEST_JOIN) : bracket]
        has_body = before.rstrip().endswith("=") if kind == "type" else kind in _WITH_BODY
        return has_body and depth < _MOST_DEPTH

    def _goes_on(self, newline: int) -> bool:
        """Return whether a statement goes on after the end of a line; skips the space there."""
        before = self._text[max(0, newline - _LONGEST_JOIN) : newline].rstrip()
        self._skip_space()
        return before.endswith(tuple(join.rstrip() for join in _JOINS)) or self._text.startswith(
            (*_JOINS, "{"), self._place
        )

    def _skip_space(self) -> None:
        match = _SPACE.match(self._text, self._place)
        self._place = match.end() if match else self._place

    def _skip_rest_of(self, mark: str) -> None:
        """Go to the end of a comment or of a string that is open; other marks are skipped."""
        closing = _ENDS.get(mark)
        if closing is None:
            return
        # A string that is not closed in its line is none.
        newline = self._text.find("\n", self._place) if mark in "\"'" else -1
        limit = newline if newline >= 0 else len(self._text)
        found = self._text.find(closing, self._place, limit)
        if found >= 0:
            # The end of a line can be the end of a statement.
            self._place = found if closing == "\n" else found + len(closing)
        elif mark not in "\"'":
            self._place = limit


def _kind(words: tuple[str, ...]) -> str:
    return next((word for word in reversed(words) if word in _KEYWORDS), "")


def _close(open_brackets: list[str], mark: str) -> None:
    """Close a bracket with what is open inside of it; `<` and `>` can also be operators."""
    opening = _OPENING[mark]
    if mark == ">" and open_brackets[-1:] != ["<"]:
        return
    if opening in open_brackets:
        while open_brackets.pop() != opening:
            pass


def _parse_head(text: str, start: int) -> tuple[tuple[str, ...], str, int]:
    """Return the modifiers and keywords of a statement, its name, and where the name ends."""
    words: list[str] = []
    place = start
    while match := _WORD.match(text, place):
        space = _SPACE.match(text, match.end())
        following = space.end() if space else match.end()
        next_letter = text[following : following + 1]
        is_keyword = match[0] in _MODIFIERS or match[0] in _KEYWORDS
        begins_word = next_letter.isalnum() or next_letter in {"_", "$", "#", '"', "'", "["}
        if match[0] == "global" and next_letter == "{":
            return (*words, "global"), "", match.end()
        if not is_keyword or not begins_word:
            if match[0] == "function" and "default" in words:
                return (*words, "function"), "default", match.end()
            return tuple(words), match[0], match.end()
        words.append(match[0])
        place = following
    quote = text[place : place + 1]
    if quote in {'"', "'"}:
        end = text.find(quote, place + 1)
        newline = text.find("\n", place)
        if end > 0 and (newline < 0 or end < newline):
            return tuple(words), text[place + 1 : end], end + 1
    return tuple(words), "", place
