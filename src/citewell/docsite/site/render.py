"""Render Markdown as HTML: the parser with its plugins, and the resulting page."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from functools import cache
from html import escape, unescape
from typing import TYPE_CHECKING
from urllib.parse import unquote

from markdown_it import MarkdownIt
from mdit_py_plugins.attrs import attrs_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from citewell.core.frozen import frozen
from citewell.docsite.site.callouts import callout_plugin
from citewell.docsite.site.code_blocks import code_block_html, parse_fence_info, without_notes
from citewell.docsite.site.diagram_room import estimate_height
from citewell.docsite.site.formulas import formula_html
from citewell.docsite.site.includes import MAX_DEPTH, IncludeBudget, parse_include
from citewell.docsite.site.links import ID_IN_HTML
from citewell.docsite.site.sanitize import sanitized
from citewell.docsite.site.tables import scrolling_tables_plugin
from citewell.ingest.extract.markdown.slug import SlugCounter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

    from citewell.docsite.site.includes import Include, IncludedFiles
    from citewell.docsite.site.links import PageAddresses

_HEADING_ID = re.compile(r"(?<![ \t])[ \t]*+\{:?[ \t]*+#([\w.:-]++)[^{}]*+\}[ \t]*+$")
_TASK_BOX = '<input class="task-list-item-checkbox"'
_TEXT_ALIGN = re.compile(r"text-align:(left|center|right)")
# Bounded, because a page of opening brackets and quotes would take too long.
_HTML_TAG = re.compile(r"<[a-zA-Z](?:[^<>\"']|\"[^\"]{0,4000}\"|'[^']{0,4000}'){0,1000}>")
_HTML_ADDRESS = re.compile(
    r"(?<=[\s\"'/])(href|src|poster)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE
)
_PLACE_LINK = re.compile(r"<a href=\"#([^\"]+)\"(?: title=\"[^\"]*\")?>")
LONG_OUTLINE = 100
"""Of more headings, only those of the upper level are listed: FastAPI's release notes have 903."""
UPPER_LEVEL = 2
_NONCHARACTERS = re.compile("[\ufdd0-\ufdef]")


@frozen
class OutlineEntry:
    """A heading of a page."""

    level: int
    text: str
    anchor: str


@frozen
class RenderedMarkdown:
    """The content of a page as HTML, with its headings."""

    html: str
    outline: tuple[OutlineEntry, ...]
    has_diagrams: bool = False
    """Whether it holds Mermaid diagrams, which a script draws."""

    @property
    def heading(self) -> str | None:
        """The words of the first heading of level 1."""
        return next((entry.text for entry in self.outline if entry.level == 1), None)


@dataclass(slots=True, kw_only=True)
class _Page:
    """The state of rendering one page."""

    addresses: PageAddresses
    anchors: Mapping[int, str]
    allow_html: bool
    includes: IncludedFiles | None = None
    depth: int = 0
    """The depth of includes."""
    budget: IncludeBudget = field(default_factory=IncludeBudget)
    has_diagrams: bool = False
    slugs: SlugCounter = field(default_factory=SlugCounter)
    used_anchors: dict[str, int] = field(default_factory=dict)
    """Each with the last number that was appended to it."""
    outline: list[OutlineEntry] = field(default_factory=list)
    mark: str = field(default_factory=lambda: secrets.token_hex(8))
    """Random, so that a page cannot write the name of a kept fragment itself."""
    kept: list[str] = field(default_factory=list)

    def keep(self, html: str) -> str:
        """Keep our own HTML out of the sanitiser; return its placeholder."""
        self.kept.append(html)
        return f"\ufdd0{self.mark}.{len(self.kept) - 1}\ufdd1"

    def put_back(self, html: str) -> str:
        """Return `html` with every kept fragment in its place."""
        pattern = f"\ufdd0{self.mark}\\.(\\d+)\ufdd1"
        return re.sub(pattern, lambda match: self.kept[int(match[1])], html)


def render_markdown(
    text: str,
    addresses: PageAddresses,
    *,
    anchors: Mapping[int, str] | None = None,
    allow_html: bool = False,
    includes: IncludedFiles | None = None,
) -> RenderedMarkdown:
    """Return Markdown without front matter as HTML; files are taken in where there are `includes`.

    `anchors` are those of headings that are known, by line, the first being 1: what search
    results point to. With `allow_html` the HTML inside the Markdown is trusted, else sanitised.
    """
    page = _Page(
        addresses=addresses, anchors=anchors or {}, allow_html=allow_html, includes=includes
    )
    html = _mark_missing_places(_render(text, page), addresses)
    return RenderedMarkdown(html=html, outline=tuple(page.outline), has_diagrams=page.has_diagrams)


