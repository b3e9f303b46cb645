"""Written questions with what retrieval finds for them: what the reader is trained on.

`reader_questions.jsonl` has a line a question: the site (a Debian package) and page it was written
from, how the passage opens, and how the units that answer begin (`also`: units that help but do not
answer alone). Without answers it is a near miss: the passage looks as if it answered. Sites and
questions have nothing in common with those of bench/questions.py.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
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

from citewell.answer.spans import PassageText, rank_spans, split_units
from citewell.core.records import SearchFilter, StoredChunk
from citewell.inference.protocols import PassageUnits
from citewell.research.read_path import READ_UNITS
from citewell.retrieve.pipeline import Models, Options, Retrieval, retrieve
from citewell.store.protocol import Store

QUESTIONS = Path(__file__).with_name("reader_questions.jsonl")
HELD_OUT = ("python-celery-doc", "haproxy-doc", "zsh-doc", "debian-policy", "twisted-doc")
"""Sites that take no part in training; what follows the reader is fitted on them."""

# Where the pages of each package lie; the parts that people read.
_ROOTS = {
    "ant-doc": "usr/share/doc/ant/manual",
    "bash-doc": "usr/share/doc/bash-doc",
    "bind9-doc": "usr/share/doc/bind9-doc/arm",
    "borgbackup-doc": "usr/share/doc/borgbackup/html",
    "buildbot-doc": "usr/share/doc/buildbot/html",
    "clang-15-doc": "usr/share/doc/clang-15/html",
    "cmake-doc": "usr/share/doc/cmake-data/html/manual",
    "debian-faq": "usr/share/doc/debian/FAQ",
    "debian-policy": "usr/share/doc/debian-policy/policy.html",
    "exim4-doc-html": "usr/share/doc/exim4-doc-html/spec_html",
    "haproxy-doc": "usr/share/doc/haproxy/html",
    "libvirt-doc": "usr/share/doc/libvirt-doc/html",
    "nodejs-doc": "usr/share/doc/nodejs/api",
    "postfix-doc": "usr/share/doc/postfix/html",
    "python-aiohttp-doc": "usr/share/doc/python-aiohttp-doc/html",
    "python-celery-doc": "usr/share/doc/python-celery-doc/html/userguide",
    "python-cryptography-doc": "usr/share/doc/python-cryptography-doc/html",
    "python-flask-doc": "usr/share/doc/python-flask-doc/html",
    "python-jinja2-doc": "usr/share/doc/python-jinja2-doc/html",
    "python-pandas-doc": "usr/share/doc/python-pandas-doc/html/user_guide",
    "python-psycopg2-doc": "usr/share/doc/python-psycopg2-doc/html",
    "python-pymongo-doc": "usr/share/doc/python-pymongo-doc/html",
    "python-pytest-doc": "usr/share/doc/python-pytest-doc/html/how-to",
    "python-requests-doc": "usr/share/doc/python-requests-doc/html",
    "r-doc-html": "usr/share/R/doc/manual",
    "rsyslog-doc": "usr/share/doc/rsyslog-doc/html",
    "slurm-wlm-doc": "usr/share/doc/slurm-wlm/html",
    "sphinx-doc": "usr/share/doc/sphinx-doc/html",
    "tomcat10-docs": "usr/share/tomcat10-docs/docs",
    "twisted-doc": "usr/share/doc/twisted-doc/html/core",
    "varnish-doc": "usr/share/doc/varnish/html",
    "zsh-doc": "usr/share/doc/zsh-common/html",
}
SITES.update(
    (name, Site(name=name, root=root, address=f"127.0.{third}.1"))
    for third, (name, root) in enumerate(_ROOTS.items(), start=50)
)
_RETRIEVED = 12
_FOREIGN_SHARE = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A line of the data."""

    site: str
    page: str
    opening: str
    question: str
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
    own: ReadPassage | None
    """None where the question was written for another site."""
    others: tuple[ReadPassage, ...]

    @property
    def is_answered(self) -> bool:
        """Whether a unit of its own passage answers it."""
        return self.own is not None and 1 in self.own.labels


def read_written(path: Path = QUESTIONS) -> list[Written]:
    """Return all written questions."""
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Written(
            site=row["site"],
            page=row["page"],
            opening=row["opening"],
            question=row["question"],
            answers=tuple(row["answers"]),
            also=tuple(row["also"]),
        )
        for row in rows
    ]


