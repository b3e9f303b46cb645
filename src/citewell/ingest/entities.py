"""Finding the entities that a page names: symbols, defined terms, headings and repeated phrases.

Rules only, so the same page always gives the same entities. English and Japanese are read; of
other languages headings, definitions and code are.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.core.graph import EntityMention, entity_key
from citewell.core.words import STOP_WORDS, as_symbol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.core.graph import EntityKind
    from citewell.core.records import ExtractedPage, Section

MAX_ENTITIES = 400
"""Most entities of one page; those it defines come first, then those it names most."""
MAX_MENTIONS = 2_000

_MAX_NAME_CHARACTERS = 80
_MAX_HEADING_WORDS = 6
_MAX_JAPANESE_HEADING = 24
_KINDS: tuple[EntityKind, ...] = ("symbol", "term", "topic", "phrase")

_FENCED = re.compile(
    r"^[ >]*+(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^[ >]*+\1[`~]*+[ \t]*+$|\Z)", re.M | re.S
)
# What stands before is looked at after the first character: an expression that begins with a plain
# one is searched for several times as fast.
_CODE = re.compile(r"`(?<!``)([^`\n]{2,80})`(?!`)(?:\]\(([^()\s]*)\))?")
_LINK = re.compile(r"\[([^\[\]\n]{2,80})\]\(([^()\s]*)\)")
_LINK_TARGET = re.compile(r"\]\([^()\s]*\)|https?://\S+")
_DEFINITION = re.compile(r"^(?:[-*+] )?((?:\*\*[^*\n]{2,80}\*\*(?:, )?)+):", re.M)
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
_COMMAND = re.compile(r"[A-Za-z_][\w.+-]*(?: [A-Za-z_-][\w.+-]*){0,2}")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_PLAIN_WORD = re.compile(r"[a-z][a-z0-9]*")
# What samples call their own things.
_SAMPLE_NAME = re.compile(
    r"^(?:(?:self|cls|obj|foo\w*+|bar|baz|spam|eggs|some_?(?:model|app|view|field|module))(?:[._].*)?$"
    r"|(?:your|my)(?:_|[A-Z])|my(?:app|site|project|model|module|package|class|view|file|db)\b"
    r"|My[A-Z]|[A-Z](?:\.[A-Z])+$|[Nn]th$|example\b|[a-z]\.)"
)
_STATEMENT = re.compile(
    r"(?:and|as|assert|async|await|class|def|del|elif|else|except|export|for|from|func|if|import|in"
    r"|lambda|new|not|or|raise|return|try|var|while|with|yield)(?: |$)"
)
_OWNER = re.compile(r"(?:self|cls|this)\.")
_SHOUTED = re.compile(r"(?<![A-Z])(?:[A-Z]{2,}+[ ,.;:()\n]++){4,}+[A-Z]*+")
_DATE = re.compile(
    r"^(?:\d{1,2}\.? )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*+\.?"
    r"(?: \d{1,2}(?:st|nd|rd|th)?,?)? \d{4}",
    re.IGNORECASE,
)
_EXPRESSION = re.compile(r"^['\"“‘]|\[|\|\|")
_ROMAN = re.compile(r"[IVX]+")
_TERM_ANCHOR = re.compile(r"#term-(.+)")
_GLOSSARY = re.compile(r"/glossary(?:/|\.html?|/index\.html?)?(?:#|$)", re.I)
_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|appendix|part)\s+[\divxlc]+[.:]?\s+|第\s*[\d一二三四五六七八九十]+\s*[章節部]\s*"
    r"|(?:\d+|[A-Z])(?:\.\d+)*\.?\s+)",
    re.I,
)
_DASH = re.compile(r"(?<!\s)\s++[—–]\s++|:\s++")
_PROPER = re.compile(
    r"[A-Z](?<![A-Za-z0-9_.+-].)[A-Za-z0-9+]*+(?:-[A-Za-z0-9]++)*+"
    r"(?:(?: of| for| and)? [A-Z][A-Za-z0-9+]*+(?:-[A-Za-z0-9]++)*+){1,4}(?![A-Za-z0-9_])"
)
_ACRONYM = re.compile(
    r"[A-Z](?<![A-Za-z0-9_.-].)(?=[0-9]*+[A-Z])[A-Z0-9]++(?: \d{2,5})?(?![A-Za-z0-9_])"
)
_KATAKANA = re.compile(r"[ァ-ヴー]{3,}(?:・[ァ-ヴー]{2,})*")
_QUOTED_JA = re.compile(r"[「『]([^「」『』。、！？\n]{2,20})[」』]")
_JAPANESE = re.compile(r"[ぁ-ヴ一-鿿]")
_HAS_LETTER = re.compile(r"[^\W\d_]")

# Headings and lead-ins that every site has: they say what a part is for, not what it is about.
_GENERIC = frozenset(
    entity_key(name)
    for name in (
        "about, abstract, api, arguments, attributes, background, changelog, classes, conclusion, "
        "constants, contents, default, description, details, discussion, example, examples, "
        "exceptions, faq, features, functions, further reading, getting started, history, how to, "
        "important, index, install, installation, introduction, license, links, methods, "
        "miscellaneous, more information, name, note, notes, options, other, output, overview, "
        "parameters, parameter, prerequisites, properties, quick start, quickstart, raises, "
        "reference, references, related, requirements, resources, return value, returns, "
        "see also, setup, source, source code, summary, support, synopsis, syntax, table of "
        "contents, tip, tips, troubleshooting, tutorial, types, usage, version, warning, "
        "what's next, next steps, yields, todo, true, false, none, null, also, see, ok, "
        "must, may, should, shall, any, use, am, pm, kb, mb, gb, further topics, last update, "
        "scenarios, caveats, limitations, dependencies, utilities, other attributes, running, "
        "other modules, other notes, additional notes, implementations, quick links, return type, "
        "はじめに, 概要, 注意, 注記, 目次, 例, 使い方, 使用方法, 説明, 参考, 参照, 関連項目, "
        "関連情報, まとめ, 背景, 次のステップ, 詳細, 備考, 索引, 謝辞, 付録, メモ, ヒント, 警告"
    ).split(", ")
)
# Words that are upper-case because a sentence begins with them.
_OPENERS = STOP_WORDS | frozenset(
    "after all also any before during each every for here if like many new no note once see since "
    "through use using when while within without".split()
)


@dataclass(slots=True)
class _Entity:
    """What a page says of one entity."""

    name: str
    kind: EntityKind
    counts: Counter[int] = field(default_factory=Counter)
    defined_in: set[int] = field(default_factory=set)

    @property
    def total(self) -> int:
        return self.counts.total()


def find_entities(page: ExtractedPage) -> tuple[EntityMention, ...]:
    """Return which sections of a page name which entities, at most MAX_MENTIONS.

    Found are definition terms, code symbols, terms of headings, links into a glossary and proper
    phrases that the page repeats; in Japanese also katakana words and terms in 「」.
    """
    reader = _Reader(page)
    for section in page.sections:
        reader.note_heading(section)
    for section in page.sections:
        reader.note_text(section)
    return reader.mentions()


class _Reader:
    """Gathers the entities of one page."""

    def __init__(self, page: ExtractedPage) -> None:
        self._page = page
        self._entities: dict[str, _Entity] = {}
        self._phrases: dict[str, _Entity] = {}
        self._qualified: defaultdict[str, set[str]] = defaultdict(set)

    def note_heading(self, section: Section) -> None:
        """Note what the heading of a section names."""
        if not section.heading:
            return
        is_term = (section.anchor or "").startswith("term-")
        for name, kind in _heading_names(section.heading, is_term=is_term):
            self._add(name, kind, section.ordinal, defines=True)
            if kind == "symbol":
                self._qualified[_last_part(name)].add(name)

    def note_text(self, section: Section) -> None:
        """Note what the text of a section names."""
        text = self._page.text[section.start : section.end]
        if "```" in text or "~~~" in text:
            text = _FENCED.sub("\n", text)
        at = section.ordinal
        for name in _defined_terms(text):
            self._add(name, "term", at, defines=True)
        for name in self._symbols(text):
            self._add(name, "symbol", at)
        for name in _glossary_terms(text):
            self._add(name, "term", at)
        prose = _CODE.sub(" ", _LINK_TARGET.sub("] ", text))
        # Licences shout, and name nothing by it.
        for name in _proper_phrases(_SHOUTED.sub(" ", prose)):
            self._add_phrase(name, at)

    def mentions(self) -> tuple[EntityMention, ...]:
        """Return what was found, entity by entity, the most important first."""
        for key, phrase in self._phrases.items():
            known = self._entities.get(key)
            if known is not None:
                known.counts.update(phrase.counts)
            elif phrase.total > 1:
                self._entities[key] = phrase
        best = sorted(
            self._entities.values(),
            key=lambda entity: (
                not entity.defined_in,
                _KINDS.index(entity.kind),
                -entity.total,
                entity.name,
            ),
        )
        found = [
            EntityMention(
                name=entity.name,
                kind=entity.kind,
                section=section,
                count=entity.counts[section],
                defines=section in entity.defined_in,
            )
            for entity in best[:MAX_ENTITIES]
            for section in sorted(entity.counts)
        ]
        return tuple(found[:MAX_MENTIONS])

    def _symbols(self, text: str) -> Iterator[str]:
        for match in _CODE.finditer(text):
            code, target = match.groups()
            name = _symbol_in(code)
            if name is not None and (target or self._is_telling(name)):
                yield self._qualify(name, target or "")

    def _is_telling(self, name: str) -> bool:
        """Return whether code that is no link names something: `initial` is a word of a sample.

        What the page itself defines does, as does what only code looks like.
        """
        if entity_key(name) in self._entities or _last_part(name) in self._qualified:
            return True
        is_sample = bool(_SAMPLE_NAME.match(name)) or ".example." in name
        if is_sample or name.rpartition(" ")[2] in STOP_WORDS:
            return False
        return not _PLAIN_WORD.fullmatch(name)

    def _qualify(self, name: str, target: str) -> str:
        """Return the full name of a symbol: where its link leads, or the page's own of that end."""
        # Sphinx puts the C domain's letter before its names.
        fragment = target.partition("#")[2].removeprefix("c.")
        if fragment and _last_part(fragment) == _last_part(name) and _DOTTED.fullmatch(fragment):
            return fragment
        own = self._qualified.get(_last_part(name))
        if own is None:
            return name
        fitting = [known for known in own if known == name or known.endswith(f".{name}")]
        return fitting[0] if len(fitting) == 1 else name

    def _add(self, name: str, kind: EntityKind, section: int, *, defines: bool = False) -> None:
        key = entity_key(name)
        if not _may_be_entity(name, key):
            return
        entity = self._entities.get(key)
        if entity is None:
            entity = self._entities[key] = _Entity(name, kind)
        elif _KINDS.index(kind) < _KINDS.index(entity.kind):
            entity.name, entity.kind = name, kind
        entity.counts[section] += 1
        if defines:
            entity.defined_in.add(section)

    def _add_phrase(self, name: str, section: int) -> None:
        key = entity_key(name)
        if not _may_be_entity(name, key):
            return
        phrase = self._phrases.get(key)
        if phrase is None:
            phrase = self._phrases[key] = _Entity(name, "phrase")
        phrase.counts[section] += 1


