"""Write an ONNX model without the `onnx` package: the few protobuf messages a graph needs.

The numbers are the field numbers of `onnx.proto`, which ONNX promises never to change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

CONTRIB_DOMAIN = "com.microsoft"
"""The domain of onnxruntime's own operators."""

_OPSET = 17
_IR_VERSION = 8
_ELEMENT_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}

Attribute = int | float | Sequence[int]
Shapes = Mapping[str, Sequence[int | str]]


class GraphWriter:
    """Collects constants and nodes; values are referred to by the names that calls return."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: dict[str, list[bytes]] = {}
        self._values = 0

    def constant(self, name: str, array: npt.ArrayLike) -> str:
        """Add an array under `name`; a name used twice keeps its first array."""
        if name not in self._constants:
            self._constants[name] = _tensor_field(5, name, np.asarray(array))
        return name

    def node(
        self,
        operator: str,
        inputs: Sequence[str],
        *,
        output: str | None = None,
        **attributes: Attribute,
    ) -> str:
        """Add a node with one output, named or not, and return the output's name."""
        [name] = self._add(operator, inputs, [output or self._new_name()], attributes)
        return name

    def node_with_outputs(
        self, operator: str, inputs: Sequence[str], *, outputs: int, **attributes: Attribute
    ) -> list[str]:
        """Add a node with several outputs and return their names."""
        return self._add(operator, inputs, [self._new_name() for _ in range(outputs)], attributes)

    def _new_name(self) -> str:
        self._values += 1
        return f"value_{self._values}"

    def _add(
        self,
        operator: str,
        inputs: Sequence[str],
        names: list[str],
        attributes: Mapping[str, Attribute],
    ) -> list[str]:
        message = [_text(1, name) for name in inputs]
        message += [_text(2, name) for name in names]
        message.append(_text(4, operator.rpartition(":")[2]))
        message += [_message(5, _attribute(name, value)) for name, value in attributes.items()]
        message.append(_text(7, operator.rpartition(":")[0]))
        self._nodes.append(b"".join(message))
        return names

    def to_bytes(self, *, inputs: Shapes, outputs: Shapes, input_type: str = "float32") -> bytes:
        """Return the model; outputs are floats, and a dimension with a name may vary."""
        graph = [_message(1, node) for node in self._nodes]
        graph.append(_text(2, "graph"))
        graph += chain.from_iterable(self._constants.values())
        graph += [_message(11, _value(name, shape, input_type)) for name, shape in inputs.items()]
        graph += [_message(12, _value(name, shape, "float32")) for name, shape in outputs.items()]
        opsets = [
            _message(8, _text(1, domain) + _number(2, version))
            for domain, version in (("", _OPSET), (CONTRIB_DOMAIN, 1))
        ]
        # Joined once: the constants are most of the model, and a copy costs 10 ms of page faults.
        graph_start = _key(7, 2) + _varint(sum(map(len, graph)))
        return b"".join([_number(1, _IR_VERSION), graph_start, *graph, *opsets])


def _tensor_field(field: int, name: str, array: npt.NDArray[np.generic]) -> list[bytes]:
    """Return a tensor in pieces, the last of which is its values."""
    values = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    start = b"".join(_number(1, size) for size in array.shape)
    start += _number(2, _ELEMENT_TYPES[array.dtype.name]) + _text(8, name)
    start += _key(9, 2) + _varint(len(values))
    return [_key(field, 2) + _varint(len(start) + len(values)), start, values]


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        kind, body = 1, _key(2, 5) + np.array(value, dtype="<f4").tobytes()
    elif isinstance(value, int):
        kind, body = 2, _number(3, value)
    else:
        kind, body = 7, b"".join(_number(8, item) for item in value)
    return _text(1, name) + body + _number(20, kind)


def _value(name: str, shape: Sequence[int | str], element_type: str) -> bytes:
    dimensions = b"".join(
        _message(1, _text(2, size) if isinstance(size, str) else _number(1, size)) for size in shape
    )
    tensor_type = _number(1, _ELEMENT_TYPES[element_type]) + _message(2, dimensions)
    return _text(1, name) + _message(2, _message(1, tensor_type))


def _text(field: int, value: str) -> bytes:
    return _message(field, value.encode("utf-8"))


def _message(field: int, body: bytes) -> bytes:
    return _key(field, 2) + _varint(len(body)) + body


def _number(field: int, value: int) -> bytes:
    return _key(field, 0) + _varint(value)


def _key(field: int, wire_type: int) -> bytes:
    return _varint(field << 3 | wire_type)


def _varint(value: int) -> bytes:
    # A negative number is written as its 64-bit two's complement.
    value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