def _mark_missing_places(html: str, addresses: PageAddresses) -> str:
    """Note the links of a page to places that it does not have, and mark them in its HTML."""
    own = [link for link in addresses.anchored if link.path == addresses.path]
    if not own:
        return html
    # Browsers know the top of every page.
    places = {"top", *(unescape(name) for name in ID_IN_HTML.findall(html))}
    missing = [link for link in own if link.anchor not in places]
    addresses.broken.extend(link.written for link in missing)
    anchors = {link.anchor for link in missing}

    def marked(match: re.Match[str]) -> str:
        if unquote(unescape(match[1])) not in anchors:
            return match[0]
        return f'<a href="#{match[1]}" title="There is no such place on this page" class="missing">'

    return _PLACE_LINK.sub(marked, html)


def _render(text: str, page: _Page) -> str:
    html: str = _parser().render(_NONCHARACTERS.sub("", text), {"page": page})
    return page.put_back(html if page.allow_html else sanitized(html))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.use(gfm_autolink_plugin).use(tasklists_plugin).use(footnote_plugin).use(deflist_plugin)
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
    parser.use(attrs_plugin, allowed=("id", "width", "height", "title"))
    parser.use(callout_plugin).use(scrolling_tables_plugin)
    parser.core.ruler.push("structure", _resolve_structure)
    parser.core.ruler.push("addresses", _resolve_addresses)
    parser.core.ruler.push("aligned_cells", _align_cells)
    parser.core.ruler.push("task_boxes", _keep_task_boxes)
    parser.add_render_rule("fence", _render_fence)
    parser.add_render_rule("code_block", _render_fence)
    parser.add_render_rule("heading_close", _render_heading_close)
    for formula in ("math_inline", "math_inline_double", "math_block", "math_block_label"):
        parser.add_render_rule(formula, _render_formula)
    return parser


def _resolve_structure(state: StateCore) -> None:
    """Give headings their ids and include files, in the order of the page."""
    for index, token in enumerate(state.tokens):
        if token.type == "heading_open":
            _name_heading(state, index)
        elif token.type in ("inline", "html_block"):
            _take_in_file(state, index)


def _take_in_file(state: StateCore, index: int) -> None:
    """Replace a paragraph or comment with the file that it includes."""
    page: _Page = state.env["page"]
    token = state.tokens[index]
    is_paragraph = token.type == "inline" and state.tokens[index - 1].type == "paragraph_open"
    is_text = is_paragraph or token.type == "html_block"
    include = parse_include(token.content) if is_text and page.includes is not None else None
    if include is None:
        return
    if is_paragraph:
        # A paragraph cannot contain a program.
        state.tokens[index - 1].hidden = state.tokens[index + 1].hidden = True
    token.content = page.keep(_included_html(include, page))
    token.type = "html_block"
    token.children = []


def _included_html(include: Include, page: _Page) -> str:
    text = _included_text(include, page)
    if text is None:
        name = escape(include.name)
        return f'<p class="not-included">{name} is not part of this documentation.</p>'
    suffix = include.name.rpartition(".")[2].lower()
    if include.is_code or suffix not in ("md", "markdown", "txt"):
        marked = f' hl_lines="{include.marked}"' if include.marked else ""
        return code_block_html(text, parse_fence_info(f"{suffix}{marked}"))
    inner = _Page(
        addresses=page.addresses,
        anchors={},
        allow_html=page.allow_html,
        includes=page.includes,
        depth=page.depth + 1,
        budget=page.budget,
        slugs=page.slugs,
        used_anchors=page.used_anchors,
        outline=page.outline,
    )
    html = _render(text, inner)
    page.has_diagrams |= inner.has_diagrams
    return html


def _included_text(include: Include, page: _Page) -> str | None:
    text = None
    if page.includes is not None and page.depth < MAX_DEPTH and page.budget.characters > 0:
        text = page.includes.read(include, page_path=page.addresses.path)
    if text is None or not page.budget.spend(text):
        page.addresses.broken.append(include.name)
        return None
    return text


def _with_included_lines(code: str, page: _Page) -> str:
    """Return code with the files that its lines include."""
    lines = code.splitlines(keepends=True)
    for index, line in enumerate(lines):
        include = parse_include(line) if page.includes is not None else None
        text = None if include is None else _included_text(include, page)
        if text is not None:
            lines[index] = text if text.endswith("\n") else f"{text}\n"
    return "".join(lines)


def _name_heading(state: StateCore, index: int) -> None:
    page: _Page = state.env["page"]
    token, words = state.tokens[index], state.tokens[index + 1]
    own_id = _take_heading_id(words)
    text = " ".join(_plain_text(words.children or []).split())
    line = token.map[0] + 1 if token.map else 0
    anchor = page.anchors.get(line) or own_id or page.slugs.slug(text)
    anchor = _unused(anchor, page.used_anchors)
    token.attrSet("id", anchor)
    if token.level == 0:
        page.outline.append(OutlineEntry(level=int(token.tag[1]), text=text, anchor=anchor))


