"""Calls that a process works on at once."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from citewell.core.errors import Overloaded
from citewell.tools.load import MAX_CALLS, MAX_CALLS_OF_ONE, Load


def test_one_caller_leaves_room_for_others() -> None:
    load = Load()

    with ExitStack() as calls:
        for _ in range(MAX_CALLS_OF_ONE):
            calls.enter_context(load.working("one"))
        with pytest.raises(Overloaded, match="busy with 75 of your own calls"):
            calls.enter_context(load.working("one"))
        for _ in range(MAX_CALLS - MAX_CALLS_OF_ONE):
            calls.enter_context(load.working("another"))
        with pytest.raises(Overloaded, match="busy with 100 calls"):
            calls.enter_context(load.working("another"))
    with load.working("one"):
        pass
