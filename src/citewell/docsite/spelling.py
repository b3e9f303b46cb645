"""Words that the docs do not hold, as the written words that may have been meant."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Short words have too many neighbours for a guess to mean anything.
MIN_CORRECTED_CHARACTERS = 4
_MIN_CHARACTERS_FOR_TWO_EDITS = 7

MAX_GUESSES = 8

_LETTERS = string.ascii_lowercase


class Spellings:
    """The written words of all pages, kept as the one text that they come in.

    A list of them would take four times the memory; few queries look here.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        """One word to a line, in order."""

    def beginning_with(self, prefix: str) -> list[str]:
        """Return the shortest words that begin with `prefix`, other than itself."""
        longer = [form for form in self._all_beginning_with(prefix) if form != prefix]
        return sorted(longer, key=len)[:MAX_GUESSES]

    def near(self, word: str) -> list[str]:
        """Return the words one slip of the keyboard from `word`, else two for a long word.

        A slip leaves a letter out, adds, changes or swaps one. Of two, none is in the first letter.
        """
        if len(word) < MIN_CORRECTED_CHARACTERS or not word.isalpha():
            return []
        alike = set(self._all_beginning_with(word[0]))
        edits = set(_one_edit(word))
        guesses = [form for form in edits if form in alike or self._has_elsewhere(form, word[0])]
        if not guesses and len(word) >= _MIN_CHARACTERS_FOR_TWO_EDITS:
            guesses = [form for form in _worth_a_test(word, alike) if _is_within_two(word, form)]
        # Letters are changed or swapped more often than added or left out.
        return sorted(guesses, key=lambda form: (abs(len(form) - len(word)), form))[:MAX_GUESSES]

    def _all_beginning_with(self, prefix: str) -> list[str]:
        return self._text[self._place_of(prefix) : self._place_of(prefix + "\U0010ffff")].split()

    def _has_elsewhere(self, form: str, letter: str) -> bool:
        """Return whether a word is there that does not begin with `letter`."""
        if form.startswith(letter):
            return False
        place = self._place_of(form)
        return (
            self._text.startswith(form, place)
            and self._text[place + len(form) : place + len(form) + 1] in "\n"
        )

    def _place_of(self, form: str) -> int:
        """Return where the first word begins that does not come before `form`."""
        text = self._text
        low, high = 0, len(text)
        while low < high:
            start = text.rfind("\n", low, (low + high) // 2) + 1 or low
            end = text.find("\n", start, high)
            end = high if end < 0 else end
            if text[start:end] < form:
                low = end + 1
            else:
                high = start
        return low


def _worth_a_test(word: str, forms: Iterable[str]) -> Iterator[str]:
    letters = set(word)
    for form in forms:
        # Each slip brings in at most one new letter: most words are out before the real test.
        if abs(len(form) - len(word)) <= 2 and len(letters.symmetric_difference(form)) <= 4:
            yield form


def _one_edit(word: str) -> Iterator[str]:
    for cut in range(len(word) + 1):
        head, tail = word[:cut], word[cut:]
        for letter in _LETTERS:
            yield head + letter + tail
            if tail:
                yield head + letter + tail[1:]
        if tail:
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]


def _is_within_two(word: str, other: str) -> bool:
    """Return whether two words are two edits apart or less, a swap counting as one."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, start=1):
        above, row_before = row, before
        row = [i]
        for j, other_letter in enumerate(other, start=1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != other_letter))
            is_swap = i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == other_letter
            row.append(min(cost, row_before[j - 2] + 1) if is_swap else cost)
        if min(row) > 2:
            return False
        before = above
    return row[-1] <= 2
