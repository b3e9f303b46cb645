"""Fit the weights of `answer.spans` on the developers' questions.

    python -m bench.fit_spans [--cache DIR] [--l2 1.0] [--read]

Ranks the chunks of each question's site, marks the spans that a pattern of the answer matches, and
maximises the probability of those among all spans of the question (softmax), pulled towards the
weights that are in use. Prints the weights, and how often the best span answers: fitted on all
sites, and with each site left out of its own fit. `--read` fits the weights for chunks that the
reader read, on the written questions of the sites that it was not trained on; these are pulled
towards half of the other weights, since the reader says the rest.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import anyio
import numpy as np
import numpy.typing as npt
from bench.question_sites import DEFAULT_CACHE, PROJECT, open_kept_embedder, open_library
from bench.questions import DEFAULT_QUESTIONS, AskedQuestion, plain_text, read_questions
from bench.reader_lists import held_out_questions
from bench.research_engine import default_reranker

from citewell.answer.spans import FEATURES, WEIGHTS, span_features, split_units, with_read
from citewell.core.records import SearchFilter
from citewell.research.read_path import SPAN_CHUNKS, compare_spans, passage_of, read_best
from citewell.retrieve.pipeline import Models, Options, retrieve

Matrix = npt.NDArray[np.float64]
_STEPS = 400
_RATE = 0.05
_FIRST_READ = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanList:
    """The spans of one question: a row of features each, and whether it answers."""

    site: str
    rows: Matrix
    answers: Matrix


async def gather_spans(
    questions: list[AskedQuestion], cache: Path, *, with_reads: bool
) -> list[SpanList]:
    """Return the spans of every question that its site answers."""
    embedder = open_kept_embedder(cache, threads=1)
    models = Models(embedder=embedder, reranker=default_reranker())
    lists: list[SpanList] = []
    for site in dict.fromkeys(question.site for question in questions):
        async with open_library(cache, site, model=embedder.name) as store:
            for question in [each for each in questions if each.site == site]:
                found = await retrieve(
                    question.text,
                    store=store,
                    models=models,
                    where=SearchFilter(project=PROJECT),
                    options=Options(limit=SPAN_CHUNKS),
                )
                passages = [passage_of(each) for each in found.chunks]
                rows = span_features(found.query, passages)
                if with_reads:
                    reads = await read_best(found.query, passages, rows, embedder=embedder)
                    rows = {at: row for at, row in with_read(rows, reads).items() if at in reads}
                else:
                    cosines = await compare_spans(
                        found.query, passages, embedder=embedder, rows=rows
                    )
                    rows = span_features(found.query, passages, cosines=cosines)
                texts = []
                for passage, unit in rows:
                    place = split_units(passages[passage].text)[unit]
                    texts.append(plain_text(passages[passage].text[place.start : place.end]))
                answers = [any(p.search(text) for p in question.parts[0]) for text in texts]
                lists.append(
                    SpanList(
                        site=site,
                        rows=np.array(list(rows.values())),
                        answers=np.array(answers, dtype=float),
                    )
                )
    await embedder.aclose()
    return lists


def fit(lists: list[SpanList], *, start: Matrix, l2: float) -> Matrix:
    """Return the weights that make answering spans most likely, by Adam."""
    weights = start.copy()
    mean, square = np.zeros_like(start), np.zeros_like(start)
    usable = [each for each in lists if each.answers.any()]
    for step in range(1, _STEPS + 1):
        gradient = l2 * (weights - start) / len(usable)
        for each in usable:
            scores = each.rows @ weights
            share = np.exp(scores - scores.max())
            share /= share.sum()
            wanted = share * each.answers
            gradient += each.rows.T @ (share - wanted / wanted.sum()) / len(usable)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        rate = _RATE / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        weights -= rate * mean / (1 - 0.9**step)
    return weights


def best_answers(lists: list[SpanList], weights: Matrix) -> list[bool]:
    """Return, for each question, whether the span with the highest score answers it."""
    return [bool(each.answers[np.argmax(each.rows @ weights)]) for each in lists if len(each.rows)]


async def run(options: argparse.Namespace) -> None:
    every = held_out_questions() if options.read else read_questions(options.questions)
    asked = [question for question in every if not question.is_absent]
    lists = await gather_spans(asked, options.cache, with_reads=options.read)
    start = np.array(
        (*(weight / 2 for weight in WEIGHTS), _FIRST_READ) if options.read else WEIGHTS
    )
    weights = fit(lists, start=start, l2=options.l2)
    for name, weight in zip((*FEATURES, "read"), weights, strict=False):
        print(f"{name:20}{weight:>7.2f}")
    left_out = [
        answers
        for site in dict.fromkeys(each.site for each in lists)
        for answers in best_answers(
            [each for each in lists if each.site == site],
            fit([each for each in lists if each.site != site], start=start, l2=options.l2),
        )
    ]
    print(f"best span answers: fitted {np.mean(best_answers(lists, weights)):.3f}, ", end="")
    print(f"site left out {np.mean(left_out):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=Path, default=DEFAULT_QUESTIONS)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--l2", type=float, default=1.0)
    parser.add_argument("--read", action="store_true", help="fit the weights for chunks read")
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
