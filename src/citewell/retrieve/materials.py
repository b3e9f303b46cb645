"""Pasted material: cut into pieces, and the pieces ranked by words and vectors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.page_slice import table_header
from citewell.core.question import parse_query
from citewell.core.words import words
from citewell.retrieve.fuse import fuse_by_reciprocal_rank
from citewell.store.bm25 import Totals, score_chunks, weigh

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]

MAX_PIECE_CHARACTERS = 1_500

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_FENCE = re.compile(r"`{3,}|~{3,}")
_HEADING = re.compile(r"#{1,6} [^\n]{1,300}")
_LEAD_IN = re.compile(r"\S.{0,250}[:：]", re.DOTALL)
# Two gaps inside a line are columns; one may be a sentence's end.
_GAP = re.compile(r"(?<=\S) {2,}+(?=\S)")
# Below these lies unrelated text, for long paragraphs and for short ones: a few words are near to
# anything. Other models have other scales.
_LEAST_COSINES = {"granite-30m-en-int8": (0.6, 0.7)}
_SHORT_CHARACTERS = 100


def split_material(text: str) -> list[str]:
    """Return the paragraphs of `text` in order, white space cleaned, none too long or twice.

    A heading goes with the paragraph below it, and so does "for example:". Code and tables keep
    their lines and columns. A long paragraph is cut after a sentence where there is one, code and
    tables after a line; each part is fenced, or has the table's header.
    """
    pieces: list[str] = []
    headings: list[str] = []
    # Not every database can hold the character zero, and no reader misses it.
    for paragraph in _paragraphs(text.replace("\0", " ").expandtabs(4)):
        if _HEADING.fullmatch(paragraph):
            # The last of several; those above it are about more than what follows.
            pieces += headings
            headings = [" ".join(paragraph.split())]
            continue
        if _LEAD_IN.fullmatch(paragraph) and not _is_laid_out(paragraph):
            headings = ["\n\n".join([*headings, " ".join(paragraph.split())])]
            continue
        parts = (
            _cut_laid_out(paragraph.rstrip()) if _is_laid_out(paragraph) else _sentences(paragraph)
        )
        if headings and parts and len(headings[0]) + len(parts[0]) < MAX_PIECE_CHARACTERS - 2:
            parts[0] = f"{headings.pop()}\n\n{parts[0]}"
        pieces += [*headings, *parts]
        headings = []
    # The header of every page of a report would else take the places of what differs.
    return list(dict.fromkeys([*pieces, *headings]))


def _sentences(paragraph: str) -> list[str]:
    clean = [" ".join(sentence.split()) for sentence in _SENTENCE_END.split(paragraph)]
    return _gather([sentence for sentence in clean if sentence])


def _paragraphs(text: str) -> Iterator[str]:
    """Yield what stands between blank lines; those inside a fence part nothing."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        words = line.strip()
        opening = _FENCE.match(words)
        if fence:
            fence = "" if words.startswith(fence) and not words.strip(fence[0]) else fence
        elif opening is not None:
            fence = opening.group()
        elif not words:
            if lines:
                yield "\n".join(lines)
            lines = []
            continue
        lines.append(line)
    if lines:
        yield "\n".join(lines)


def _is_laid_out(paragraph: str) -> bool:
    """Return whether the lines of a paragraph mean something: code, a table, columns."""
    lines = paragraph.split("\n")
    if any(_FENCE.match(line.strip()) for line in lines):
        return True
    if len(lines) == 1:
        # Mail and reports indent single paragraphs of prose.
        return paragraph.startswith("|")
    shaped = sum(line.startswith(("    ", "|")) or len(_GAP.findall(line)) > 1 for line in lines)
    return 2 * shaped > len(lines) or (len(lines) > 1 and lines[-1].startswith("    "))


