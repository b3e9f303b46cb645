"""Reading a question: what it asks, which of its words say what it is about, and its parts."""

from __future__ import annotations

import re
from functools import lru_cache
from string import punctuation
from typing import TYPE_CHECKING, Literal

from citewell.core.answer_types import AnswerType, asked_type
from citewell.core.asking import without_asking
from citewell.core.frozen import frozen
from citewell.core.words import as_symbol, content_words, weight_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

QueryKind = Literal["symbol", "keywords", "question", "statement"]

# A query is cut here before its words are taken: what matters of a pasted page stands at its head,
# and the cost of a search grows with the number of words.
MAX_QUERY_CHARACTERS = 4_000
_MAX_WORDS = 64
_KEYWORD_LIMIT = 6
_QUESTION = re.compile(
    r"[?？]\s*$|(?:か|のか|でしょうか|ですか|ますか)[。?？]?\s*$"
    r"|^(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could"
    r"|should|would|will|has|have|had|may|must)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.?!。？！])(?<!\$\?)\s+|(?<=[。？！])|\n+")
_ASKS = re.compile(
    r"[?？]\s*$|か[。？]?\s*$|^(?:how|what|why|when|where|which|who|is|are|can|could|does|do|should)\b",
    re.IGNORECASE,
)
# Lines of a program, a shell session or a traceback, in a question of several lines.
_CODE_LINE = re.compile(
    r"^(?: {2,}|\t)\S|^\s*(?:[$>]|>>>|\.\.\.) |[;{}]\s*$|^\s*[\w.\[\]'\"]+\s*=[^=]"
    r"|^\s*(?:def|class|import|from|for|if|with|return|let|fn|use|print|struct|impl)\b.*[:;({]"
    r"|^\S*[*#]\S*$|^[\w.]+\("
    r"|^Traceback|^\s*File \"",
)
_TOKEN = re.compile(r"(?<![\w./\\@<>'\"-])[A-Za-z_][\w.-]*\w")
_ASSIGNED = re.compile(r"(?<![\w.])([A-Za-z_]\w*)(?:\.\w+)* ?=(?!=)")
# A word of such characters is an operator or a variable of a shell; others are punctuation.
_OPERATOR_CHARACTERS = frozenset("$&|<>+*%^~@#\\!:=")
_SIGN_LENGTHS = range(2, 5)
_MOST_SIGNS = 3
# What people call things in examples of their own.
_PLACEHOLDER = re.compile(r"(?:my|foo|bar|baz|some|obj)(?![a-z])|My[A-Z]")
# What a word counts at least that the question is about: it stands in the ask itself.
_TELLING_WEIGHT = 0.9
# Weights of the places a word can stand in; chosen on the even lines of bench/questions.py.
_IN_CODE = 0.4
_IN_CONTEXT = 0.6
_ASKING_WORTH = 0.35
# Words that say how something is asked rather than what it is about.
_ASKING = frozenset(
    "about actual after again all also alway anoth any anyth around ask becaus becom befor "
    "better both call case caus chang come common correct did differ directli do doe doesn't "
    "don't done each easi either els end even everi exact exampl expect explain far few find "
    "first follow forc get give go good got happen help idea instead itself just keep kind know "
    "known let like list littl long look lot made main make mani mayb me mean might miss more "
    "most much must my name need never new no noth now number off often ok old on one onli "
    "other otherwis out own part pass place plain pleas possibl prefer print problem proper put "
    "question rather reason relat requir right run said same say see seem select sever shall "
    "show simpl simpli singl someth sort start still stop such suppos sure take tell than thing "
    "think time told tri true two type under understand until up us use usual valid valu vari "
    "version via want way whatev wherev whether whi wish without work wors would write wrong "
    "yet".split()
)
# Words of the story told around a question. In bench/reader_questions.jsonl they stand in
# questions about eight sites or more, and in at most a fifth of the passages that answer.
EVERYDAY_STEMS = frozenset(
    "abl afterward against ago alon along although am ancient answer anyway anywher apart appear "
    "aren arriv assum avoid away back bare behind belong between big blow box break bring broken "
    "built came care carri catch certain choke choos clean colleagu compani complain crash cut "
    "dead decid deep didn die doesn don dozen drop earli earlier enough entir ever everyth "
    "everywher faster feed fill fine fire five forev forget four fresh front further gain gave "
    "given goe gone half hand handl hang he helper here hide hit hold hour hundr insid insist "
    "intend interpret introduc isn jump kept land laptop later launch learn leav left live longer "
    "lose lost mandatori matter meant mention middl mine mix moment myself near night nobodi "
    "normal notic odd offer okay older onc ordinari outsid over pair parti peopl pick piec "
    "prevent produc purpos ran reach readabl realli recognis refus reli rememb repeat rest rid "
    "save screen sent ship shouldn shut side silent sinc sit skip small somebodi someon sometim "
    "somewher soon speak spell stand stay straight stuck stuff surviv suspect switch taken talk "
    "team third though thousand three through throw today togeth too top touch treat turn twice "
    "unless vendor veri well went whenev while whole whose wide win within won word written "
    "wrote".split()
)


