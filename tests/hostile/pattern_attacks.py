"""Attack strings for a regular expression, made from its own syntax tree.

A pattern is slow where a repeat can be entered, or left, at many places of one text. So for each
repeat the attack is: what leads to it, many times what it repeats, and an end that fits nothing;
and many times what leads to it, for a search that begins anew at each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# The tree of a pattern has no public name, and no types.
sre: Any = import_module("re._constants")
sre_parser: Any = import_module("re._parser")

_Node = tuple[Any, Any]
"""An operation of the pattern and its argument."""

_VARIANTS = 3
# A repeat of fewer is no matter.
_MANY = 8
_MOST = 1_000
_MAX_ATTACKS = 90
_SPARE = 'a 1\n<[(\\`_*#-."あA\t/>])x:='
_ENDS = ("\x00", "a", "\n\x00", "")
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_CATEGORY_CHARACTERS = {
    sre.CATEGORY_DIGIT: "17",
    sre.CATEGORY_NOT_DIGIT: "a <[",
    sre.CATEGORY_SPACE: " \n\t",
    sre.CATEGORY_NOT_SPACE: "a<[(1",
    sre.CATEGORY_WORD: "a1_A",
    sre.CATEGORY_NOT_WORD: " .<[",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A text that can be made as long as one likes."""

    prefix: str
    pump: str
    end: str

    def text(self, length: int) -> str:
        """Return the attack with about `length` characters."""
        return self.prefix + self.pump * max(length // len(self.pump), 2) + self.end


def attacks_on(pattern: re.Pattern[Any]) -> Iterator[Attack]:
    """Yield texts that make a careless `pattern` slow."""
    tree = sre_parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    maker = _AttackMaker(bool(pattern.flags & re.DOTALL))
    maker.walk(list(tree), "")
    seen: set[tuple[str, str]] = set()
    for prefix, pump in maker.attacks():
        if not pump or (prefix, pump) in seen:
            continue
        seen.add((prefix, pump))
        if len(seen) > _MAX_ATTACKS:
            return
        for end in _ENDS:
            yield Attack(prefix=prefix, pump=pump, end=end)


class _AttackMaker:
    def __init__(self, dot_is_all: bool) -> None:
        self._dot_is_all = dot_is_all
        self._found: list[tuple[str, list[str]]] = []

    def attacks(self) -> Iterator[tuple[str, str]]:
        prefixes = list(dict.fromkeys(prefix for prefix, _ in self._found))
        pumps = list(dict.fromkeys(pump for _, pumps in self._found for pump in pumps))
        for prefix, own in self._found:
            for pump in own:
                yield prefix, pump
                yield "", prefix + pump
            yield "", prefix
        for prefix in prefixes[:8]:
            for pump in pumps[:24]:
                yield prefix, pump
                yield "", prefix + pump

    def walk(self, items: Sequence[_Node], prefix: str) -> None:
        """Find the repeats of a sequence; `prefix` leads to its beginning."""
        for index, (op, argument) in enumerate(items):
            here = prefix + self.sample(items[:index], 1)
            for part in _parts(op, argument):
                self.walk(part, here)
            if op in _REPEATS and argument[1] >= _MANY:
                body = list(argument[2])
                pumps = [self.sample(body, variant) for variant in range(_VARIANTS)]
                # What may as well follow the repeat as go on with it.
                following = items[index + 1 : index + 2]
                pumps += [self.sample(following, variant) for variant in range(_VARIANTS)]
                pumps += self._alphabet(body)
                pumps = [pump for pump in dict.fromkeys(pumps) if pump]
                self._found.append((here, pumps))
                if argument[1] is not sre.MAXREPEAT:
                    # A bounded repeat is slow where it is entered anew right after its bound.
                    most = int(min(argument[1], _MOST))
                    self._found.append(("", [here + pump * most for pump in pumps]))
                bare = prefix + self.sample(items[:index], 0)
                if bare != here:
                    self._found.append((bare, pumps[:2]))
        if items:
            self._found.append((prefix, [self.sample(items, 1)]))

    def sample(self, items: Sequence[_Node], variant: int) -> str:
        """Return a text that the sequence matches, or nearly so."""
        return "".join(self._sample_one(op, argument, variant) for op, argument in items)

    def _sample_one(self, op: object, argument: Any, variant: int) -> str:
        if op is sre.LITERAL:
            return chr(argument)
        if op in (sre.NOT_LITERAL, sre.IN, sre.ANY):
            characters = self._characters(op, argument)
            return characters[variant % len(characters)] if characters else ""
        if op in _REPEATS:
            least, most, body = argument
            times = min(max(least, 1 if variant else least), most)
            return self.sample(list(body), variant) * int(min(times, 8))
        if op is sre.SUBPATTERN:
            return self.sample(list(argument[3]), variant)
        if op is sre.ATOMIC_GROUP:
            return self.sample(list(argument), variant)
        if op is sre.BRANCH:
            branches = argument[1]
            return self.sample(list(branches[variant % len(branches)]), variant)
        return ""

    def _alphabet(self, items: Sequence[_Node]) -> list[str]:
        """Return single characters and alternatives that a repeated body can begin with."""
        letters: list[str] = []
        for op, argument in items[:2]:
            if op in (sre.NOT_LITERAL, sre.IN, sre.ANY):
                letters += self._characters(op, argument)[:10]
            elif op in _REPEATS:
                letters += self._alphabet(list(argument[2]))
            elif op is sre.SUBPATTERN:
                letters += self._alphabet(list(argument[3]))
            elif op is sre.BRANCH:
                for branch in argument[1]:
                    letters.append(self.sample(list(branch), 1))
                    letters.append(self.sample(list(branch), 0))
        return letters

    def _characters(self, op: object, argument: Any) -> list[str]:
        if op is sre.ANY:
            return [each for each in _SPARE if self._dot_is_all or each != "\n"]
        if op is sre.NOT_LITERAL:
            return [each for each in _SPARE if ord(each) != argument]
        if argument and argument[0][0] is sre.NEGATE:
            return [each for each in _SPARE if not _is_in(each, argument[1:])]
        letters: list[str] = []
        for kind, value in argument:
            if kind is sre.LITERAL:
                letters.append(chr(value))
            elif kind is sre.RANGE:
                letters.append(chr(value[0]))
            elif kind is sre.CATEGORY:
                letters += _CATEGORY_CHARACTERS[value]
        return letters


def _parts(op: object, argument: Any) -> list[list[_Node]]:
    """Return the sequences inside a node."""
    if op in _REPEATS:
        return [list(argument[2])]
    if op is sre.SUBPATTERN:
        return [list(argument[3])]
    if op is sre.ATOMIC_GROUP:
        return [list(argument)]
    if op in (sre.ASSERT, sre.ASSERT_NOT):
        return [list(argument[1])]
    return [list(branch) for branch in argument[1]] if op is sre.BRANCH else []


def _is_in(character: str, items: Sequence[_Node]) -> bool:
    for kind, value in items:
        if kind is sre.LITERAL and ord(character) == value:
            return True
        if kind is sre.RANGE and value[0] <= ord(character) <= value[1]:
            return True
        if kind is sre.CATEGORY and re.match(_CATEGORY_PATTERNS[value], character):
            return True
    return False


_CATEGORY_PATTERNS = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}