@lru_cache(maxsize=16_384)
def _symbol_in(code: str) -> str | None:
    """Return the symbol or command that inline code names; None when it is other code."""
    name = _without_call(code.strip().lstrip("~"))
    if _STATEMENT.match(name):
        return None
    # In a sample `self` is whatever the page is about.
    name = _OWNER.sub("", name)
    return name if as_symbol(name) is not None or _COMMAND.fullmatch(name) else None


def _without_call(name: str) -> str:
    """Return `name` without the arguments that it ends with: `run(…)` → `run`."""
    return name.partition("(")[0] if name.endswith(")") else name


def _may_be_entity(name: str, key: str) -> bool:
    fits = len(key) > 1 and len(name) <= _MAX_NAME_CHARACTERS
    says_little = key in _GENERIC or key in STOP_WORDS or bool(_EXPRESSION.search(name))
    return fits and not says_little and bool(_HAS_LETTER.search(name))


def _heading_names(heading: str, *, is_term: bool) -> Iterator[tuple[str, EntityKind]]:
    """Yield what a heading is about; a long one is a sentence and names nothing."""
    plain = _NUMBERING.sub("", heading.replace("`", "").strip()).rstrip(" .:：。?？")
    if is_term:
        yield plain, "term"
        return
    symbols = [part.strip() for part in plain.split(",")]
    if all(as_symbol(part) for part in symbols):
        for part in symbols:
            yield _without_call(part), "symbol"
        return
    if plain.startswith("Source code for "):
        return
    name, *rest = _DASH.split(plain, maxsplit=1)
    # "asyncio — Asynchronous I/O": a name and what it is.
    if rest and _COMMAND.fullmatch(name) and " " not in name:
        yield name, "symbol"
        plain = rest[0]
    # What ends with an exclamation mark talks to the reader.
    if _is_short(plain) and not plain.endswith("!") and not _DATE.fullmatch(plain):
        yield plain, "topic"


