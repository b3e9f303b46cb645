"""Words of a question that nothing found holds: slips of the keyboard, or unknown here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.off_loop import in_thread
from citewell.core.question import telling_words
from citewell.core.records import SearchFilter
from citewell.core.words import content_words, words
from citewell.retrieve.spelling import correct_words, find_suspects

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from citewell.core.question import Query
    from citewell.core.records import StoredChunk
    from citewell.retrieve.candidates import Candidates
    from citewell.store.protocol import Store


async def explain_missing_words(
    asked: Sequence[Query], gathered: Sequence[Candidates], *, store: Store, where: SearchFilter
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the slips in the question with the words that are meant, and the unknown words.

    A word that stands anywhere in the project is right and known, though the candidates lack it.
    """
    chunks = {each.chunk.chunk_id: each.chunk for found in gathered for each in found.found}
    if not asked or not chunks:
        return {}, ()
    anywhere = SearchFilter(project=where.project)
    held = await in_thread(_held_words, list(chunks.values()))
    suspects = find_suspects(asked[0].text, held=held)
    is_defined = any(found.definitions.chunks for found in gathered)
    telling = [
        word for word in telling_words(asked[0]) if not _is_held(word, held, is_defined=is_defined)
    ]
    stems = {word: content_words(word)[0] for word in (*suspects, *telling)}
    known = await store.words_held(list(dict.fromkeys(stems.values())), where=anywhere)
    slips = [word for word in suspects if stems[word] not in known]
    texts = (" ".join((each.title, *each.heading_path, each.text)) for each in chunks.values())
    corrected = await in_thread(correct_words, slips, texts) if slips else {}
    unknown = [word for word in telling if word not in corrected and stems[word] not in known]
    return corrected, tuple(unknown)


def _is_held(word: str, held: Collection[str], *, is_defined: bool) -> bool:
    """Return whether the candidates hold a word.

    A page that defines `anyio.Event.set` holds `Event.set` in its parts only.
    """
    whole, *parts = content_words(word)
    return whole in held or (is_defined and bool(parts) and all(part in held for part in parts))


def _held_words(chunks: Iterable[StoredChunk]) -> set[str]:
    """Return the search words of chunks and of the headings above them."""
    held: set[str] = set()
    for path in {(chunk.title, *chunk.heading_path) for chunk in chunks}:
        held.update(words(" ".join(path)))
    for chunk in chunks:
        held.update(words(chunk.text) if chunk.words is None else chunk.words.split())
    return held
