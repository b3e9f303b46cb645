"""Call-outs of the Markdown dialects: `!!! note`, `??? note`, `:::tip`, `/// tip`, `> [!NOTE]`.

All become the same tokens: `callout_open`, a title where there is one, the content,
`callout_close`. Tabs (`=== "Linux"`, `/// tab | Linux`, the fences of `::: code-group`) are
shown one below the other under their titles, so that they can be read without scripts and on paper;
`tab_sets.py` says which belong together.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markdown_it.token import Token

from citewell.core.frozen import frozen
from citewell.docsite.site.tab_sets import STARTS_SET, TAB_SET, group_tabs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markdown_it import MarkdownIt
    from markdown_it.ruler import RuleOptionsType
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore

_LOOK_OF_KIND = {
    "note": "note info todo seealso abstract summary tldr question help faq quote cite",
    "tip": "tip hint success check done",
    "important": "important example",
    "warning": "warning attention security deprecated",
    "danger": "danger caution error failure fail missing bug",
}
_LOOKS = {kind: look for look, kinds in _LOOK_OF_KIND.items() for kind in kinds.split()}
CLASSES = frozenset({"callout", "callout-title", "chosen", "tab", "tabs", *_LOOK_OF_KIND})
_TAB_KINDS = ("tab", "tab-item")

_CONTENT_INDENT = 4
_INDENTED = re.compile(
    r"(?P<fold>!!!|\?\?\?\+?|===[!+]{0,2})(?:[ \t]*+(?P<kind>[\w-]++))?+(?:[ \t]++[\w-]++)*+"
    r"(?:[ \t]++\"(?P<title>.*)\")?[ \t]*+$"
)
_FENCED = re.compile(
    r"(?P<marks>:{3,}+|/{3,}+)[ \t]*+\{?\.?(?P<kind>[A-Za-z][\w-]*+)\}?"
    r"[ \t]*+\|?+[ \t]*+(?:\[(?P<bracketed>.*)\]|(?P<title>[^{}]*+))(?:\{[^{}]*+\})?+[ \t]*+$"
)
# How the blocks of pymdownx are set, in the lines below their first one.
_OPTION = re.compile(r"(?P<name>[a-z]+):[ \t]*+(?P<value>[^\n]*+)")
_NAMED_FENCE = re.compile(r"\[([^\]]{1,200})\]")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_CODE_FENCE = re.compile(r"(`{3,}|~{3,})")
_GITHUB = re.compile(r"\[!(?P<kind>[A-Za-z]+)\](?P<fold>[+-]?)[ \t]*+(?P<title>[^\n]*+)(?:\n|$)")
_TERMINATED: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}


def callout_plugin(parser: MarkdownIt) -> None:
    """Add every syntax of call-outs to a parser."""
    parser.block.ruler.before("fence", "indented_callout", _parse_indented, _TERMINATED)
    parser.block.ruler.before("fence", "fenced_callout", _parse_fenced, _TERMINATED)
    parser.core.ruler.after("block", "github_callout", _parse_github)
    parser.core.ruler.after("github_callout", "tab_sets", group_tabs)


@frozen
class _Callout:
    kind: str
    title: str | None
    """None means the name of the kind; empty means no title."""
    fold: str = ""
    """`closed` or `open` for a call-out that folds."""
    tab_set: str = ""
    """For a tab, what others of its set share."""
    starts_set: bool = False
    is_chosen: bool = False
    """Whether the tab is shown first."""

    def opening(self) -> list[Token]:
        """Return the tokens before the content."""
        title = self._shown_title()
        folds = bool(self.fold) and bool(title)
        opened = Token("callout_open", "details" if folds else "div", 1, block=True)
        opened.attrs = {"class": self._classes()}
        opened.meta = {TAB_SET: self.tab_set or None, STARTS_SET: self.starts_set}
        if folds and self.fold == "open":
            opened.attrs["open"] = ""
        if not title:
            return [opened]
        tag = "summary" if folds else "p"
        title_open = Token("callout_title_open", tag, 1, block=True)
        title_open.attrs = {"class": "callout-title"}
        words = Token("inline", "", 0, content=title, children=[], block=True)
        return [opened, title_open, words, Token("callout_title_close", tag, -1, block=True)]

    def closing(self) -> Token:
        """Return the token after the content."""
        folds = bool(self.fold) and bool(self._shown_title())
        closed = Token("callout_close", "details" if folds else "div", -1, block=True)
        closed.meta = {TAB_SET: self.tab_set or None}
        return closed

    def _classes(self) -> str:
        if self.kind == "tab":
            return "tab chosen" if self.is_chosen else "tab"
        return f"callout {_LOOKS.get(self.kind, 'note')}"

    def _shown_title(self) -> str:
        if self.title is not None:
            return self.title.strip()
        return self.kind.replace("-", " ").capitalize()


def _parse_indented(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    if state.is_code_block(start) or not first.startswith(("!!!", "???", "===")):
        return False
    match = _INDENTED.match(first)
    if match is None or not (match["kind"] or match["title"]):
        return False
    name = (match["kind"] or "").lower()
    is_tab = match["fold"].startswith("=")
    stop = _end_of_indented(state, start, end)
    is_meant = match["title"] or name in _LOOKS or stop > start + 1
    if not is_meant or (is_tab and (name or not match["title"])):
        return False
    if silent:
        return True
    fold = {"???": "closed", "???+": "open"}.get(match["fold"], "")
    callout = _Callout(
        kind="tab" if is_tab else name or "note",
        title=match["title"],
        fold=fold,
        tab_set="===" if is_tab else "",
        starts_set=is_tab and "!" in match["fold"],
        is_chosen=is_tab and "+" in match["fold"],
    )
    outer = state.blkIndent
    state.blkIndent = state.sCount[start] + _CONTENT_INDENT
    _tokenize(state, callout, start + 1, stop)
    state.blkIndent = outer
    state.line = stop
    return True


def _end_of_indented(state: StateBlock, start: int, end: int) -> int:
    """Return the line after the content, or after `start` when nothing is indented below it."""
    indent = state.sCount[start] + _CONTENT_INDENT
    last = start
    for line in range(start + 1, end):
        if state.isEmpty(line):
            continue
        if state.sCount[line] < indent:
            break
        last = line
    return last + 1


def _parse_fenced(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    if state.is_code_block(start) or not first.startswith((":::", "///")):
        return False
    match = _FENCED.match(first)
    if match is None:
        return False
    if silent:
        return True
    stop = _closing_line(state, start, end, match["marks"])
    kind, title = match["kind"].lower(), (match["bracketed"] or match["title"] or "").strip()
    if kind == "code-group":
        _tokenize_code_group(state, start + 1, stop)
        state.line = min(stop + 1, end)
        return True
    options, first_line = _options(state, start + 1, stop, match["marks"])
    _tokenize(state, _fenced_callout(kind, title, match["marks"], options), first_line, stop)
    state.line = min(stop + 1, end)
    return True


def _fenced_callout(kind: str, title: str, marks: str, options: Mapping[str, str]) -> _Callout:
    is_open = options.get("open", "").lower() == "true"
    if kind == "details":
        fold = "open" if is_open else "closed"
        return _Callout(kind=options.get("type", "note"), title=title or "Details", fold=fold)
    if kind in _TAB_KINDS:
        return _Callout(
            kind="tab",
            title=title or None,
            tab_set=marks[0],
            starts_set=options.get("new", "").lower() == "true",
            is_chosen=options.get("select", "").lower() == "true",
        )
    if kind == "admonition":
        return _Callout(kind=options.get("type", "note"), title=title or None)
    if kind in _LOOKS:
        return _Callout(kind=kind, title=title or None)
    # A container that only its own generator knows: its content is what matters.
    return _Callout(kind="tab", title="" if kind == "html" else title)


def _options(state: StateBlock, first: int, stop: int, marks: str) -> tuple[dict[str, str], int]:
    """Return the options of a block that begins with slashes, and the line after them."""
    options: dict[str, str] = {}
    line = first
    while marks[0] == "/" and line < stop and state.is_code_block(line):
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
        match = _OPTION.fullmatch(text.rstrip())
        if match is None:
            break
        options[match["name"]] = match["value"]
        line += 1
    return options, line


def _closing_line(state: StateBlock, start: int, end: int, marks: str) -> int:
    """Return the line that closes the call-out, or `end`; those nested in it are skipped."""
    depth, code = 0, ""
    for line in range(start + 1, end):
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()
        fence = _CODE_FENCE.match(text)
        if code:
            code = "" if text.startswith(code) and not text.strip(code[0]) else code
        elif fence:
            code = fence.group(1)
        elif text == marks:
            if depth == 0:
                return line
            depth -= 1
        elif text.startswith(marks) and text[len(marks)] != marks[0] and _FENCED.match(text):
            depth += 1
    return end


def _tokenize(state: StateBlock, callout: _Callout, first: int, stop: int) -> None:
    parent, line_max = state.parentType, state.lineMax
    state.parentType, state.lineMax = "callout", stop
    for token in callout.opening():
        token.map = [first - 1, first]
        _append(state, token)
    state.md.block.tokenize(state, first, stop)
    _append(state, callout.closing())
    state.parentType, state.lineMax = parent, line_max


def _tokenize_code_group(state: StateBlock, first: int, stop: int) -> None:
    """Make a tab of each fence: ```` ```sh [npm] ````."""
    outside, parent, line_max = len(state.tokens), state.parentType, state.lineMax
    state.parentType, state.lineMax = "callout", stop
    state.md.block.tokenize(state, first, stop)
    state.parentType, state.lineMax = parent, line_max
    content = state.tokens[outside:]
    del state.tokens[outside:]
    for token in content:
        is_fence = token.type == "fence"
        tab = _Callout(kind="tab", title=_fence_title(token.info), tab_set=f"group {first}")
        for part in (*tab.opening(), token, tab.closing()) if is_fence else (token,):
            part.map = token.map
            _append(state, part)


def _fence_title(info: str) -> str:
    """Return the name of a fence, else its language, as VitePress does; neither is Markdown."""
    name = _NAMED_FENCE.search(info)
    language = re.match(r"[\w+#.-]+", info.strip())
    title = name[1] if name else language[0] if language else "txt"
    return _PUNCTUATION.sub(r"\\\1", title)


def _append(state: StateBlock, token: Token) -> None:
    if token.nesting < 0:
        state.level -= 1
    token.level = state.level
    if token.nesting > 0:
        state.level += 1
    state.tokens.append(token)


def _parse_github(state: StateCore) -> None:
    """Turn block quotes that begin with `[!KIND]` into call-outs."""
    tokens = state.tokens
    index = 0
    while index < len(tokens) - 2:
        words = tokens[index + 2]
        match = _GITHUB.match(words.content) if tokens[index].type == "blockquote_open" else None
        if match and words.type == "inline" and match["kind"].lower() in _LOOKS:
            fold = {"-": "closed", "+": "open"}.get(match["fold"], "")
            callout = _Callout(kind=match["kind"].lower(), title=match["title"] or None, fold=fold)
            _replace_quote(tokens, index, callout=callout, rest=words.content[match.end() :])
        index += 1


def _replace_quote(tokens: list[Token], index: int, *, callout: _Callout, rest: str) -> None:
    level = tokens[index].level
    last = next(
        i
        for i in range(index, len(tokens))
        if tokens[i].type == "blockquote_close" and tokens[i].level == level
    )
    closing = callout.closing()
    closing.level = level
    tokens[last] = closing
    tokens[index + 2].content = rest
    inner = tokens[index + 1 : index + 4] if rest.strip() else []
    opening = callout.opening()
    for i, token in enumerate(opening):
        token.level = level + min(i, 1)
    tokens[index : index + 4] = [*opening, *inner]
