"""Calls that a process works on at once."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from citewell.core.errors import Overloaded
from citewell.tools.load import Load


def test_one_caller_leaves_room_for_others() -> None:
    load = Load()

    with ExitStack() as calls:
        for _ in range(3):
            calls.enter_context(load.working("one", max_calls=4))
        with pytest.raises(Overloaded, match="busy with 3 of your own calls"):
            calls.enter_context(load.working("one", max_calls=4))
        calls.enter_context(load.working("another", max_calls=4))
        with pytest.raises(Overloaded, match="busy with 4 calls"):
            calls.enter_context(load.working("another", max_calls=4))
    with load.working("one", max_calls=4):
        pass
