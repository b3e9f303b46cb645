"""The canonical text of a stored page as HTML that is safe to show, with spans of it marked.

The text comes from foreign pages: no HTML of theirs passes, no id, class or image, and only
addresses of the web become links. Run it in a process that can be killed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from dataclasses import field
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from typing_extensions import override

from citewell.core.frozen import frozen
from citewell.core.words import words
from citewell.docsite.site.code_blocks import (
    FenceInfo,
    code_block_html,
    guess_language,
    parse_fence_info,
)
from citewell.docsite.site.emphasis import plain_emphasis_plugin
from citewell.docsite.site.formulas import formula_html
from citewell.docsite.site.tables import scrolling_tables_plugin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_core import StateCore
    from markdown_it.utils import EnvType, OptionsDict

# Punctuation, so that adjacent emphasis is parsed as without them; rare in text.
_START, _END = "\u2e20", "\u2e21"
_MARKERS = re.compile(f"([{_START}{_END}])")
# Same length for same length: offsets must stay true.
_UNSAFE = str.maketrans({_START: "|", _END: "|", "\r": " ", "\0": "\ufffd"})
_WEB = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_LEAVES = frozenset({"text", "code_inline", "math_inline", "math_inline_double"})
_DEEPEST_HEADING = 6


@frozen
class MarkedSpan:
    """A span of the text to mark; the first element of it gets the id."""

    start: int
    end: int
    id: str
    is_answer: bool = False
    """Whether it is the part of a quote that answers."""


@frozen
class StoredText:
    """A text to render, with its metadata; offsets count from its beginning."""

    text: str
    marks: tuple[MarkedSpan, ...] = ()
    section_ids: Mapping[int, str] = field(default_factory=dict)
    """Ids of headings, signatures and rows that begin a section, by the offset of their line."""
    own_url: str = ""
    anchors: Mapping[str, str] = field(default_factory=dict)
    """Ids by the anchors that links to `own_url` name."""
    question_words: frozenset[str] = frozenset()
    """Search words that are set bold inside marks."""
    left_out_heading: str = ""
    """The heading that the surrounding page already shows."""
    heading_shift: int = 1
    """How many levels lower headings are shown."""
    stored_pages: Mapping[str, str] = field(default_factory=dict)
    """Addresses in this reader, by the URLs of pages."""
    shows_addresses: bool = False
    """Whether the address of a link is shown after its words: whoever wrote it may mislead."""
    escapes: bool = False
    """Whether a backslash escapes: in text that somebody wrote as Markdown, not in other pages."""


def render_stored_texts(texts: Sequence[StoredText]) -> list[str]:
    """Return each text as HTML."""
    return [_render(text) for text in texts]


def _render(stored: StoredText) -> str:
    rendering = _Rendering(stored)
    env = {"rendering": rendering, "escapes": stored.escapes}
    html: str = _parser().render(rendering.text, env)
    return _MARKERS.sub("", html)


class _Rendering:
    """One text while it is rendered: where its lines are, and which marks are open."""

    def __init__(self, stored: StoredText) -> None:
        self.stored = stored
        self.text = stored.text.translate(_UNSAFE)
        self.lines = self.text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        # By line: in a quotation, what begins a section stands behind the sign of the quotation.
        self._section_ids = {
            bisect_right(self.starts, offset) - 1: section_id
            for offset, section_id in stored.section_ids.items()
        }
        self.opened: deque[MarkedSpan] = deque()
        """The marks whose beginnings were put into the text, in order."""
        self.named: set[str] = set()
        self._searched_to: dict[int, int] = {}

    def put_markers(self, token: Token) -> None:
        """Put a marker at both ends of what of the token's content is marked, line by line."""
        if token.map is None:
            return
        first = token.map[0]
        token.content = "\n".join(
            self._with_markers(line, first + number)
            for number, line in enumerate(token.content.split("\n"))
        )

    def _with_markers(self, content: str, number: int) -> str:
        if number >= len(self.lines):
            return content
        # The cells of a row are on one line: each is searched for after the previous one.
        column = self.lines[number].find(content, self._searched_to.get(number, 0))
        self._searched_to[number] = max(column, 0) + len(content)
        begin = self.starts[number] + max(column, 0)
        pieces: list[str] = []
        done = 0
        for mark in self.stored.marks:
            start = max(mark.start - begin, done)
            end = min(mark.end - begin, len(content))
            if start < end and content[start:end].strip():
                pieces += [content[done:start], _START, content[start:end], _END]
                self.opened.append(mark)
                done = end
        return "".join((*pieces, content[done:]))

    def marked_lines(self, first: int, count: int) -> tuple[int, ...]:
        """Return which of `count` lines from `first` on are marked, the first being 1."""
        return tuple(
            number + 1
            for number in range(count)
            if first + number < len(self.lines)
            and self.mark_within(self.starts[first + number], self.starts[first + number + 1] - 1)
        )

    def mark_within(self, start: int, end: int) -> str | None:
        """Return the id of a mark that covers some of a span."""
        overlapping = (m.id for m in self.stored.marks if m.start < end and start < m.end)
        return next(overlapping, None)

    def take_section_id(self, line: int) -> str | None:
        """Return the id of the section that begins in a line, once: the outermost block has it."""
        return self._section_ids.pop(line, None)

    def id_attribute(self, mark_id: str) -> str:
        """Return the attribute that names the first element of a mark, and nothing later."""
        if mark_id in self.named:
            return ""
        self.named.add(mark_id)
        return f' id="{escape(mark_id)}"'


