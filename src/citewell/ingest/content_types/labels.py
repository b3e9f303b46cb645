"""The words, in English and Japanese, that say which field follows them."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.core.content_fields import FieldName

_LONGEST_LABEL = 60
_LONGEST_SHORT_LABEL = 32

# The first that matches counts: "preferred qualifications" must not pass for requirements.
_LABELS: tuple[tuple[FieldName, str], ...] = (
    (
        "nice_to_have",
        r"(?:strongly )?(?:nice[- ]to[- ]haves?|preferred|desirable|desired|bonus|pluses|a plus"
        r"|good to have|it(?:'s| is) a plus|extra credit)\b.*"
        r"|(?:歓迎|尚可|あると望ましい|あれば尚可|優遇|WANT\b|want\b).*|望ましい.*",
    ),
    (
        "requirements",
        r"(?:(?:job|minimum|basic|key|core|required|technical|essential|your|role|position) )*"
        r"(?:requirements?|qualifications?|skills(?: and| &)?(?: experience)?|must[- ]haves?)\b.*"
        r"|what (?:you(?:'ll| will)? (?:need|bring|have)|we(?:'re| are)? (?:look(?:ing)? for|need"
        r"|expect)).*"
        r"|(?:who you are|about you|you have|you bring|your profile|experience required).*"
        r"|(?:必須|応募資格|応募条件|応募要件|必要な|求める|対象となる方|MUST\b|must\b).*",
    ),
    (
        "benefits",
        r"(?:(?:our|employee|company) )?(?:benefits?|perks?)\b.*"
        r"|what (?:we offer|you(?:'ll)? get|you will get).*|why join\b.*"
        r"|(?:福利厚生|待遇|各種手当|手当|社会保険|各種制度).*",
    ),
    (
        "salary",
        r"(?:(?:annual|base|monthly|hourly|estimated|expected) )?(?:salary|pay|wages?"
        r"|compensation|remuneration)(?: range| package)?(?: \(.*\))?"
        r"|(?:想定|予定|理論)?(?:年収|年俸|月給|月収|時給|給与|給料|賃金|報酬|年収例)"
        r"(?:[・/／].*|\(.*\)|レンジ|例|水準)?",
    ),
    (
        "employment_type",
        r"(?:employment|job|contract|position|work) type|type of (?:employment|contract)"
        r"|employment(?: status)?|contract|(?:雇用|契約|就業|勤務)形態|雇用区分|雇用契約",
    ),
    (
        "location",
        r"(?:(?:job|work|office|primary) )?(?:locations?|workplace|place of work)|where|based in"
        r"|headquarters|head office|(?:勤務|就業)(?:地|場所|先)(?:[・/／(].*)?|所在地|本社"
        r"|本社所在地|勤務エリア|ロケーション",
    ),
    (
        "company",
        r"company(?: name)?|employer|hiring (?:company|organi[sz]ation)|organi[sz]ation(?: name)?"
        r"|(?:会社|企業|法人)名|社名|募集企業|商号|雇用主",
    ),
    (
        "role",
        r"(?:job |position )?title|position|role|job|vacancy"
        r"|(?:募集)?(?:職種|ポジション|職位)(?:名)?|求人名|募集職名|役職",
    ),
    ("industry", r"industr(?:y|ies)|sector|field of business|業種|業界|産業|事業内容|業態"),
    (
        "author",
        r"(?:written )?by|author|words by|posted by"
        r"|(?:著者|筆者|執筆者?|作者|文責|ライター|投稿者|この記事を書いた人)(?:名)?|文",
    ),
    (
        "date",
        r"(?:date )?(?:published|posted)(?: (?:on|at))?|publication date|date|last updated|updated"
        r"|(?:公開|投稿|掲載|更新|作成|発行)(?:日|日時)",
    ),
    (
        "tips",
        r"(?:.* )?(?:tips?|advice|takeaways?|lessons|recommendations|best practices)\b.*"
        r"|how to\b.*|.*(?:コツ|ポイント|アドバイス|秘訣|心得|注意点|まとめ).*",
    ),
    (
        "values",
        r"(?:(?:our|company|core|the) )*(?:values|principles|mission|what we (?:value|believe))\b.*"
        r"|(?:.*(?:バリュー|価値観|行動指針|行動規範|企業理念|経営理念|ミッション|ビジョン"
        r"|大切にし(?:て|たい)).*)",
    ),
    (
        "culture",
        r"(?:(?:our|company|team|work|the) )*culture\b.*|life at\b.*|how we work\b.*"
        r"|working (?:at|here)\b.*"
        r"|.*(?:カルチャー|企業文化|社風|組織文化|働き方|職場環境|働く環境).*",
    ),
)
_PATTERNS = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _LABELS)
_MARKS = re.compile(r"^[\W_]+|[\W_]+$")


def field_of_heading(heading: str, names: tuple[FieldName, ...]) -> FieldName | None:
    """Return which of `names` a heading announces, if any."""
    return _match(heading, names, longest=_LONGEST_LABEL)


def field_of_label(label: str, names: tuple[FieldName, ...]) -> FieldName | None:
    """Return which of `names` a label such as the one before a colon announces, if any."""
    return _match(label, names, longest=_LONGEST_SHORT_LABEL)


def _match(label: str, names: tuple[FieldName, ...], *, longest: int) -> FieldName | None:
    plain = unicodedata.normalize("NFKC", label).replace("’", "'")
    plain = " ".join(_MARKS.sub("", plain).split())
    if not plain or len(plain) > longest:
        return None
    found = (name for name, pattern in _PATTERNS if pattern.fullmatch(plain))
    return next((name for name in found if name in names), None)
