"""What differs between two texts."""

from __future__ import annotations

from citewell.core.difference import Change, find_changes, mark_difference

OLD = "# Herons\n\nHerons wade.\n\nThey eat fish.\n\nDefined in herons.py, line 3.\n"
NEW = "# Herons\n\nHerons wade\nand fly.\n\nThey eat fish.\n\nThey nest.\n\nDefined in herons.py, line 9.\n"


def test_changed_and_added_paragraphs_are_spans_of_both_texts() -> None:
    first, second = find_changes(OLD, (0, len(OLD)), NEW, (0, len(NEW)))

    assert first.old is not None
    assert first.new is not None
    assert OLD[slice(*first.old)] == "Herons wade."
    assert NEW[slice(*first.new)] == "Herons wade\nand fly."
    assert second.old is None
    assert second.new is not None
    assert NEW[slice(*second.new)] == "They nest."


def test_a_paragraph_that_moved_and_changed_is_compared_with_itself() -> None:
    wading = "Herons wade slowly into the water of a pond at dawn."
    old = f"{wading}\n\nThey nest.\n"
    new = f"They nest.\n\n{wading.replace('dawn', 'dusk')}\n"

    (change,) = find_changes(old, (0, len(old)), new, (0, len(new)))

    assert change.old is not None
    assert change.new is not None
    assert (old[slice(*change.old)], new[slice(*change.new)]) == (
        wading,
        wading.replace("dawn", "dusk"),
    )


def test_only_the_spans_are_compared() -> None:
    place = OLD.index("They")

    assert find_changes(OLD, (place, len(OLD)), NEW, (0, 0)) == [
        Change(old=(place, place + len("They eat fish.")), new=None)
    ]


def test_words_are_marked_and_line_breaks_are_not() -> None:
    marked = mark_difference("def wade(depth: int) -> None", "def wade(depth: float)\n-> None")

    assert marked == "def wade(depth: [-int-]{+float+})\n-> None"


def test_what_changes_within_one_word_is_marked_as_a_whole() -> None:
    marked = mark_difference("auth: Optional[Auth] = None, x: 1", "auth: Auth | None = None, x: 2")

    assert marked == "auth: [-Optional[Auth]-]{+Auth | None+} = None, x: [-1-]{+2+}"


def test_where_a_text_is_cut_is_no_difference() -> None:
    marked = mark_difference("a heron wades in the po", "an heron wades in", is_cut=True)

    assert marked == "[-a-]{+an+} heron wades in …"


def test_a_long_text_is_bounded() -> None:
    assert len(mark_difference("a b " * 50_000, "b a " * 50_000)) < 100_000
