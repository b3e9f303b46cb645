"""What kind of answer a question wants, and whether a sentence has that form; rules only."""

from __future__ import annotations

import re
from typing import Literal

AnswerType = Literal["value", "yes_no", "how", "why", "choice", "definition", "version", "fact"]

# The first that matches decides.
_ASKED: tuple[tuple[AnswerType, re.Pattern[str]], ...] = (
    (
        "version",
        re.compile(
            r"\b(?:which|what|since (?:which|what|when)|in (?:which|what)) "
            r"(?:\w+ ){0,2}(?:version|release)s?\b|どのバージョン",
            re.IGNORECASE,
        ),
    ),
    (
        "value",
        re.compile(
            r"\bby default\b|\bdefaults?\b"
            r"|\bhow (?:many|much|long|often|large|big|deep|high|far|old)\b"
            r"|\bwhat (?:is|'s) the (?:limit|maximum|minimum|timeout|size|port|value)\b"
            r"|\bunless told otherwise\b|\bif I (?:pass|set|configure|specify|say) nothing"
            r"|\bif I (?:don.t|do not) (?:pass|set|configure|specify|say|give)|\bleave out\b|\bomit"
            r"|デフォルト|既定|何(?:年|月|日|人|回|個|時|度|番|秒|分|パーセント)|いくつ|いくら|どのくらい"
            r"|^when\b|\bwhich year\b|\bwhat (?:year|date|number)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "why",
        re.compile(
            r"\bwhy\b|\bhow come\b|\bwhat (?:am I missing|is missing|is wrong|did I (?:forget|miss)"
            r"|causes?|changed|happens?)|なぜ|どうして|原因|理由",
            re.IGNORECASE,
        ),
    ),
    (
        "choice",
        re.compile(
            r"\b(?:difference|versus|vs\.?|better|prefer|instead of|rather than|compared?)\b"
            r"|\bwhich (?:one|of|is)\b|違い|どちら|比べ|比較",
            re.IGNORECASE,
        ),
    ),
    (
        "how",
        re.compile(
            r"\bhow (?:do|can|to|should|would|could|does one|might)\b|\bway to\b"
            r"|\bwhat (?:should|do|can) I (?:do|use|set|call)\b|\bsupposed to\b"
            r"|方法|やり方|手順|どうやって|どうすれば|するには|どう.{0,6}(?:ば|の)",
            re.IGNORECASE,
        ),
    ),
    (
        "definition",
        re.compile(
            r"^(?:what(?:'s| is| are)\b|define\b|meaning of\b)"
            r"|\bwhat do(?:es)? .{1,60} (?:do|mean|stand for)\b|とは|何をする|って何|の意味",
            re.IGNORECASE,
        ),
    ),
    (
        "yes_no",
        re.compile(
            r"(?:^|[.!?,:;\-] |\n)(?:is|are|can|could|does|do|did|will|should|may|must|has|have)\b"
            r"|\b(?:does|is it|can i|do all)\b"
            r"|(?:ます|です|でしょう|ません)か|(?:できる|いい|よい)の?か",
            re.IGNORECASE,
        ),
    ),
)

_NUMBER = re.compile(
    r"\d|\b(?:zero|one|two|three|four|five|ten|none|true|false|unlimited|no limit)\b"
    r"|[一二三四五六七八九十百千]",
    re.IGNORECASE,
)
_DEFAULT = re.compile(
    r"\bdefaults?\b|\bif (?:omitted|not (?:given|specified|set|present))\b|\botherwise\b|\bunless\b"
    r"|デフォルト|既定|省略",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"\b(?:versions?|releases?|since|deprecated|removed)\b|\d\.\d|バージョン",
    re.IGNORECASE,
)
_JUDGING = re.compile(
    r"\b(?:not|never|cannot|can't|don't|doesn't|isn't|won't|only|must|always|allowed?|permitted|safe"
    r"|unsafe|insecure|supported|unsupported|possible|impossible|should|warning|caution|note|however"
    r"|instead|avoid|either|neither|no longer|regardless|even if|even though)\b"
    r"|ません|ない|べき|必要|可能|できます|注意|警告|避け",
    re.IGNORECASE,
)
_BECAUSE = re.compile(
    r"\b(?:because|since|therefore|thus|so that|as a result|this means|reason|in order to|due to"
    r"|otherwise|if|when|unless|only|will not|does not|not)\b|ため|ので|から|理由|場合",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"^(?:[-*] )?(?:use|call|set|run|add|pass|create|install|enable|disable|specify|put|write|make"
    r"|define|remove|import|to \w+)\b|\b(?:you can|can be|use the"
    r"|by (?:using|passing|setting|calling)"
    r"|is used to|allows? you|may be used|should be)\b|```|てください|します|使い|使用",
    re.IGNORECASE | re.MULTILINE,
)
_COMPARING = re.compile(
    r"\b(?:whereas|while|unlike|instead|rather|prefer(?:red|able)?|recommended|better|differs?"
    r"|difference|contrast|but|both|only|similar|equivalent)\b|違い|一方|より|代わり|避け",
    re.IGNORECASE,
)
_DEFINING = re.compile(
    r"\b(?:is|are) (?:an?|the|used)\b|\bmeans\b|\brefers to\b|\brepresents?\b|\bdescribes?\b"
    r"|\breturns?\b|^[*`]|とは|です|します|という",
    re.IGNORECASE,
)


def asked_type(question: str) -> AnswerType:
    """Return the kind of answer that `question` wants."""
    for kind, pattern in _ASKED:
        if pattern.search(question):
            return kind
    return "fact"


def agreement(kind: AnswerType, sentence: str) -> float:
    """Return 0 to 1: how far a sentence has the form of an answer of this kind."""
    match kind:
        case "value":
            return 0.5 * bool(_NUMBER.search(sentence)) + 0.5 * bool(_DEFAULT.search(sentence))
        case "version":
            return float(bool(_VERSION.search(sentence)))
        case "yes_no":
            return float(bool(_JUDGING.search(sentence)))
        case "why":
            return float(bool(_BECAUSE.search(sentence)))
        case "how":
            return float(bool(_STEP.search(sentence)))
        case "choice":
            return float(bool(_COMPARING.search(sentence)))
        case "definition":
            return float(bool(_DEFINING.search(sentence)))
        case "fact":
            return 0.0
