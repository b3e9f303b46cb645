"""Read a `.hmsemb` model pack: a header, a tokenizer and weights in one file.

The file is the magic `HMSEMB01`, the header's length (u64, little-endian), a JSON header, the bytes
of `tokenizer.json`, then the tensors in the header's order. An int8 tensor is its values followed
by one f32 scale for each group of neighbouring values in a row.
"""

from __future__ import annotations

import json
import struct
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from citewell.core.errors import InferenceError
from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from citewell.inference.protocols import Vectors

MAGIC = b"HMSEMB01"
_PREFIX = struct.Struct("<8sQ")


@frozen
class QuantizedMatrix:
    """Rows of int8 values, with one scale for each group of neighbours."""

    values: npt.NDArray[np.int8]
    """Shape (rows, columns)."""
    scales: Vectors
    """Shape (rows, columns / group)."""

    def take_rows(self, rows: npt.NDArray[np.int64] | slice) -> Vectors:
        """Return the named rows as floats."""
        values, scales = self.values[rows], self.scales[rows]
        grouped = values.reshape(*scales.shape, -1).astype(np.float32)
        grouped *= scales[..., np.newaxis]
        return grouped.reshape(values.shape)


@frozen
class Pack:
    """An opened pack; its matrices are mapped from the file and read as they are touched."""

    architecture: Mapping[str, float]
    max_tokens: int
    tokenizer_json: str
    floats: Mapping[str, Vectors]
    matrices: Mapping[str, QuantizedMatrix]


def open_pack(path: Path) -> Pack:
    """Return the pack at `path`.

    Raises:
        InferenceError: the file is missing, cut short or of another format.
    """
    try:
        return _load_pack(path)
    except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
        raise InferenceError(
            "the embedding model's file cannot be read",
            suggestion="Install citewell again: pip install --force-reinstall citewell",
        ) from error


def _load_pack(path: Path) -> Pack:
    with path.open("rb") as file:
        magic, header_length = _PREFIX.unpack(file.read(_PREFIX.size))
        if magic != MAGIC:
            raise ValueError("not a model pack")
        header = json.loads(file.read(header_length))
        tokenizer_json = file.read(header["tokenizer_len"]).decode("utf-8")
        position = file.tell()

    floats: dict[str, Vectors] = {}
    matrices: dict[str, QuantizedMatrix] = {}
    for entry in header["tensors"]:
        if entry["dtype"] == "i8":
            matrices[entry["name"]] = _map_matrix(path, position, entry)
        else:
            floats[entry["name"]] = _read_floats(path, position, entry["shape"])
        position += entry["len"]
    return Pack(
        architecture=header["arch"],
        max_tokens=header["meta"]["max_length"],
        tokenizer_json=tokenizer_json,
        floats=floats,
        matrices=matrices,
    )


def _map_matrix(path: Path, position: int, entry: Mapping[str, Any]) -> QuantizedMatrix:
    rows, columns = entry["shape"]
    # Each matrix has its own mapping, so that dropping the matrix frees its memory.
    values = np.memmap(path, dtype=np.int8, mode="r", offset=position, shape=(rows, columns))
    scales = _read_floats(path, position + rows * columns, (rows, columns // entry["group"]))
    return QuantizedMatrix(values=values, scales=scales)


def _read_floats(path: Path, position: int, shape: Sequence[int]) -> Vectors:
    flat = np.fromfile(path, dtype="<f4", count=prod(shape), offset=position)
    return flat.reshape(shape).astype(np.float32, copy=False)