@frozen
class Query:
    """A question as the read path needs it."""

    text: str
    """On one line, cut to a length that a search can bear."""
    written: str
    """The same with its line breaks, which distinguish code from prose."""
    ask: str
    """What is asked, without pasted code and, in a long question, without the story around it."""
    kind: QueryKind
    words: tuple[str, ...]
    """Its content words, each once, in order."""
    weights: Mapping[str, float]
    """What each word counts for, 0 to 1: less in pasted code, in the story, in the asking."""
    wants: AnswerType
    signs: tuple[str, ...]
    """Operators it asks about (`$?`, `&&`, `->`), which are no words."""


@lru_cache(maxsize=256)
def parse_query(text: str) -> Query:
    """Return `text` as a query: a symbol, a few keywords, a question or a longer statement."""
    cut = text[:MAX_QUERY_CHARACTERS]
    line = " ".join(cut.split())
    asking, story, code = _take_apart(cut)
    weights: dict[str, float] = {}
    for pieces, share in ((asking, 1.0), (story, _IN_CONTEXT), (code, _IN_CODE)):
        for piece in pieces:
            for word in content_words(without_asking(piece)):
                worth = share * weight_of(word) * (_ASKING_WORTH if word in _ASKING else 1.0)
                weights[word] = max(worth, weights.get(word, 0.0))
    unique = tuple(dict.fromkeys(content_words(line)))[:_MAX_WORDS]
    ask = " ".join(" ".join((*story, *asking) if len(story) < 2 else asking).split())
    return Query(
        text=line,
        written=cut,
        ask=ask or line,
        kind=_kind_of(line, unique),
        words=unique,
        weights={word: weights.get(word, _IN_CODE) for word in unique},
        wants=asked_type(ask or line),
        signs=tuple(dict.fromkeys(_signs_in(ask or line)))[:_MOST_SIGNS],
    )


def named_tokens(text: str) -> list[re.Match[str]]:
    """Return the words and names of `text`, without variables of the asker's own and paths."""
    variables = {match[1] for match in _ASSIGNED.finditer(text)}
    return [
        match
        for match in _TOKEN.finditer(text)
        if match[0].split(".")[0] not in variables and not _PLACEHOLDER.match(match[0])
    ]


def telling_words(query: Query) -> list[str]:
    """Return the words, as they are written, that say what a question is about."""
    tokens = dict.fromkeys(match[0] for match in named_tokens(query.ask))
    return [
        token
        for token in tokens
        if query.weights.get(stem := content_words(token)[0], 0.0) >= _TELLING_WEIGHT
        and stem not in EVERYDAY_STEMS
    ]


def _take_apart(text: str) -> tuple[list[str], list[str], list[str]]:
    """Return the sentences that ask, those that tell the story around it, and the code."""
    lines = text.splitlines()
    is_pasted = len([line for line in lines if line.strip()]) > 2
    code = [line for line in lines if is_pasted and _CODE_LINE.search(line)]
    prose = "\n".join(line for line in lines if not (is_pasted and _CODE_LINE.search(line)))
    sentences = [part.strip() for part in _SENTENCE.split(prose) if part and part.strip()]
    asking = [part for part in sentences if _ASKS.search(part)]
    if not asking:
        return sentences, [], code
    return asking, [part for part in sentences if part not in asking], code


def _signs_in(text: str) -> Iterator[str]:
    for token in text.split():
        sign = token.strip("`'\"()")
        ended = sign.rstrip(".,;?")
        sign = ended if len(ended) in _SIGN_LENGTHS else sign
        is_rule = len(sign) > 2 and len(set(sign)) == 1
        if (
            len(sign) in _SIGN_LENGTHS
            and not is_rule
            and all(character in punctuation for character in sign)
            and not _OPERATOR_CHARACTERS.isdisjoint(sign)
        ):
            yield sign


def _kind_of(text: str, content: Sequence[str]) -> QueryKind:
    if as_symbol(text) is not None:
        return "symbol"
    if _QUESTION.search(text):
        return "question"
    return "keywords" if len(content) <= _KEYWORD_LIMIT else "statement"
