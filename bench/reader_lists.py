"""Written questions with the passages that retrieval finds for them: what the reader is trained on.

`reader_questions.jsonl` has a line a question: the site (a Debian package) and page it was written
from, how the passage opens, and how the units that answer begin (`also`: units that help but do not
answer alone). Without answers it is a near miss: the passage looks as if it answered. `reworded` is
the same question as a developer would ask it who has not read the page. Sites and questions have
nothing in common with those of bench/questions.py.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.question_sites import (
    PROJECT,
    SITES,
    Site,
    ingest_site,
    open_kept_embedder,
    open_library,
)
from bench.questions import AskedQuestion, plain_text
from bench.research_engine import default_reranker

from citewell.answer.spans import split_units
from citewell.core.records import SearchFilter, StoredChunk
from citewell.core.text import as_read
from citewell.inference.protocols import PassageUnits
from citewell.retrieve.pipeline import Models, Options, retrieve
from citewell.store.protocol import Store

QUESTIONS = Path(__file__).with_name("reader_questions.jsonl")
READ_SITES = Path(__file__).with_name("reader_sites.tsv")
HELD_OUT = (
    "python-celery-doc",
    "haproxy-doc",
    "zsh-doc",
    "debian-policy",
    "twisted-doc",
    "ghostscript-doc",
    "kicad-doc-en",
    "lmod-doc",
    "mopidy-doc",
    "nova-doc",
)
"""Sites that take no part in training; what follows the reader is fitted on them."""

# Where the pages of each package lie; the parts that people read.
_ROOTS = dict(line.split("\t") for line in READ_SITES.read_text(encoding="utf-8").splitlines())
SITES.update(
    (name, Site(name=name, root=root, address=f"127.0.{third}.1"))
    for third, (name, root) in enumerate(_ROOTS.items(), start=50)
)
_RETRIEVED = 24
_BESIDE = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A question of the data."""

    site: str
    page: str
    opening: str
    question: str
    is_reworded: bool
    answers: tuple[str, ...]
    also: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPassage:
    """A passage with the labels of its units: 1 answers, 0 does not, -1 takes no part."""

    passage: PassageUnits
    labels: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadList:
    """A question with the passage it was written from and others that retrieval found."""

    site: str
    question: str
    is_reworded: bool
    own: ReadPassage
    others: tuple[ReadPassage, ...]
    beside: tuple[ReadPassage, ...]
    """Some of the same page that retrieval did not find."""
    is_answered: bool


def read_written(path: Path = QUESTIONS) -> list[Written]:
    """Return all written questions; one that was reworded comes in both wordings."""
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Written(
            site=row["site"],
            page=row["page"],
            opening=row["opening"],
            question=row[wording],
            is_reworded=wording == "reworded" or "reworded" not in row,
            answers=tuple(row["answers"]),
            also=tuple(row["also"]),
        )
        for row in rows
        for wording in ("question", "reworded")
        if wording in row
    ]


def held_out_questions() -> list[AskedQuestion]:
    """Return the questions of the sites that are held out, as bench/questions.py asks them."""
    return written_questions(HELD_OUT)


def written_questions(names: Collection[str]) -> list[AskedQuestion]:
    """Return the questions about these sites as bench/questions.py asks them."""
    written = [each for each in read_written() if each.site in names]
    return [
        AskedQuestion(
            line=line,
            id=f"{each.site}-{line}",
            kind="",
            site=each.site,
            text=each.question,
            start=each.page,
            parts=(tuple(map(_pattern_of, each.answers)),) if each.answers else (),
        )
        for line, each in enumerate(written, start=1)
    ]


def _pattern_of(opening: str) -> re.Pattern[str]:
    """Return what finds a unit by its opening, which may be cut inside a link."""
    return re.compile(re.escape(plain_text(opening.split("](")[0]).strip()))


async def gather_lists(names: Sequence[str], *, sites: Path, cache: Path) -> list[ReadList]:
    """Return the lists of the sites' questions; sites that are not in the cache are ingested.

    Candidates are found by words and reranked; nothing has to be embedded.
    """
    written = read_written()
    lists: list[ReadList] = []
    embedder = open_kept_embedder(cache)
    for name in names:
        async with open_library(cache, name, model=embedder.name) as store:
            if not (cache / f"{name}.ingested").exists():
                await ingest_site(sites, name, store)
                (cache / f"{name}.ingested").touch()
            for question in [each for each in written if each.site == name]:
                lists += await _list_of(question, store)
        print(f"{name}: {len(lists)} questions so far", flush=True)
    await embedder.aclose()
    return lists


async def _list_of(written: Written, store: Store) -> list[ReadList]:
    """Return the list of one question; none when its passage is not there any more."""
    own = await _own_chunk(written, store)
    if own is None:
        return []
    found = await retrieve(
        written.question,
        store=store,
        models=Models(embedder=None, reranker=default_reranker()),
        where=SearchFilter(project=PROJECT),
        options=Options(limit=_RETRIEVED),
    )
    labelled = _label(own, written)
    nothing = replace(written, answers=(), also=())
    others = [each.chunk for each in found.chunks if each.chunk.text != own.text]
    known = {own.text, *(chunk.text for chunk in others)}
    page = await store.chunks_of_page(own.source_id)
    beside = [chunk for chunk in page if chunk.text not in known]
    chance = random.Random(written.question)
    return [
        ReadList(
            site=written.site,
            question=written.question,
            is_reworded=written.is_reworded,
            own=labelled,
            others=tuple(_label(chunk, nothing) for chunk in others),
            beside=tuple(
                _label(chunk, nothing) for chunk in chance.sample(beside, min(_BESIDE, len(beside)))
            ),
            is_answered=1 in labelled.labels,
        )
    ]


async def _own_chunk(written: Written, store: Store) -> StoredChunk | None:
    page = await store.find_page(SITES[written.site].page_url(written.page), project=PROJECT)
    if page is None:
        return None
    chunks = await store.chunks_of_page(page.source_id)
    return next((each for each in chunks if _begins(each.text, written.opening)), None)


def _label(chunk: StoredChunk, written: Written) -> ReadPassage:
    units = split_units(chunk.text)
    texts = tuple(chunk.text[unit.start : unit.end] for unit in units)
    labels = tuple(
        _label_of(text, written, is_quoted=unit.kind not in ("heading", "pointer"))
        for unit, text in zip(units, texts, strict=True)
    )
    return ReadPassage(
        passage=PassageUnits(
            path=(chunk.title, *chunk.heading_path), units=tuple(map(as_read, texts))
        ),
        labels=labels,
    )


def _label_of(text: str, written: Written, *, is_quoted: bool) -> int:
    if any(_begins(text, answer) for answer in written.answers):
        return 1
    return 0 if is_quoted and not any(_begins(text, also) for also in written.also) else -1


def _begins(text: str, opening: str) -> bool:
    return " ".join(text.split()).startswith(opening)


def by_site(lists: Sequence[ReadList]) -> tuple[list[ReadList], list[ReadList]]:
    """Return the lists to train on, and those of the sites that are held out."""
    held_out = [each for each in lists if each.site in HELD_OUT]
    return [each for each in lists if each.site not in HELD_OUT], held_out
