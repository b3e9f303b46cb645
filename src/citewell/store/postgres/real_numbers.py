"""Arrays of numpy as values of statements: numbers written as text cost ten times as much."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
from psycopg.adapt import Dumper
from psycopg.pq import Format
from typing_extensions import override

if TYPE_CHECKING:
    import numpy.typing as npt
    from psycopg.abc import AdaptContext

_REAL = 700
_ARRAY_OF_REAL = 1021
# Dimensions, null flag, element type; then length and lower bound.
_HEADER = struct.Struct(">iiIii")
_ELEMENT = np.dtype([("bytes", ">i4"), ("number", ">f4")])


def send_arrays_as_reals(context: AdaptContext) -> None:
    """Let statements of `context` take an array of any shape as a flat `real[]`."""
    assert context.adapters is not None, "a connection has adapters"
    context.adapters.register_dumper(np.ndarray, _RealArrayDumper)


class _RealArrayDumper(Dumper):
    format = Format.BINARY
    oid = _ARRAY_OF_REAL

    @override
    def dump(self, obj: npt.NDArray[np.float32]) -> bytes:
        elements = np.empty(obj.size, _ELEMENT)
        elements["bytes"] = 4
        elements["number"] = obj.ravel()
        return _HEADER.pack(1, 0, _REAL, obj.size, 1) + elements.tobytes()
