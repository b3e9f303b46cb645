"""Quotes on pages that repeat their words take little time to be found."""

from __future__ import annotations

import time

from citewell.core.screen import Screen, find_on_screen


def test_a_quote_is_not_compared_with_every_word_of_a_page_that_repeats_one() -> None:
    shown = "a " * 400_000
    hidden = "a " * 398 + "b"
    before = time.process_time()

    place = find_on_screen(Screen(text=shown, folded=shown, quotable=shown), hidden, 0, len(hidden))

    # It took 50 seconds to look at all places; half of a second is usual.
    assert time.process_time() - before < 15
    assert place is not None
    assert place[0] == 0
