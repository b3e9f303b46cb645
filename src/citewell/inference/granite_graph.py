"""The granite encoder as an ONNX graph for one text at a time, in int8 arithmetic.

Three things cut a text of 200 tokens from about 54 ms of CPU, as a plain float graph, to about 20
(best of several rounds of a prototype on one shared AVX-512 core, onnxruntime 1.31):

- Weights are requantised per output column and multiplied as u8 x s8. They use 7 bits: with 8, the
  16-bit sums of processors without VNNI instructions overflow and the vectors are ruined.
- Inputs of the feed-forward layers are quantised row by row. A few tokens carry activations fifty
  times larger than all others; one scale for the whole text would drown the rest (cosine .96).
- An embedding is the first token's vector, so its last layer computes nothing else.

The reader has the same layers, fewer of them and trained for another end: its graph gives a score
for each span of tokens instead of a vector, and its last layer computes only the tokens of spans.
What it reads also looks at the question, which was read before: each layer takes the question's
keys and values and gives its own, so that a question goes through the layers once and not with
every passage.

A text goes through alone: no padding, no mask, and its vector cannot depend on its neighbours.
Additions and normalisations are left as separate nodes because onnxruntime's fused form is several
times slower on the CPU; the session must therefore not optimise the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from citewell.inference.onnx_writer import CONTRIB_DOMAIN, GraphWriter

if TYPE_CHECKING:
    from collections.abc import Callable

    from citewell.inference.hms_pack import Pack

INPUT = "embeddings"
SPANS = "spans"
"""The reader's second input: for each span a row with the share that each token has in its mean.

Its columns are the last tokens; those before them, the headings, are in no span.
"""
SCORES = "scores"

_WEIGHT_LIMIT = 64
_EPSILON = 1e-12
_FIRST = "first_token"


def build_embedder_graph(pack: Pack) -> bytes:
    """Return the model: from token embeddings (1, tokens, hidden) to the first token's vector."""
    return _GraphBuilder(pack).build_embedder()


def memory_inputs(layers: int) -> list[str]:
    """Return the reader's inputs for the keys and values of tokens that were read before."""
    return [f"{part}_before.{layer}" for layer in range(layers) for part in ("keys", "values")]


def memory_outputs(layers: int) -> list[str]:
    """Return the outputs for those of the tokens read now, in the order of `memory_inputs`."""
    return [f"{part}.{layer}" for layer in range(layers) for part in ("keys", "values")]


def build_reader_graph(pack: Pack) -> bytes:
    """Return the model: from token embeddings and spans (1, spans, last tokens) to their scores."""
    return _GraphBuilder(pack).build_reader()