def _cut_laid_out(paragraph: str) -> list[str]:
    if len(paragraph) < MAX_PIECE_CHARACTERS:
        return [paragraph]
    lines = paragraph.split("\n")
    head, tail = 0, len(lines)
    fence = _FENCE.match(lines[0])
    if fence is not None and lines[-1] == fence.group():
        head, tail = 1, len(lines) - 1
    elif len(lines) > 2 and table_header(paragraph, len("\n".join(lines[:2])) + 1) is not None:
        head = 2
    before = [*lines[:head], ""] if head else []
    after = ["", *lines[tail:]] if tail < len(lines) else []
    room = MAX_PIECE_CHARACTERS - len("\n".join([*before, *after]))
    if room < MAX_PIECE_CHARACTERS // 2:
        return _gather(lines, separator="\n")
    parts = _gather(lines[head:tail], separator="\n", limit=room)
    return ["\n".join(before) + part + "\n".join(after) for part in parts]


def rank_pieces(
    query: str,
    pieces: Sequence[str],
    *,
    vectors: Mapping[int, Vector],
    query_vector: Vector | None,
    model: str = "",
) -> list[int]:
    """Return the places of the pieces that have to do with the query, best first.

    A piece whose vector of `model` is far from the query must hold half of its words: "return" in
    "return policy" stands in any code.
    """
    wanted = parse_query(query).words
    # A letter that is a name in code says nothing of "vitamin D".
    wanted = tuple(word for word in wanted if len(word) > 1) or wanted
    by_words = _rank_by_words(wanted, pieces)
    if query_vector is None or not vectors:
        return by_words
    leasts = _LEAST_COSINES.get(model, (-1.0, -1.0))
    cosines = {place: float(vector @ query_vector) for place, vector in vectors.items()}
    far = {
        place
        for place, cosine in cosines.items()
        if cosine < leasts[len(pieces[place]) < _SHORT_CHARACTERS]
    }
    by_words = [p for p in by_words if p not in far or _holds_half(wanted, pieces[p])]
    cosines = {place: cosine for place, cosine in cosines.items() if place not in far}
    by_vectors = sorted(cosines, key=lambda place: (-cosines[place], place))
    scores = fuse_by_reciprocal_rank([(by_words, 1.0), (by_vectors, 1.0)])
    return sorted(scores, key=lambda place: (-scores[place], place))


def _gather(
    sentences: Sequence[str], *, separator: str = " ", limit: int = MAX_PIECE_CHARACTERS
) -> list[str]:
    pieces: list[str] = []
    current = ""
    for sentence in sentences:
        joined = f"{current}{separator}{sentence}" if current else sentence
        if len(joined) < limit:
            current = joined
            continue
        if current:
            pieces.append(current)
        *whole, current = _cut(sentence, limit - 1)
        pieces += whole
    return [*pieces, current] if current else pieces


def _cut(sentence: str, limit: int) -> list[str]:
    """Return one overlong sentence in parts, cut at a space where there is one."""
    parts: list[str] = []
    while len(sentence) > limit:
        space = sentence.rfind(" ", 1, limit)
        end = space if space > 0 else limit
        parts.append(sentence[:end])
        sentence = sentence[end:].lstrip()
    return [*parts, sentence]


def _holds_half(wanted: Sequence[str], piece: str) -> bool:
    held = set(words(piece))
    return 2 * sum(word in held for word in wanted) >= len(wanted)


def _rank_by_words(wanted: Sequence[str], pieces: Sequence[str]) -> list[int]:
    """Return the pieces that hold one of the words, by the BM25 that stores rank by."""
    texts = [" ".join(words(piece)) for piece in pieces]
    held = [frozenset(text.split()) for text in texts]
    counts = {word: sum(word in own for own in held) for word in wanted}
    found = {word: count for word, count in counts.items() if count}
    totals = Totals(chunks=len(pieces), words=sum(text.count(" ") + 1 for text in texts))
    chunks = [(place, "", text) for place, text in enumerate(texts)]
    return [place for _, place in sorted(score_chunks(chunks, weigh(found, totals), totals))]
