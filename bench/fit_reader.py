"""Train the reader on written questions, and measure it on sites that took no part.

    python -m bench.fit_reader FILE [--minutes 90] [--go-on] [--seed 1]
    python -m bench.fit_reader FILE --mean FILE FILE …

Needs `torch` and the sites of `reader_lists` (`../shared/data/get-sites /tmp/sites PACKAGE …`). For
each question the network sees the passage it was written from and others that retrieval found. It
learns a score for every unit such that the units that answer, or "none" with a score of 0, have
most of the softmax over all of them. "None" is right for near misses, and for some questions whose
own passage is left out. The weights are written to FILE; `--go-on` starts from the packaged ones
instead of from granite's. `--mean` writes the mean of several runs that went on from the same
weights with other seeds, which answers a little more than each of them: the packaged file is one.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import anyio
import numpy as np
import torch
from bench.question_sites import DEFAULT_CACHE, DEFAULT_SITES
from bench.reader_lists import HELD_OUT, ReadList, ReadPassage, by_site, gather_lists, read_written
from bench.reader_network import (
    Granite,
    Weights,
    first_weights,
    load_weights,
    open_granite,
    score_windows,
    write_pack,
)
from torch import Tensor

from citewell.inference.span_reader import (
    READER_FILE,
    Window,
    cut_windows,
    encode_question,
)

_LAYERS = 4
_BATCH = 8
_AT_ONCE = 16
_FOUND, _BESIDE = 2, 1
"""Negatives of a question: passages that retrieval found, and one of the same page."""
_OTHERS = 16
"""Passages that are negatives in turn: the best that retrieval found."""
_LEFT_OUT = 0.12
"""How often a question's own passage is left out, so that none of the others answers."""
_REWORDED = 0.72
"""The share of questions in developers' words; the others are as they were first written."""
_RATE = 1.3e-4
_HEAD_RATE = 6e-4
_WARM_UP = 60
_LEAST_RATE = 0.02
_REPORTED = 25
_KEPT = 0.998
"""What the mean of the weights keeps at each step; the mean is what is measured and written."""
_READ = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A question and windows to read for it, with the labels of their units."""

    question: tuple[int, ...]
    windows: tuple[Window, ...]
    labels: tuple[tuple[int, ...], ...]


def choose_passages(each: ReadList, chance: random.Random) -> list[ReadPassage]:
    """Return the passages that the network sees this time."""
    others = each.others[:_OTHERS]
    chosen = chance.sample(others, min(_FOUND, len(others)))
    chosen += chance.sample(each.beside, min(_BESIDE, len(each.beside)))
    is_left_out = each.is_answered and bool(chosen) and chance.random() < _LEFT_OUT
    return chosen if is_left_out else [each.own, *chosen]


def make_example(
    granite: Granite,
    question: str,
    passages: Sequence[ReadPassage],
    *,
    chance: random.Random | None = None,
) -> Example:
    """Return the windows of the passages; with `chance` only one of each, that which answers."""
    windows: list[Window] = []
    labels: list[tuple[int, ...]] = []
    for passage in passages:
        rest = list(passage.labels)
        cut = []
        for window in cut_windows(granite.tokenizer, passage.passage):
            cut.append((window, tuple(rest[: len(window.ends)])))
            rest = rest[len(window.ends) :]
        if chance is not None:
            answering = [each for each in cut if 1 in each[1]]
            cut = [chance.choice(answering or cut)]
        windows += [window for window, _ in cut]
        labels += [own for _, own in cut]
    return Example(
        question=encode_question(granite.tokenizer, question),
        windows=tuple(windows),
        labels=tuple(labels),
    )


def score_examples(
    granite: Granite, weights: Weights, examples: Sequence[Example], *, is_training: bool
) -> list[tuple[Tensor, Tensor]]:
    """Return scores and labels of each example's units, without those that take no part."""
    windows = [
        (owner, window) for owner, example in enumerate(examples) for window in example.windows
    ]
    questions = [example.question for example in examples]
    # Alike in length, they need little padding.
    order = sorted(range(len(windows)), key=lambda at: len(windows[at][1].ids))
    by_place: dict[int, Tensor] = {}
    for first in range(0, len(order), _AT_ONCE):
        places = order[first : first + _AT_ONCE]
        with torch.autocast("cpu", torch.bfloat16):
            own = score_windows(
                granite, weights, questions, [windows[at] for at in places], is_training=is_training
            )
        by_place |= dict(zip(places, own, strict=True))
    scores = [by_place[at] for at in range(len(windows))]
    split: list[tuple[Tensor, Tensor]] = []
    for example in examples:
        own = torch.cat(scores[: len(example.windows)])
        scores = scores[len(example.windows) :]
        labels = torch.tensor([label for row in example.labels for label in row])
        split.append((own[labels >= 0], labels[labels >= 0]))
    return split


