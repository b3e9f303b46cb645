"""Find the fields that a query asks for, and the values of fields that it names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.words import content_words

if TYPE_CHECKING:
    from collections.abc import Set

    from citewell.core.content_fields import ContentField, FieldName

# Fields that identify a posting or page; a query names their values.
_NAMING: frozenset[FieldName] = frozenset(
    ("company", "role", "location", "employment_type", "author", "industry")
)
# The words that ask for a field.
_ASKING: dict[FieldName, str] = {
    "nice_to_have": r"nice[- ]to[- ]have|preferred|a plus\b|歓迎|尚可",
    "requirements": r"requirement|qualification|must[- ]have|\bskills?\b|experience (?:do|is|does)"
    r"|必須|応募(?:資格|条件|要件)|求め(?:る|られる)|スキル",
    "benefits": r"\bbenefits?\b|\bperks?\b|福利厚生|待遇|手当",
    "salary": r"\bsalar(?:y|ies)\b|\bpa(?:y|id)\b|compensation|\bwages?\b|給与|年収|月給|報酬",
    "location": r"\blocat(?:ed|ion)\b|\bwhere\b|勤務地|勤務場所|所在地|どこ",
    "employment_type": r"employment type|full[- ]time|part[- ]time|contract|雇用形態|正社員",
    "tips": r"\btips?\b|\badvice\b|takeaway|コツ|アドバイス|ポイント",
    "values": r"\bvalues?\b|\bprinciples\b|\bmission\b|価値観|理念|行動指針|バリュー",
    "culture": r"\bculture\b|社風|企業文化|カルチャー|働き方",
    "industry": r"\bindustr|\bsector\b|業種|業界",
    "author": r"\bwho wrote\b|\bauthor\b|著者|筆者",
}
_PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _ASKING.items()}


def asked_fields(query: str) -> frozenset[FieldName]:
    """Return the fields that a query asks for, such as salary in “How much do they pay?”."""
    return frozenset(name for name, pattern in _PATTERNS.items() if pattern.search(query))


def names_field(asked: Set[str], field: ContentField) -> bool:
    """Return whether a query of the words `asked` names the value of a field.

    Half of the words of a value are enough, or one place of a location.
    """
    if field.name not in _NAMING:
        return False
    held = content_words(field.value)
    shared = sum(word in asked for word in held)
    if field.name == "location":
        # “Tokyo” is enough for “Shibuya, Tokyo, Japan”.
        return shared > 0
    return bool(held) and shared * 2 >= len(held)