async def gather_lists(
    names: Sequence[str], *, sites: Path, cache: Path, per_site: int
) -> list[ReadList]:
    """Return the lists of the sites' questions; sites that are not in the cache are ingested.

    Candidates are found by words: as negatives they are as good as those found by vectors, and
    nothing has to be embedded. Some questions of other sites are asked of each site too.
    """
    written = read_written()
    lists: list[ReadList] = []
    embedder = open_kept_embedder(cache)
    chance = random.Random(1)
    for name in names:
        async with open_library(cache, name, model=embedder.name) as store:
            if not (cache / f"{name}.ingested").exists():
                await ingest_site(sites, name, store)
                (cache / f"{name}.ingested").touch()
            own = [each for each in written if each.site == name]
            own = chance.sample(own, min(per_site, len(own)))
            strangers = [each for each in written if each.site != name and is_alike(each, name)]
            strangers = chance.sample(strangers, int(_FOREIGN_SHARE * len(own)))
            for question in own:
                lists += await _list_of(question, store)
            for question in strangers:
                lists.append(
                    ReadList(
                        site=name,
                        question=question.question,
                        own=None,
                        others=_others(question, await _find(question, store)),
                    )
                )
        print(f"{name}: {len(lists)} questions so far", flush=True)
    await embedder.aclose()
    return lists


def is_alike(written: Written, site: str) -> bool:
    """Return whether a question and a site are both held out, or both not."""
    return (written.site in HELD_OUT) == (site in HELD_OUT)


async def _list_of(written: Written, store: Store) -> list[ReadList]:
    """Return the list of one question; none when its passage is not there any more."""
    own = await _own_chunk(written, store)
    if own is None:
        return []
    found = await _find(written, store)
    best = {span.unit for span in rank_spans(found.query, [_passage(own)])[:READ_UNITS]}
    labels = _labels(own, written)
    # In training the answer is always read, though its words may not be among the best.
    best |= {at for at, label in enumerate(labels) if label == 1}
    return [
        ReadList(
            site=written.site,
            question=written.question,
            own=_pick(own, labels, sorted(best)),
            others=_others(written, found, but=own.chunk_id),
        )
    ]


def _others(
    written: Written, found: Retrieval, *, but: int | None = None
) -> tuple[ReadPassage, ...]:
    """Return the best units of the chunks that are found for a question, none of which answers."""
    chunks = [each.chunk for each in found.chunks if each.chunk.chunk_id != but]
    passages = [_passage(chunk) for chunk in chunks]
    best: dict[int, list[int]] = {}
    for span in rank_spans(found.query, passages):
        own = best.setdefault(span.passage, [])
        if len(own) < READ_UNITS:
            own.append(span.unit)
    nothing = replace(written, answers=(), also=())
    return tuple(
        _pick(chunks[at], _labels(chunks[at], nothing), sorted(best[at])) for at in sorted(best)
    )


async def _find(written: Written, store: Store) -> Retrieval:
    return await retrieve(
        written.question,
        store=store,
        models=Models(embedder=None, reranker=None),
        where=SearchFilter(project=PROJECT),
        options=Options(limit=_RETRIEVED),
    )


def _passage(chunk: StoredChunk) -> PassageText:
    return PassageText(text=chunk.text, path=(chunk.title, *chunk.heading_path))


async def _own_chunk(written: Written, store: Store) -> StoredChunk | None:
    page = await store.find_page(SITES[written.site].page_url(written.page), project=PROJECT)
    if page is None:
        return None
    chunks = await store.chunks_of_page(page.source_id)
    return next((each for each in chunks if _begins(each.text, written.opening)), None)


def _labels(chunk: StoredChunk, written: Written) -> list[int]:
    return [
        _label_of(
            chunk.text[unit.start : unit.end],
            written,
            is_quoted=unit.kind not in ("heading", "pointer"),
        )
        for unit in split_units(chunk.text)
    ]


def _pick(chunk: StoredChunk, labels: Sequence[int], places: Sequence[int]) -> ReadPassage:
    """Return some units of a chunk with their labels."""
    units = split_units(chunk.text)
    texts = tuple(chunk.text[units[at].start : units[at].end] for at in places)
    return ReadPassage(
        passage=PassageUnits(path=(chunk.title, *chunk.heading_path), units=texts),
        labels=tuple(labels[at] for at in places),
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