def loss_of(scores: Tensor, labels: Tensor) -> Tensor:
    """Return how unlikely the right units are, or that there is none, in nats."""
    whole = torch.logsumexp(torch.cat([torch.zeros(1), scores]), 0)
    right = scores[labels == 1]
    return whole - torch.logsumexp(right, 0) if len(right) else whole


def train(
    granite: Granite, weights: Weights, lists: Sequence[ReadList], *, minutes: float, seed: int
) -> None:
    """Train the weights in place."""
    heads = [weights[name] for name in ("head.w", "head.b", "kind_emb")]
    layers = [tensor for tensor in weights.values() if all(tensor is not head for head in heads)]
    groups = [{"params": heads, "lr": _HEAD_RATE}, {"params": layers, "lr": _RATE}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98))
    by_wording = {
        is_reworded: [each for each in lists if each.is_reworded == is_reworded]
        for is_reworded in (True, False)
    }
    chance = random.Random(seed)
    means = {name: tensor.detach().clone() for name, tensor in weights.items()}
    began, losses = time.monotonic(), list[float]()
    for step in count(1):
        done = (time.monotonic() - began) / (60 * minutes)
        if done > 1:
            break
        for group, rate in zip(optimizer.param_groups, (_HEAD_RATE, _RATE), strict=True):
            group["lr"] = rate * min(1.0, step / _WARM_UP) * max(_LEAST_RATE, 1 - done)
        batch = [chance.choice(by_wording[chance.random() < _REWORDED]) for _ in range(_BATCH)]
        examples = [
            make_example(granite, each.question, choose_passages(each, chance), chance=chance)
            for each in batch
        ]
        scored = score_examples(granite, weights, examples, is_training=True)
        loss = torch.stack([loss_of(*each) for each in scored]).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimizer.step()
        kept = min(_KEPT, step / (step + _WARM_UP))
        for name, tensor in weights.items():
            means[name].lerp_(tensor.detach(), 1 - kept)
        losses.append(loss.item())
        if step % _REPORTED == 0:
            print(f"step {step}: loss {np.mean(losses[-_REPORTED:]):.3f}", flush=True)
    with torch.no_grad():
        for name, tensor in weights.items():
            tensor.copy_(means[name])


def measure(granite: Granite, weights: Weights, lists: Sequence[ReadList]) -> str:
    """Return how often the best unit answers, and how well near misses are told apart."""
    best: list[bool] = []
    odds: dict[bool, list[float]] = {True: [], False: []}
    for each in lists:
        passages = [each.own, *each.others[:_READ]]
        example = make_example(granite, each.question, passages)
        with torch.no_grad():
            [(scores, labels)] = score_examples(granite, weights, [example], is_training=False)
        odds[each.is_answered].append(float(torch.logsumexp(scores, 0)))
        if each.is_answered:
            best.append(bool(labels[scores.argmax()] == 1))
    told_apart = np.mean([high > low for high in odds[True] for low in odds[False]])
    return f"best unit answers {np.mean(best):.3f}, near misses told apart (AUC) {told_apart:.3f}"


def mean_of(runs: Sequence[Weights]) -> Weights:
    """Return the mean of weights that were trained from the same start."""
    with torch.no_grad():
        return {name: torch.stack([run[name] for run in runs]).mean(0) for name in runs[0]}


async def run(options: argparse.Namespace) -> None:
    granite = open_granite()
    if options.mean:
        write_pack(granite, mean_of([load_weights(file) for file in options.mean]), options.file)
        return
    names = list(dict.fromkeys(each.site for each in read_written()))
    lists = await gather_lists(names, sites=options.sites, cache=options.cache)
    trained_on, held_out = by_site(lists)
    weights = load_weights(READER_FILE) if options.go_on else first_weights(granite, layers=_LAYERS)
    print(f"{len(trained_on)} questions, {len(held_out)} of {len(HELD_OUT)} sites held out")
    train(granite, weights, trained_on, minutes=options.minutes, seed=options.seed)
    write_pack(granite, weights, options.file)
    for wording, is_reworded in (("as first written", False), ("in developers' words", True)):
        own = [each for each in held_out if each.is_reworded == is_reworded]
        print(f"{wording}: {measure(granite, weights, own)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="where the weights are written")
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--go-on", action="store_true", help="start from the packaged weights")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mean", type=Path, nargs="*", help="files of weights to take the mean of")
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
