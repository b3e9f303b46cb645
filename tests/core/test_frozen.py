"""Records behave as frozen dataclasses, whose methods are made more cheaply."""

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from pathlib import Path

import pytest

from citewell.core.frozen import frozen


@frozen
class Buoy:
    """A record of every kind of field."""

    name: str
    tags: tuple[str, ...] = ()
    bursts: list[int] = field(default_factory=list)
    token: str = field(default="none", repr=False, compare=False)
    depth: int = field(default=7, init=False)


@frozen
class Moored(Buoy):
    """A record of a record."""

    place: Path = Path("quay")

    def __post_init__(self) -> None:
        if self.place == Path():
            raise ValueError("no place")


@frozen
class Nothing:
    """A record without fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """The same fields as those of a buoy, in a dataclass."""

    name: str
    tags: tuple[str, ...] = ()
    bursts: list[int] = field(default_factory=list)
    token: str = field(default="none", repr=False, compare=False)
    depth: int = field(default=7, init=False)


def test_a_record_is_shown_and_taken_apart_as_a_dataclass_is() -> None:
    ours, plain = Buoy(name="a", bursts=[1]), Plain(name="a", bursts=[1])

    assert repr(ours) == repr(plain).replace("Plain", "Buoy")
    assert asdict(ours) == asdict(plain)
    assert [each.name for each in fields(ours)] == [each.name for each in fields(plain)]
    assert Buoy.__match_args__ == Plain.__match_args__


def test_defaults_are_made_anew_for_every_record() -> None:
    first, second = Buoy(name="a"), Buoy(name="a")

    first.bursts.append(1)

    assert second.bursts == []


def test_records_are_equal_by_their_compared_fields_and_class() -> None:
    assert Buoy(name="a", token="b") == Buoy(name="a")
    assert Buoy(name="a") != Buoy(name="b")
    assert Moored(name="a") != Buoy(name="a")
    assert hash(Nothing()) == hash(Nothing())
    assert Nothing() == Nothing()


def test_a_record_refuses_to_be_changed() -> None:
    buoy = Moored(name="a")

    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        buoy.name = "b"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'place'"):
        del buoy.place
    with pytest.raises(FrozenInstanceError):
        buoy.unknown = 1  # type: ignore[attr-defined]


def test_a_record_is_copied_replaced_and_pickled() -> None:
    buoy = Moored(name="a", tags=("x",), bursts=[1])

    assert copy.deepcopy(buoy) == buoy
    assert pickle.loads(pickle.dumps(buoy)) == buoy
    assert replace(buoy, name="b") == Moored(name="b", tags=("x",), bursts=[1])


def test_fields_are_given_by_name_and_checked_after() -> None:
    with pytest.raises(TypeError, match=r"Buoy\.__init__\(\) missing .* 'name'"):
        Buoy()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'depth'"):
        Buoy(name="a", depth=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Buoy("a")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="no place"):
        Moored(name="a", place=Path())
