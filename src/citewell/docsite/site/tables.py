"""Tables that scroll sideways where they are wider than the page, and long code in their cells."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from markdown_it.common.utils import escapeHtml

from citewell.core.line_breaks import with_break_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

# The width of a command that is read in one piece even on a phone; the style sheet has it too.
_WHOLE_CODE_CHARACTERS = 16

LONG_CODE = "long-code"
"""The class of code that may be broken."""


def scrolling_tables_plugin(parser: MarkdownIt) -> None:
    """Render each table inside an element that the keyboard can scroll.

    Long code in a cell can be broken between its parts, so that it leaves room for other columns.
    """
    parser.core.ruler.push("long_code_in_cells", _mark_long_code)
    parser.add_render_rule("code_inline", _render_code)
    parser.add_render_rule("table_open", _render_table_open)
    parser.add_render_rule("table_close", _render_table_close)


def _render_table_open(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    return '<div class="table-scroll" tabindex="0"><table>\n'


def _render_table_close(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    return "</table></div>\n"


def _mark_long_code(state: StateCore) -> None:
    for before, token in pairwise(state.tokens):
        if before.type in ("td_open", "th_open"):
            for part in token.children or ():
                if part.type == "code_inline" and len(part.content) > _WHOLE_CODE_CHARACTERS:
                    part.attrSet("class", LONG_CODE)


def _render_code(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    token = tokens[index]
    html = escapeHtml(token.content)
    if token.attrs.get("class") == LONG_CODE:
        html = with_break_points(html, "<wbr>")
    return f"<code{self.renderAttrs(token)}>{html}</code>"
