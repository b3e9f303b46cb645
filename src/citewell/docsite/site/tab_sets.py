"""Which tabs belong together: each set becomes one element, `tabs_open … tabs_close`.

As Material for MkDocs and VitePress decide: neighbours in the same syntax are one set, with or
without blank lines between them; `===!` and the option `new: true` begin another one; and a
`::: code-group` is always a set by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markdown_it.token import Token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.rules_core import StateCore

TAB_SET = "tab_set"
"""In the `meta` of a token that opens or closes a tab: what its neighbours must share."""
STARTS_SET = "starts_set"


def group_tabs(state: StateCore) -> None:
    """Put an element around each set of tabs."""
    grouped: list[Token] = []
    for index, token in enumerate(state.tokens):
        name = token.meta.get(TAB_SET)
        if name and token.nesting > 0 and not _continues(state.tokens, index):
            grouped.append(_wrapper("tabs_open", 1, token))
        grouped.append(token)
        if name and token.nesting < 0 and not _continues(state.tokens, index + 1):
            grouped.append(_wrapper("tabs_close", -1, token))
    state.tokens = grouped


def _continues(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a tab opens at `index` that belongs to the set of the tab closed before."""
    if not 0 < index < len(tokens):
        return False
    before, after = tokens[index - 1], tokens[index]
    closes_then_opens = before.nesting < 0 < after.nesting
    is_same = after.meta.get(TAB_SET) == before.meta.get(TAB_SET) is not None
    return closes_then_opens and is_same and not after.meta.get(STARTS_SET)


def _wrapper(kind: str, nesting: int, tab: Token) -> Token:
    token = Token(kind, "div", nesting, block=True, level=tab.level)  # type: ignore[arg-type]  # 1 or -1
    if nesting > 0:
        token.attrs = {"class": "tabs"}
    return token
