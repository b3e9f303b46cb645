"""Questions that a set's pages answer and questions that they do not, to judge the judging by."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.judged_sets import JudgedQuery, judged_queries

Kind = Literal["own", "foreign", "own page", "other page"]
KINDS: tuple[Kind, ...] = ("own", "foreign", "own page", "other page")

STORES = (
    "anthropic_docs",
    "hotpot100",
    "scifact",
    "k8s_glossary_en",
    "k8s_glossary_ja",
    "jsquad_valid",
    "xquad_en",
    "clapnq_dev",
    "odex_pysite",
    "whatsnew_py_dev",
    "labels_python_dev",
    "labels_devref_ja_dev",
)
# Names of sections are no questions to ask of another page or site: most have "Certificates".
_ASKED_ELSEWHERE = tuple(name for name in STORES if not name.startswith("labels_"))
# Sets that answer each other's questions.
_RELATED = (
    frozenset({"odex_pysite", "whatsnew_py_dev", "labels_python_dev"}),
    frozenset({"k8s_glossary_en", "k8s_glossary_ja"}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question asked of one page (`url`) or of all pages of the set `store`."""

    store: str
    kind: Kind
    query: str
    url: str | None = None

    @property
    def answerable(self) -> bool:
        return self.kind in ("own", "own page")


def cases(store: str, *, data: Path, part: int, limit: int) -> Iterator[Case]:
    """Give about 4 × `limit` cases of a set, from its even (`part` 0) or odd (1) questions."""
    own = _shuffled(store, data)[part::2]
    for query in own[:limit]:
        yield Case(store=store, kind="own", query=query.text)
    strangers = [
        name
        for name in _ASKED_ELSEWHERE
        if name != store and not any({name, store} <= group for group in _RELATED)
    ]
    for name in strangers:
        for query in _shuffled(name, data)[part::2][: max(1, limit // len(strangers))]:
            yield Case(store=store, kind="foreign", query=query.text)
    if store not in _ASKED_ELSEWHERE:
        return
    others = own[1:] + own[:1]
    for query, other in zip(own[-limit:], others[-limit:], strict=True):
        page = _page_of(query)
        yield Case(store=store, kind="own page", query=query.text, url=page)
        if (elsewhere := _page_of(other)) not in query.gains:
            yield Case(store=store, kind="other page", query=query.text, url=elsewhere)


def _page_of(query: JudgedQuery) -> str:
    return max(query.gains, key=lambda url: query.gains[url])


def _shuffled(name: str, data: Path) -> list[JudgedQuery]:
    queries = list(judged_queries(name, data=data))
    random.Random(name).shuffle(queries)
    return queries