def _is_short(heading: str) -> bool:
    if _JAPANESE.search(heading):
        return len(heading) <= _MAX_JAPANESE_HEADING
    return len(heading.split()) <= _MAX_HEADING_WORDS


def _defined_terms(text: str) -> Iterator[str]:
    for match in _DEFINITION.finditer(text):
        for term in _BOLD.findall(match.group(1)):
            plain = _LINK.sub(r"\1", term).replace("`", "").strip()
            if _is_short(plain) and "://" not in plain:
                yield _without_call(plain).strip()


def _glossary_terms(text: str) -> Iterator[str]:
    for words, target in _LINK.findall(text):
        anchor = _TERM_ANCHOR.search(target)
        if anchor is not None:
            yield anchor.group(1).replace("-", " ")
        elif _GLOSSARY.search(target):
            yield words.strip("*_`")


def _proper_phrases(prose: str) -> Iterator[str]:
    for match in _PROPER.finditer(prose):
        words = match.group().split(" ")
        while words and words[0].lower() in _OPENERS:
            words.pop(0)
        # "Running Django" is what a sentence says of a name, not a name.
        if words and words[0].endswith("ing") and len(words) == 2:
            continue
        if len(words) > 1 and max(map(len, words)) > 1:
            yield " ".join(words)
    yield from (name for name in _ACRONYM.findall(prose) if not _ROMAN.fullmatch(name))
    if _JAPANESE.search(prose):
        yield from (word.lstrip("ー") for word in _KATAKANA.findall(prose))
        yield from _QUOTED_JA.findall(prose)


def _last_part(symbol: str) -> str:
    return symbol.rpartition(".")[2]
