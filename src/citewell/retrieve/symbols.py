"""Definitions of the symbols that a question names: they come before what mentions them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.core.definitions import asked_terms, asks_signature
from citewell.core.symbols import (
    DEFINED_AS,
    is_set_aside,
    last_part,
    related_names,
    shared_parts,
)
from citewell.core.words import STOP_WORDS, as_symbol, content_words
from citewell.retrieve.candidates import Definitions, FoundChunk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from citewell.core.question import Query
    from citewell.core.records import RankedChunk, SearchFilter, StoredChunk
    from citewell.store.protocol import Store
    from citewell.store.symbols import StoredSymbol

_TOKEN = re.compile(
    r"`(?P<code>[^`\n]{1,200})`"
    r"|(?P<name>(?:--?)?[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*)*(?:\(\))?)"
)
# As pages of packages show another name for a module.
_ALIAS_OF_MODULE = re.compile(r"```python\nimport ([\w.]+) as \w+\n")
_JOINT = re.compile(r"\.|::|#|->")
# As pages of packages say it of the definition itself, not of a parameter.
_DEPRECATED = re.compile(r"^(?:- \*\*deprecated\*\*|\*\*Deprecated:\*\*)", re.MULTILINE)
_LONGEST_ASK = 300
_MOST_NAMES = 6
_MOST_LOOKED_UP = 1_000
_MOST_OWNERS = 4
_LEAST_PARTS_OF_MEMBER = 2
# A bare word that this many sections define is a common name, which only ranking can choose from.
_COMMON = 40
_MOST_DEFINITIONS = 2
_MOST_SUGGESTED = 3
_LONGEST_ALIAS = 2
# Chosen on the even lines of bench/questions.py.
_MOST_WORDS_BESIDE = 3
_CONNECTING = frozenset({"in", "of", "from"})
_MOST_PARTS = 4


async def find_definitions(query: Query, *, store: Store, where: SearchFilter) -> Definitions:
    """Return the definitions of the symbols that the query names, in any case, whole or in part."""
    names, parts = _names_in(query), _parts_in(query)
    if not (names or parts) or not query.words:
        return Definitions()
    last_names = list(dict.fromkeys(last_part(name) for name in (*names, *parts)))
    symbols = await store.symbols.symbols_named(last_names, where=where, limit=_MOST_LOOKED_UP)
    asked_as = names[0] if names else ""
    if len(names) == 1:
        names = [await _without_alias(names[0], symbols, store=store, where=where)]
    chosen = _named_in_parts(parts, symbols)
    is_name = bool(chosen)
    for name in names if not is_name else ():
        chosen += _best_matches(name, symbols)
    inherited = (
        [] if is_name else await _inherited(names, chosen, symbols, store=store, where=where)
    )
    notes = [f"{asked_as} {DEFINED_AS} {origin.full_name}." for origin, _ in inherited[:1]]
    pointing = {asked for _, asked in inherited}
    if inherited:
        chosen = [symbol for pair in inherited for symbol in pair]
    else:
        notes = _suggestions(names, chosen)
    places = {symbol.chunk_id: symbol.start for symbol in reversed(chosen)}
    chunks = await store.load_chunks(list(dict.fromkeys(symbol.chunk_id for symbol in chosen)))
    starts = {chunk.chunk_id: max(0, places[chunk.chunk_id] - chunk.start) for chunk in chunks}
    asks = bool(asked_terms(query.text)) or asks_signature(query.ask)
    return Definitions(
        chunks=tuple(chunks),
        starts=starts,
        come_first=is_name or (asks and _is_about(query, names)),
        later=frozenset(_later(chosen, pointing, chunks)),
        notes=tuple(notes),
    )


def _later(
    chosen: Sequence[StoredSymbol],
    pointing: Set[StoredSymbol],
    chunks: Sequence[StoredChunk],
) -> Iterator[int]:
    """Yield the chunks that come after the others: of what only points, is legacy or deprecated."""
    texts = {chunk.chunk_id: (chunk.start, chunk.text) for chunk in chunks}
    if not pointing:
        yield from _deeper(chosen)
    for symbol in chosen:
        begins, text = texts.get(symbol.chunk_id, (0, ""))
        start = max(0, symbol.start - begins)
        end = text.find("\n#", start + 1)
        is_old = _DEPRECATED.search(text, start, end if end >= 0 else len(text)) is not None
        is_old = is_old or is_set_aside(symbol.full_name) or _is_other_case(symbol, chosen[0])
        # What points to a definition comes after it, even if that is deprecated.
        if symbol in pointing if pointing else is_old:
            yield symbol.chunk_id


def _deeper(chosen: Sequence[StoredSymbol]) -> Iterator[int]:
    """Yield the chunks of what a module defines where one around it exports the same name."""
    owners = {(symbol.product, symbol.full_name.rpartition(".")[0].lower()) for symbol in chosen}
    outer = set[int]()
    inner = set[int]()
    for symbol in chosen:
        parts = symbol.full_name.split(".")[:-1]
        # What a class around it has is something else: `safeParse`, `ZodType.safeParse`.
        is_inner = any(
            parts[count].islower() and (symbol.product, ".".join(parts[:count]).lower()) in owners
            for count in range(len(parts))
        )
        (inner if is_inner else outer).add(symbol.chunk_id)
    yield from inner - outer


def _is_other_case(symbol: StoredSymbol, first: StoredSymbol) -> bool:
    """Return whether a name is that of the first but for its case: `Logger.add`, `logger.add`."""
    own, other = (".".join(each.full_name.split(".")[-2:]) for each in (symbol, first))
    return own != other and own.lower() == other.lower()


async def _without_alias(
    name: str, known: Sequence[StoredSymbol], *, store: Store, where: SearchFilter
) -> str:
    """Return a name with the module that its beginning stands for: `exp.Select` of sqlglot."""
    parts = _JOINT.split(name)
    if len(parts) < _LEAST_PARTS_OF_MEMBER or any(
        shared_parts(symbol.full_name, name) > 1 for symbol in known
    ):
        return name
    owners = [part.lower() for part in parts[:-1]]
    found = await store.symbols.symbols_named(owners, where=where, limit=_MOST_LOOKED_UP)
    starts = {".".join(parts[:count]): parts[count:] for count in range(1, len(parts))}
    pairs = [
        (symbol, rest)
        for start, rest in starts.items()
        for symbol in found
        if f".{symbol.full_name}".endswith(f".{start}")
    ][:_MOST_OWNERS]
    pages = await store.page_texts(list(dict.fromkeys(symbol.source_id for symbol, _ in pairs)))
    for symbol, rest in pairs:
        text = pages[symbol.source_id].text if symbol.source_id in pages else ""
        module = _ALIAS_OF_MODULE.match(text, max(0, text.find("```", symbol.start)))
        if module is not None:
            return ".".join([module[1], *rest])
    return name


async def _inherited(
    names: Sequence[str],
    chosen: Sequence[StoredSymbol],
    known: Sequence[StoredSymbol],
    *,
    store: Store,
    where: SearchFilter,
) -> list[tuple[StoredSymbol, StoredSymbol]]:
    """Return the definition of a method that a class inherits, and the class that was asked for."""
    parts = _JOINT.split(names[0]) if len(names) == 1 else []
    if len(parts) < _LEAST_PARTS_OF_MEMBER or any(
        shared_parts(symbol.full_name, names[0]) > 1 for symbol in chosen
    ):
        return []
    owner = ".".join(parts[:-1])
    owners = await store.symbols.symbols_named(
        [parts[-2].lower()], where=where, limit=_MOST_LOOKED_UP
    )
    best = _best_matches(owner, owners)[:_MOST_OWNERS]
    pages = await store.page_texts(list(dict.fromkeys(symbol.source_id for symbol in best)))
    for symbol in best:
        text = pages[symbol.source_id].text if symbol.source_id in pages else ""
        end = text.find("\n#", symbol.start + 1)
        for base in related_names(text, symbol.start, end if end >= 0 else len(text)):
            full_name = f"{base}.{parts[-1]}".lower()
            same = [each for each in known if each.full_name.lower() == full_name]
            if same:
                return [(same[0], symbol)]
    return []


def _suggestions(names: Sequence[str], chosen: Sequence[StoredSymbol]) -> list[str]:
    """Return where the last part of a name is defined that is defined nowhere as it is written."""
    if len(names) != 1 or "." not in names[0] or not chosen:
        return []
    if max(shared_parts(symbol.full_name, names[0]) for symbol in chosen) > 1:
        return []
    known = list(dict.fromkeys(symbol.full_name for symbol in chosen))[:_MOST_SUGGESTED]
    return [f"{names[0]} is not indexed under this name; found was {', '.join(known)}."]


def _is_about(query: Query, names: Sequence[str]) -> bool:
    """Return whether a question says little beside the names, so that they are its subject.

    Which of two is better is said in a sentence about both, not in the definition of either.
    """
    named = frozenset(word for name in names for word in content_words(name))
    beside = [word for word in query.words if word not in named]
    return query.wants != "choice" and len(beside) <= _MOST_WORDS_BESIDE


def with_definitions(
    found: Sequence[FoundChunk], definitions: Definitions
) -> tuple[FoundChunk, ...]:
    """Return the candidates with the definitions that search did not find among them."""
    known = {each.chunk.chunk_id for each in found}
    added = [
        FoundChunk(
            chunk=chunk, word_score=0.0, vector_score=None, fused_score=0.0, matched_by="words"
        )
        for chunk in definitions.chunks
        if chunk.chunk_id not in known
    ]
    return (*found, *added)


def mark_definitions(
    ranked: Sequence[RankedChunk], definitions: Definitions
) -> tuple[RankedChunk, ...]:
    """Return the chunks with the best definitions at their head, if they come first."""
    if not definitions.come_first or not ranked:
        return tuple(ranked)
    own = [each for each in ranked if each.chunk.chunk_id in definitions.starts]
    own.sort(key=lambda each: each.chunk.chunk_id in definitions.later)
    best = own[:_MOST_DEFINITIONS]
    top = ranked[0].relevance
    first = [
        replace(
            each,
            relevance=max(top, each.relevance),
            defines_at=definitions.starts[each.chunk.chunk_id],
        )
        for each in best
    ]
    return (*first, *(each for each in ranked if each not in best))


def _names_in(query: Query) -> list[str]:
    """Return what may be symbols: code by its look, and any word of a query that is only a name."""
    text = query.ask if len(query.ask) <= _LONGEST_ASK else ""
    terms = asked_terms(query.text)
    bare = {term.lower() for term in terms if " " not in term}
    names: list[str] = []
    for match in _TOKEN.finditer(text):
        token = (match["code"] or match["name"]).strip()
        name = re.sub(r"\(.*", "", token).rstrip(".:")
        is_code = match["code"] is not None or as_symbol(token) is not None
        is_code = is_code or token.startswith("-") or name.lower() in bare
        if is_code and name and " " not in name and name.lower() not in STOP_WORDS:
            names.append(name)
    return list(dict.fromkeys(names))[:_MOST_NAMES]


def _parts_in(query: Query) -> list[str]:
    """Return the words of a query that may be one name in parts: `flask abort`, `save in Model`."""
    words = query.ask.rstrip("?").split() if len(query.ask) <= _LONGEST_ASK else []
    parts = [word for word in words if word.lower() not in _CONNECTING]
    is_name = 1 < len(parts) <= _MOST_PARTS and all(
        _TOKEN.fullmatch(part) and part.lower() not in STOP_WORDS for part in parts
    )
    return [part.strip("`").removesuffix("()") for part in parts] if is_name else []


def _named_in_parts(parts: Sequence[str], symbols: Sequence[StoredSymbol]) -> list[StoredSymbol]:
    """Return the symbols whose qualified name has all of the words, one of them as its end."""
    wanted = {piece.lower() for part in parts for piece in _JOINT.split(part)}
    found = [
        symbol
        for symbol in symbols
        if wanted and wanted <= {piece.lower() for piece in _JOINT.split(symbol.full_name)}
    ]
    found.sort(
        key=lambda symbol: (
            is_set_aside(symbol.full_name),
            symbol.full_name.count("."),
            len(symbol.full_name),
        )
    )
    return found if len(found) <= _COMMON else []


def _best_matches(name: str, symbols: Sequence[StoredSymbol]) -> list[StoredSymbol]:
    """Return the symbols that share most with `name`, those written like it before others."""
    shares = [(shared_parts(symbol.full_name, name), symbol) for symbol in symbols]
    most = max((share for share, _ in shares), default=0)
    parts = len(_JOINT.split(name))
    if most == 0:
        return []
    best = [symbol for share, symbol in shares if share == most]
    if most < parts and most == 1:
        # `Scheduler.run` can mean that of BaseScheduler.
        owner = _JOINT.split(name)[-2].lower()
        alike = [each for each in best if _owner_of(each).endswith(owner)]
        if len(owner) <= _LONGEST_ALIAS:
            # `np.array` and `z.object` name what a package itself exports.
            tops = [each for each in best if _is_at_top(each)]
            # People shorten names to how they begin: `pl` is Polars, `v` is Valibot.
            alike = [each for each in tops if _name_of(each)[:1] == owner[:1]] or tops or alike
        # `obj.save` names some object of the asker's; its last part alone must be telling.
        if not alike and len({symbol.full_name for symbol in best}) > _MOST_SUGGESTED:
            return []
        best = alike or best
    if len(best) > _COMMON:
        # Every locale has a `formatDistance` of its own, which nothing exports.
        best = [symbol for symbol in best if not is_set_aside(symbol.full_name)]
    if len(best) > _COMMON:
        return []
    written = ".".join(_JOINT.split(name)[-most:])
    return sorted(
        best,
        key=lambda symbol: (
            not symbol.full_name.endswith(written),
            is_set_aside(symbol.full_name),
            symbol.full_name.count("."),
            len(symbol.full_name),
        ),
    )


def _owner_of(symbol: StoredSymbol) -> str:
    return symbol.full_name.lower().rpartition(".")[0].rpartition(".")[2]


def _is_at_top(symbol: StoredSymbol) -> bool:
    """Return whether a symbol is what a package of npm or Python exports itself."""
    owner, _, _ = symbol.full_name.rpartition(".")
    return not owner or ("." not in owner and owner.islower() and not is_set_aside(f"{owner}.x"))


def _name_of(symbol: StoredSymbol) -> str:
    return symbol.product.rpartition(":")[2].lower()
