from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from citewell.core.errors import InferenceError
from citewell.inference.hms_pack import open_pack

VALUES = np.array([[1, -2, 3, 4], [5, 6, -7, 8]], dtype=np.int8)
SCALES = np.array([[0.5, 1.0], [2.0, 4.0]], dtype="<f4")
BIAS = np.array([0.25, -0.5], dtype="<f4")


def pack_bytes() -> bytes:
    header = {
        "meta": {"max_length": 512},
        "arch": {"hidden": 4},
        "tokenizer_len": 2,
        "tensors": [
            {"name": "w", "dtype": "i8", "shape": [2, 4], "len": 24, "group": 2},
            {"name": "b", "dtype": "f32", "shape": [2], "len": 8, "group": 0},
        ],
    }
    head = json.dumps(header).encode()
    tensors = VALUES.tobytes() + SCALES.tobytes() + BIAS.tobytes()
    return b"HMSEMB01" + struct.pack("<Q", len(head)) + head + b"{}" + tensors


def test_a_pack_gives_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "model.hmsemb"
    path.write_bytes(pack_bytes())

    pack = open_pack(path)

    assert pack.tokenizer_json == "{}"
    assert pack.max_tokens == 512
    assert pack.floats["b"].tolist() == [0.25, -0.5]
    assert pack.matrices["w"].take_rows(slice(None)).tolist() == [
        [0.5, -1, 3, 4],
        [10, 12, -28, 32],
    ]
    assert pack.matrices["w"].take_rows(np.array([1, 1]))[:, 0].tolist() == [10, 10]


@pytest.mark.parametrize(
    "content",
    [b"", b"HMSEMB01", b"HMSEMB99" + pack_bytes()[8:], pack_bytes()[:40], pack_bytes()[:-1]],
)
def test_a_damaged_pack_is_an_inference_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.hmsemb"
    path.write_bytes(content)

    with pytest.raises(InferenceError, match="cannot be read"):
        open_pack(path)


def test_a_missing_pack_is_an_inference_error_without_its_path(tmp_path: Path) -> None:
    with pytest.raises(InferenceError) as caught:
        open_pack(tmp_path / "missing.hmsemb")

    assert str(tmp_path) not in caught.value.message
