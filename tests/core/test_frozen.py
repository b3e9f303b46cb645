"""Records compare, hash and show themselves by their fields, as any frozen dataclass does."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, field, replace

import pytest
from typing_extensions import override

from citewell.core.frozen import frozen


@frozen
class Bird:
    name: str
    legs: int = 2
    seen_at: float = field(default=0.0, compare=False, repr=False)


@frozen
class Nest:
    bird: Bird


@frozen
class Nothing:
    pass


@frozen
class Secret:
    text: str

    @override
    def __repr__(self) -> str:
        return "Secret()"


def test_records_of_one_class_are_equal_by_the_fields_that_count() -> None:
    assert Bird(name="heron", seen_at=1.0) == Bird(name="heron", seen_at=2.0)
    assert Bird(name="heron") != Bird(name="heron", legs=1)
    assert Nest(bird=Bird(name="heron")) == Nest(bird=Bird(name="heron"))
    assert Nothing() == Nothing()


def test_records_of_other_classes_and_other_values_are_not_equal() -> None:
    others: list[object] = [("heron", 2), Secret(text="heron"), Bird(name="egret")]

    assert Bird(name="heron") not in others


def test_equal_records_are_one_key() -> None:
    counts = {Bird(name="heron", seen_at=1.0): 1, Nothing(): 0}

    assert counts[Bird(name="heron")] == 1
    assert hash(Nothing()) == hash(Nothing())
    assert Bird(name="egret") not in counts


def test_a_record_shows_its_fields_unless_it_shows_itself() -> None:
    assert repr(Nest(bird=Bird(name="heron", seen_at=1.0))) == (
        "Nest(bird=Bird(name='heron', legs=2))"
    )
    assert repr(Secret(text="heron")) == "Secret()"


def test_a_record_is_not_changed_but_copied() -> None:
    heron = Bird(name="heron")

    with pytest.raises(FrozenInstanceError):
        heron.legs = 1  # type: ignore[misc]  # what is tested
    assert replace(heron, legs=1) == Bird(name="heron", legs=1)