class _Parser(MarkdownIt):
    """Parses every link: `_set_address` decides which of them lead anywhere."""

    @override
    def validateLink(self, url: str) -> bool:
        return True


@cache
def _parser() -> MarkdownIt:
    parser = _Parser("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
    parser.use(scrolling_tables_plugin)
    parser.use(plain_emphasis_plugin)
    # What looks like HTML is text, and entities were decoded when the page was read.
    parser.disable(["html_block", "html_inline", "entity"])
    parser.core.ruler.before("inline", "put_markers", _put_markers)
    parser.core.ruler.push("shown_tokens", _prepare_tokens)
    for name, rule in {
        "fence": _render_code,
        "code_block": _render_code,
        "image": _render_image,
        "marked": _render_marked,
        **dict.fromkeys(("math_inline", "math_inline_double"), _render_formula),
        **dict.fromkeys(("math_block", "math_block_label"), _render_formula),
    }.items():
        parser.add_render_rule(name, rule)
    return parser


def _put_markers(state: StateCore) -> None:
    rendering: _Rendering = state.env["rendering"]
    if rendering.stored.marks:
        for token in state.tokens:
            if token.type == "inline":
                rendering.put_markers(token)


def _prepare_tokens(state: StateCore) -> None:
    rendering: _Rendering = state.env["rendering"]
    left_out = rendering.stored.left_out_heading
    kept: list[Token] = []
    for number, token in enumerate(state.tokens):
        if token.type in ("heading_open", "heading_close"):
            level = int(token.tag[1]) + rendering.stored.heading_shift
            token.tag = f"h{min(max(level, 2), _DEEPEST_HEADING)}"
        if token.nesting == 1 and token.map:
            section_id = rendering.take_section_id(token.map[0])
            if section_id is not None:
                token.attrSet("id", section_id)
        if token.type == "heading_open" and token.map:
            is_title = token.map[0] == 0 and state.tokens[number + 1].content == left_out
            token.hidden = bool(left_out) and is_title
        if token.type in ("td_open", "th_open") and "style" in token.attrs:
            # A strict content policy lets no style attributes through.
            align = str(token.attrs.pop("style")).removeprefix("text-align:")
            token.attrSet("class", f"align-{align}")
        if token.type == "inline":
            token.children = list(_shown_inline(token.children or [], rendering))
        kept.append(token)
    state.tokens = list(_without_hidden_headings(kept))


def _without_hidden_headings(tokens: Sequence[Token]) -> Iterator[Token]:
    is_hidden = False
    for token in tokens:
        is_hidden = is_hidden or (token.type == "heading_open" and token.hidden)
        if not is_hidden:
            yield token
        is_hidden = is_hidden and token.type != "heading_close"


def _shown_inline(tokens: Sequence[Token], rendering: _Rendering) -> Iterator[Token]:
    """Yield inline tokens with safe addresses; those inside a mark become `marked`."""
    pen = _Pen(rendering)
    in_link = False
    target, words = "", ""
    for token in tokens:
        if token.type == "link_open":
            target, words = _target_of(token), ""
            in_link = _set_address(token, rendering)
        elif token.type == "link_close":
            token.tag = "a" if in_link else "span"
            in_link = False
        elif token.type == "image":
            token.meta["in_link"] = in_link
        words += token.content
        if token.type == "text":
            yield from pen.mark_text(token.content)
        else:
            yield pen.mark_leaf(token) if token.type in _LEAVES else token
        is_end = token.type in ("link_close", "image") and rendering.stored.shows_addresses
        shown = _target_of(token) if token.type == "image" else target
        if is_end and not in_link and shown and shown != words:
            yield Token("text", "", 0, content=f" ({shown})")


class _Pen:
    """Marks the leaves of one inline token between the markers of their text."""

    def __init__(self, rendering: _Rendering) -> None:
        self._rendering = rendering
        self._mark: MarkedSpan | None = None

    def mark_text(self, content: str) -> Iterator[Token]:
        for piece in _MARKERS.split(content):
            if piece in (_START, _END):
                self._follow(piece)
            elif piece:
                yield self._marked(Token("text", "", 0, content=piece))

    def mark_leaf(self, token: Token) -> Token:
        """Mark code or a formula as a whole, wherever in it a mark begins or ends."""
        markers = _MARKERS.findall(token.content)
        token.content = _MARKERS.sub("", token.content)
        if markers[:1] == [_START]:
            self._follow(_START)
            markers = markers[1:]
        shown = self._marked(token)
        for marker in markers:
            self._follow(marker)
        return shown

    def _follow(self, marker: str) -> None:
        opened = self._rendering.opened
        self._mark = opened.popleft() if marker == _START and opened else None

    def _marked(self, leaf: Token) -> Token:
        if self._mark is None:
            return leaf
        token = Token("marked", "mark", 0, meta={"leaf": leaf})
        named = self._rendering.id_attribute(self._mark.id)
        token.attrSet("attributes", named + ' class="answer"' * self._mark.is_answer)
        return token


def _target_of(token: Token) -> str:
    return _MARKERS.sub("", str(token.attrs.get("href") or token.attrs.get("src") or ""))


def _set_address(token: Token, rendering: _Rendering) -> bool:
    """Set where a link leads; return whether it leads anywhere."""
    address = _target_of(token)
    token.attrs.clear()
    own, _, anchor = address.partition("#")
    if own in ("", rendering.stored.own_url) and anchor in rendering.stored.anchors:
        token.attrSet("href", f"#{rendering.stored.anchors[anchor]}")
        return True
    if own in rendering.stored.stored_pages:
        token.attrSet("href", rendering.stored.stored_pages[own])
        return True
    if not _WEB.match(address):
        token.tag = "span"
        return False
    token.attrSet("href", address)
    token.attrSet("rel", "noopener noreferrer nofollow")
    return True


def _render_marked(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    leaf: Token = tokens[index].meta["leaf"]
    inner = self.renderInline([leaf], options, env)
    wanted = env["rendering"].stored.question_words
    if leaf.type == "text" and wanted:
        inner = "".join(_with_bold(leaf.content, wanted))
    return f"<mark{tokens[index].attrs['attributes']}>{inner}</mark>"


def _with_bold(text: str, wanted: frozenset[str]) -> Iterator[str]:
    done = 0
    for match in _WORD.finditer(text):
        # A run of Chinese or Japanese is no word: parts of it are searched for.
        if not match[0].isascii() or wanted.isdisjoint(words(match[0])):
            continue
        yield _with_bold_runs(text[done : match.start()], wanted)
        yield f"<b>{escape(match[0])}</b>"
        done = match.end()
    yield _with_bold_runs(text[done:], wanted)


def _with_bold_runs(text: str, wanted: frozenset[str]) -> str:
    if text.isascii():
        return escape(text)
    runs = sorted(escape(word) for word in wanted if not word.isascii())
    if not runs:
        return escape(text)
    return re.sub(f"(?:{'|'.join(map(re.escape, runs))})+", r"<b>\g<0></b>", escape(text))


def _render_code(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    token, rendering = tokens[index], env["rendering"]
    first = (token.map[0] if token.map else 0) + (token.type == "fence")
    count = len(token.content.removesuffix("\n").split("\n"))
    info = FenceInfo(
        language=(token.info and parse_fence_info(token.info).language)
        or guess_language(token.content),
        title="",
        marked_lines=rendering.marked_lines(first, count),
    )
    html = code_block_html(token.content, info)
    if not info.marked_lines:
        return html
    line = first + info.marked_lines[0] - 1
    mark_id = rendering.mark_within(rendering.starts[line], rendering.starts[line + 1]) or ""
    return f'<div class="marked-code"{rendering.id_attribute(mark_id)}>{html}</div>'


def _render_image(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    token = tokens[index]
    address = _MARKERS.sub("", str(token.attrs.get("src", "")))
    alt = escape(_MARKERS.sub("", token.content).strip() or "image")
    if token.meta.get("in_link") or not _WEB.match(address):
        return f'<span class="image">{alt}</span>'
    relation = 'rel="noopener noreferrer nofollow"'
    return f'<a class="image" href="{escape(address)}" {relation}>{alt}</a>'


def _render_formula(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    return formula_html(tokens[index].content, is_block=tokens[index].type != "math_inline")
