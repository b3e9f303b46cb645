"""Selectors, matched in time that grows with the page and not with its nesting.

Lexbor matches what stands between combinators; on its own it would take time that is exponential in
their number. Here each combinator asks a question of parents or siblings that is answered once for
each element.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from selectolax.lexbor import SelectolaxError

from citewell.core.frozen import frozen
from citewell.ingest.extract.hiding.values import as_css

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from selectolax.lexbor import LexborHTMLParser, LexborNode
    from tinycss2.ast import Node

_MAX_COMPOUNDS = 12
_MAX_SELECTORS = 60
_COMBINATORS = frozenset({">", "+", "~"})
_PSEUDO_ELEMENT = re.compile(
    r"::|:(?:before|after|first-line|first-letter|selection|host|slotted)\b", re.IGNORECASE
)
# Shown when the reader chooses it: a ticked box, the target of a link, an opened element, a
# footnote under the pointer.
_STATE_PSEUDO = re.compile(
    r":(?:checked|target|focus-within|popover-open|open|hover)\b|\[open\]", re.I
)
_HOVER = re.compile(r":hover\b", re.I)
_FIRST_LINE = re.compile(r"::?first-line\Z", re.IGNORECASE)
_LANGUAGE = re.compile(r":lang\(\s*[\"']?([\w-]{1,20})[\"']?\s*\)", re.IGNORECASE)
_DIRECTION = re.compile(r":dir\(\s*(ltr|rtl)\s*\)", re.IGNORECASE)
_STATE_CLASS = re.compile(
    r"\.(?:is-)?(?:active|shown?|opened|open|expanded|visible|current|selected|in)\b", re.I
)
# Lexbor looks through all siblings or descendants of every element for these.
_COSTLY = re.compile(r":(?:has|nth|last|only|first-of)", re.IGNORECASE)
_WHERE_OR_STRING = re.compile(r":where\([^()]*\)|\"[^\"]*\"|'[^']*'")
_PSEUDO_CLASS = re.compile(r":(?!is\b|not\b|has\b)")
_TAG = re.compile(r"(?:^|[\s(,])[a-z]", re.IGNORECASE)
_NAME = re.compile(r"[.#]((?:[\w-]|[^\x00-\x7f])+)(?!\\)")

_MAX_COSTLY_TAGS = 2_000
_MAX_COSTLY_SELECTORS = 10
_MAX_TAGS_LOOKED_AT = 20_000_000
_MAX_MATCHES = 200_000


@frozen
class Selector:
    """Compound selectors with the combinators between them, and the specificity of the whole."""

    compounds: tuple[str, ...]
    combinators: tuple[str, ...]
    specificity: tuple[int, int, int]
    is_state: bool = False
    """Whether it is about a state that the reader brings about, now left out of the compounds."""
    is_first_line: bool = False
    """Whether it is about the first line of what it matches."""


def parse_selectors(prelude: Sequence[Node], around: tuple[Selector, ...]) -> tuple[Selector, ...]:
    """Return the selectors of a rule inside rules for `around`, as far as they are understood."""
    selectors: list[Selector] = []
    for part in _split_at_commas(prelude)[:_MAX_SELECTORS]:
        has_parent = any(node.type == "literal" and node.value == "&" for node in part)
        parents: Iterable[Selector | None] = around or (None,)
        for parent in parents:
            if len(selectors) >= _MAX_SELECTORS:
                return tuple(selectors)
            selector = _parse(part, parent, is_relative=bool(around) and not has_parent)
            if selector is not None:
                selectors.append(selector)
    return tuple(selectors)


def within(around: tuple[Selector, ...], prelude: Sequence[Node]) -> tuple[Selector, ...]:
    """Return the roots of a @scope rule, to which its selectors are relative."""
    block = next((node for node in prelude if node.type == "() block"), None)
    return around if block is None else parse_selectors(block.content, around) or around


def _split_at_commas(nodes: Sequence[Node]) -> list[list[Node]]:
    parts: list[list[Node]] = [[]]
    for node in nodes:
        if node.type == "literal" and node.value == ",":
            parts.append([])
        elif node.type != "comment":
            parts[-1].append(node)
    return parts


def _parse(nodes: Sequence[Node], parent: Selector | None, *, is_relative: bool) -> Selector | None:
    compounds: list[str] = list(parent.compounds) if parent and is_relative else []
    combinators: list[str] = list(parent.combinators) if parent and is_relative else []
    start = len(compounds)
    waiting = " " if compounds else ""
    current = ""
    for node in nodes:
        is_literal = node.type == "literal"
        if node.type == "whitespace" or (is_literal and node.value in _COMBINATORS):
            if current:
                compounds.append(current)
                current, waiting = "", " "
            if is_literal:
                waiting = node.value
            continue
        if waiting and not current and compounds:
            combinators.append(waiting)
        if is_literal and node.value == "&" and parent is not None:
            compounds.extend(parent.compounds[:-1])
            combinators.extend(parent.combinators)
            current = parent.compounds[-1]
            continue
        is_list = node.type == "function" and not node.lower_name.startswith("nth")
        if is_list and _has_combinator(node.arguments):
            return None
        written = as_css([node])
        if not written:
            return None
        current += written
    if current:
        compounds.append(current)
    _join_scope(compounds, combinators, at=start)
    return _selector(list(map(_plain, compounds)), combinators)


def _join_scope(compounds: list[str], combinators: list[str], *, at: int) -> None:
    """Make `:scope` the root of the rules around, not something inside of it."""
    if 0 < at < len(compounds) and compounds[at].startswith(":scope"):
        compounds[at - 1] += compounds.pop(at).removeprefix(":scope")
        combinators.pop(at - 1)


def _plain(compound: str) -> str:
    """Return a compound with pseudo-classes of language and direction as attributes."""
    if ":lang(" in compound or ":dir(" in compound:
        compound = _LANGUAGE.sub(r'[lang|="\1" i]', compound)
        compound = _DIRECTION.sub(r'[dir="\1" i]', compound)
    return compound


def _selector(compounds: list[str], combinators: list[str]) -> Selector | None:
    is_first_line = bool(compounds) and _FIRST_LINE.search(compounds[-1]) is not None
    if is_first_line:
        compounds = [*compounds[:-1], _FIRST_LINE.sub("", compounds[-1]) or "*"]
    text = " ".join(compounds)
    if not compounds or len(compounds) > _MAX_COMPOUNDS or _PSEUDO_ELEMENT.search(text):
        return None
    if len(combinators) != len(compounds) - 1:
        return None
    is_state = bool(_STATE_PSEUDO.search(text) or _STATE_CLASS.search(text))
    # Nobody can point at what is not there.
    if is_state and ":not(" not in text and not _HOVER.search(compounds[-1]):
        relaxed = [_STATE_CLASS.sub("", _STATE_PSEUDO.sub("", part)) or "*" for part in compounds]
        # A rule for whatever is active says nothing about a certain element.
        is_state = relaxed[-1] != "*"
        compounds = relaxed if is_state else compounds
    else:
        is_state = False
    return Selector(
        compounds=tuple(compounds),
        combinators=tuple(combinators),
        specificity=_specificity(text),
        is_state=is_state,
        is_first_line=is_first_line,
    )


def _specificity(text: str) -> tuple[int, int, int]:
    plain = _WHERE_OR_STRING.sub("", text)
    classes = plain.count(".") + plain.count("[") + len(_PSEUDO_CLASS.findall(plain))
    return plain.count("#"), classes, len(_TAG.findall(plain))


def _has_combinator(nodes: Sequence[Node]) -> bool:
    """Return whether a list of selectors, as in :is(), is of more than compound selectors."""
    is_spaced = has_compound = False
    for node in nodes:
        is_literal = node.type == "literal"
        if is_literal and node.value in _COMBINATORS:
            return True
        if node.type == "whitespace":
            is_spaced = has_compound
        elif is_literal and node.value == ",":
            is_spaced = has_compound = False
        elif is_spaced:
            return True
        else:
            has_compound = True
    return False


@dataclass(slots=True)
class SelectorMatcher:
    """Finds the elements of one page that selectors match; it gives up on hostile sheets."""

    parsed: LexborHTMLParser
    html: str
    """The page without its sheets, to see which names occur on it at all."""
    _compounds: dict[str, dict[int, LexborNode]] = field(default_factory=dict)
    _tags_left: int = _MAX_TAGS_LOOKED_AT
    _matches_left: int = _MAX_MATCHES
    _costly_left: int = _MAX_COSTLY_SELECTORS

    def match(self, selector: Selector) -> dict[int, LexborNode]:
        """Return the elements that the selector matches, by their ids in memory."""
        if self._matches_left <= 0 or not all(map(self._can_match, selector.compounds)):
            return {}
        matched = self._match_compound(selector.compounds[-1])
        self._matches_left -= len(matched)
        if not matched or not selector.combinators:
            return matched
        context = self._match_compound(selector.compounds[0])
        for compound, combinator in zip(selector.compounds[1:], selector.combinators, strict=True):
            candidates = self._match_compound(compound)
            context = _related(context, combinator, candidates)
            self._matches_left -= len(candidates)
            if not context:
                break
        return context

    def _can_match(self, compound: str) -> bool:
        """Return whether the names of a compound occur on the page at all."""
        if ":" in compound or "\\" in compound:
            return True
        return all(name in self.html for name in _NAME.findall(compound))

    def _match_compound(self, compound: str) -> dict[int, LexborNode]:
        known = self._compounds.get(compound)
        if known is not None:
            return known
        matched: dict[int, LexborNode] = {}
        if self._may_look(compound):
            try:
                matched = {node.mem_id: node for node in self.parsed.css(compound)}
            except SelectolaxError:
                matched = {}
            self._matches_left -= len(matched)
        self._compounds[compound] = matched
        return matched

    def _may_look(self, compound: str) -> bool:
        tags = self.html.count("<")
        if _COSTLY.search(compound):
            self._costly_left -= 1
            if tags > _MAX_COSTLY_TAGS or self._costly_left < 0 or compound.count(":has") > 1:
                return False
        self._tags_left -= tags
        return self._tags_left > 0 and self._matches_left > 0


def _related(
    context: dict[int, LexborNode], combinator: str, candidates: dict[int, LexborNode]
) -> dict[int, LexborNode]:
    """Return the candidates that stand below or behind an element of the context."""
    if combinator == ">":
        return {
            key: node
            for key, node in candidates.items()
            if node.parent is not None and node.parent.mem_id in context
        }
    if combinator == "+":
        return {
            key: node
            for key, node in candidates.items()
            if (before := _previous(node)) is not None and before.mem_id in context
        }
    known: dict[int, bool] = {}
    return {
        key: node
        for key, node in candidates.items()
        if _follows(node, context, known, among_siblings=combinator == "~")
    }


def _follows(
    node: LexborNode,
    context: dict[int, LexborNode],
    known: dict[int, bool],
    *,
    among_siblings: bool,
) -> bool:
    """Return whether an ancestor or an earlier sibling is in the context."""
    passed: list[int] = []
    result = False
    step = _previous(node) if among_siblings else node.parent
    while step is not None:
        key = step.mem_id
        if key in context:
            result = True
            break
        if key in known:
            result = known[key]
            break
        passed.append(key)
        step = _previous(step) if among_siblings else step.parent
    known.update(dict.fromkeys(passed, result))
    return result


def _previous(node: LexborNode) -> LexborNode | None:
    before = node.prev
    while before is not None and not before.is_element_node:
        before = before.prev
    return before