def _unused(anchor: str, used: dict[str, int]) -> str:
    """Return an anchor with a number after it if it is used, and note it."""
    unused = anchor
    while unused in used:
        used[anchor] += 1
        unused = f"{anchor}-{used[anchor]}"
    used[unused] = 0
    return unused


def _take_heading_id(words: Token) -> str | None:
    """Return the id that an author gave as `{#id}`, and take it out of the heading's words."""
    last = words.children[-1] if words.children else None
    match = _HEADING_ID.search(last.content) if last and last.type == "text" else None
    if last is None or match is None:
        return None
    last.content = last.content[: match.start()]
    return match.group(1)


def _plain_text(tokens: Sequence[Token]) -> str:
    parts: list[str] = []
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.type == "image":
            parts.append(_plain_text(token.children or []))
        elif token.type in ("text", "code_inline", "text_special", "math_inline"):
            parts.append(token.content)
    return "".join(parts)


def _resolve_addresses(state: StateCore) -> None:
    addresses: PageAddresses = state.env["page"].addresses
    for token in state.tokens:
        for part in (token, *(token.children or ())):
            if part.type == "link_open":
                _resolve(part, "href", addresses)
            elif part.type == "image":
                _resolve(part, "src", addresses)
                part.attrSet("loading", "lazy")
            elif part.type in ("html_block", "html_inline"):
                part.content = _resolve_in_html(part.content, addresses)


def _resolve(token: Token, name: str, addresses: PageAddresses) -> None:
    known_as_broken = len(addresses.broken)
    address = addresses.resolve(str(token.attrs.get(name, "")))
    if address is not None and name == "href" and len(addresses.broken) > known_as_broken:
        token.attrSet("title", "There is no such page")
        token.attrSet("class", "missing")
    if address is None:
        del token.attrs[name]
        token.attrSet("title", "This leads outside the documentation")
        token.attrSet("class", "inert")
    else:
        token.attrSet(name, address)


def _resolve_in_html(html: str, addresses: PageAddresses) -> str:
    def attribute(match: re.Match[str]) -> str:
        written = next(value for value in match.groups()[1:] if value is not None)
        address = addresses.resolve(unescape(written))
        return "" if address is None else f'{match[1]}="{escape(address)}"'

    return _HTML_TAG.sub(lambda tag: _HTML_ADDRESS.sub(attribute, tag[0]), html)


def _align_cells(state: StateCore) -> None:
    # The parser writes style attributes, which a strict content policy does not let through.
    for token in state.tokens:
        if token.type in ("td_open", "th_open") and "style" in token.attrs:
            match = _TEXT_ALIGN.search(str(token.attrs.pop("style")))
            if match:
                token.attrSet("class", f"align-{match.group(1)}")


def _keep_task_boxes(state: StateCore) -> None:
    # The plugin writes HTML, and the sanitiser lets no input through.
    page: _Page = state.env["page"]
    for token in state.tokens:
        for child in token.children or ():
            if child.type == "html_inline" and child.content.startswith(_TASK_BOX):
                checked = " checked" if "checked=" in child.content else ""
                name = escape(" ".join(_plain_text(token.children or ()).split())) or "Task"
                box = f'{_TASK_BOX} type="checkbox" aria-label="{name}"{checked} disabled>'
                child.content = page.keep(box)


def _render_fence(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    page: _Page = env["page"]
    info = parse_fence_info(tokens[index].info)
    if info.language == "math":
        return page.keep(formula_html(tokens[index].content, is_block=True)) + "\n"
    if info.language == "mermaid":
        page.has_diagrams = True
        # Without scripts its source is shown, which reads like a sketch.
        source = escape(tokens[index].content)
        room = f'style="--room: {estimate_height(tokens[index].content)}px"'
        opened = f'<pre class="diagram" {room} tabindex="0">'
        return page.keep(f"{opened}<code>{source}</code></pre>") + "\n"
    code = _with_included_lines(tokens[index].content, page)
    return page.keep(code_block_html(*without_notes(code, info))) + "\n"


def _render_formula(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    page: _Page = env["page"]
    is_block = tokens[index].type != "math_inline"
    return page.keep(formula_html(tokens[index].content, is_block=is_block))


def _render_heading_close(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    anchor = escape(str(tokens[index - 2].attrs.get("id", "")))
    label = 'aria-label="Link to this section"'
    level = int(tokens[index].tag[1])
    if level > UPPER_LEVEL and len(env["page"].outline) > LONG_OUTLINE:
        # A script adds it: in the release notes of FastAPI they are a fiftieth of the page.
        return f"</{tokens[index].tag}>\n"
    return f' <a class="permalink" href="#{anchor}" {label}>#</a></{tokens[index].tag}>\n'