class _GraphBuilder:
    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._graph = GraphWriter()
        self._hidden = int(pack.architecture["hidden"])
        self._heads = int(pack.architecture["heads"])
        self._layers = int(pack.architecture["layers"])

    def build_embedder(self) -> bytes:
        graph = self._graph
        first = graph.constant(_FIRST, np.array([0], dtype=np.int64))
        hidden = self._encode(wanted=lambda tokens: graph.node("Gather", [tokens, first], axis=1))
        return graph.to_bytes(
            inputs={INPUT: (1, "tokens", self._hidden)}, outputs={hidden: (1, 1, self._hidden)}
        )

    def build_reader(self) -> bytes:
        graph = self._graph
        axis = graph.constant("token_axis", np.array([1], dtype=np.int64))
        end = graph.constant("last_token", np.array([np.iinfo(np.int64).max]))
        tokens = graph.node("Shape", [INPUT], start=1, end=2)
        start = graph.node("Sub", [tokens, graph.node("Shape", [SPANS], start=2, end=3)])
        hidden = self._encode(
            wanted=lambda tokens: graph.node("Slice", [tokens, start, end, axis]), with_memory=True
        )
        means = graph.node("MatMul", [SPANS, hidden])
        scores = graph.node("MatMul", [means, self._floats("head.w")])
        graph.node("Add", [scores, self._floats("head.b")], output=SCORES)
        before, now = memory_inputs(self._layers), memory_outputs(self._layers)
        return graph.to_bytes(
            inputs={
                INPUT: (1, "tokens", self._hidden),
                SPANS: (1, "spans", "last tokens"),
                **dict.fromkeys(before, (1, "tokens before", self._hidden)),
            },
            outputs={
                SCORES: (1, "spans", 1),
                **dict.fromkeys(now, (1, "tokens", self._hidden)),
            },
        )

    def _encode(self, *, wanted: Callable[[str], str], with_memory: bool = False) -> str:
        """Return the tokens that `wanted` cuts out of all of them, after every layer."""
        hidden = self._normalize(INPUT, "emb_ln")
        for layer in range(self._layers):
            is_last = layer == self._layers - 1
            hidden = self._layer(
                hidden, layer, wanted=wanted if is_last else None, with_memory=with_memory
            )
        return hidden

    def _layer(
        self,
        hidden: str,
        number: int,
        *,
        wanted: Callable[[str], str] | None,
        with_memory: bool,
    ) -> str:
        graph = self._graph
        layer = f"l{number}"
        tokens, scale, zero = graph.node_with_outputs("DynamicQuantizeLinear", [hidden], outputs=3)
        asking = tokens
        if wanted is not None:
            asking, hidden = wanted(tokens), wanted(hidden)
        own = slice(2 * number, 2 * number + 2)
        names = memory_outputs(self._layers)[own] if with_memory else [None, None]
        queries, *memory = (
            self._multiply(source, f"{layer}.qkv", scale=scale, zero=zero, part=part, output=output)
            for part, (source, output) in enumerate(
                zip((asking, tokens, tokens), (None, *names), strict=True)
            )
        )
        if with_memory:
            before = memory_inputs(self._layers)[own]
            memory = [
                graph.node("Concat", each, axis=1) for each in zip(before, memory, strict=True)
            ]
        attended = graph.node(
            f"{CONTRIB_DOMAIN}:MultiHeadAttention", [queries, *memory], num_heads=self._heads
        )
        values, scale, zero = graph.node_with_outputs(
            "DynamicQuantizeLinear", [attended], outputs=3
        )
        output = self._multiply(values, f"{layer}.ao", scale=scale, zero=zero)
        hidden = self._normalize(graph.node("Add", [output, hidden]), f"{layer}.aln")
        output = self._feed_forward(hidden, layer)
        return self._normalize(graph.node("Add", [output, hidden]), f"{layer}.fln")

    def _feed_forward(self, hidden: str, layer: str) -> str:
        graph = self._graph
        peaks = graph.node("ReduceMax", [graph.node("Abs", [hidden])], axes=[-1], keepdims=1)
        inner = self._multiply_rows(hidden, f"{layer}.f1", peaks=peaks, low=-1.0)
        inner = graph.node(f"{CONTRIB_DOMAIN}:BiasGelu", [inner, self._floats(f"{layer}.f1.b")])
        # GELU never falls below -0.17, so most of the 8 bits can serve the positive side.
        one = graph.constant("one", np.float32(1.0))
        peaks = graph.node("ReduceMax", [inner], axes=[-1], keepdims=1)
        peaks = graph.node("Max", [peaks, one])
        output = self._multiply_rows(inner, f"{layer}.f2", peaks=peaks, low=-0.17)
        return graph.node("Add", [output, self._floats(f"{layer}.f2.b")])

    def _multiply_rows(self, rows: str, name: str, *, peaks: str, low: float) -> str:
        """Multiply with each row scaled by its peak, so that its values lie from `low` to 1."""
        graph = self._graph
        step = (1.0 - low) / 255
        scale = graph.constant(f"scale_from_{low}", np.float32(step))
        zero = graph.constant(f"zero_from_{low}", np.uint8(round(-low / step)))
        scaled = graph.node("Div", [rows, peaks])
        quantized = graph.node("QuantizeLinear", [scaled, scale, zero])
        product = self._multiply(quantized, name, scale=scale, zero=zero, with_bias=False)
        return graph.node("Mul", [product, peaks])

    def _multiply(
        self,
        values: str,
        name: str,
        *,
        scale: str,
        zero: str,
        part: int | None = None,
        with_bias: bool = True,
        output: str | None = None,
    ) -> str:
        """Multiply u8 values with a weight matrix, or with the `part`-th third of a fused one."""
        graph = self._graph
        rows = (
            slice(None) if part is None else slice(part * self._hidden, (part + 1) * self._hidden)
        )
        label = name if part is None else f"{name}.{part}"
        weights = self._pack.matrices[f"{name}.w"].take_rows(rows)
        steps = np.maximum(weights.max(axis=1), -weights.min(axis=1)) / np.float32(_WEIGHT_LIMIT)
        steps = np.maximum(steps, np.finfo(np.float32).tiny)
        # In place: the pages of new arrays cost more than the arithmetic.
        weights /= steps[:, np.newaxis]
        columns = np.rint(weights, out=weights).astype(np.int8).T
        inputs = [
            values,
            graph.constant(f"{label}.values", columns),
            scale,
            graph.constant(f"{label}.steps", steps),
            zero,
        ]
        if with_bias:
            bias = self._pack.floats[f"{name}.b"][rows]
            inputs += ["", graph.constant(f"{label}.bias", bias)]
        return graph.node(f"{CONTRIB_DOMAIN}:MatMulIntegerToFloat", inputs, output=output)

    def _normalize(self, values: str, name: str) -> str:
        inputs = [values, self._floats(f"{name}.w"), self._floats(f"{name}.b")]
        return self._graph.node("LayerNormalization", inputs, axis=-1, epsilon=_EPSILON)

    def _floats(self, name: str) -> str:
        return self._graph.constant(name, self._pack.floats[name])
