"""What the wording alone reveals: pay, kind of employment, company, author, date."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.core.content_fields import FieldName
    from citewell.core.text import Span

_AMOUNT = r"\d[\d,.]*+\s?(?:k|K|M|万|億|million)?"
_MONEY = rf"(?:(?:US|CA|AU)?[$¥€£￥]|(?:USD|EUR|GBP|JPY|CAD)\s?){_AMOUNT}"
_PERIOD = r"(?:/|per |a |an )\s?(?:year|yr|annum|month|hour|hr|week|day)|annually|p\.a\.|yearly"
_YEN = r"\d[\d,.]*+\s?(?:万|億)?\s?円"

_PATTERNS: tuple[tuple[FieldName, re.Pattern[str]], ...] = (
    (
        "salary",
        re.compile(
            rf"(?:想定|予定)?(?:年収|年俸|月給|月収|時給|日給)\s*+(?:[:：]\s*+)?(?:約)?(?:{_YEN}|{_AMOUNT})"
            rf"(?:\s*+[-–—~〜～]\s*+(?:{_YEN}|{_AMOUNT}円?)?)?"
            rf"|{_MONEY}(?:\s*+(?:[-–—~〜～]|to)\s*+(?:{_MONEY}|{_AMOUNT}))?\s*+(?:{_PERIOD})"
            rf"|(?<=\bsalary: ){_MONEY}(?:\s*+[-–—~〜～]\s*+{_MONEY})?"
        ),
    ),
    (
        "employment_type",
        re.compile(
            r"\b(?:full[- ]time|part[- ]time|fixed[- ]term contract|permanent|internship)\b"
            r"|正社員|契約社員|業務委託|派遣社員|アルバイト|パートタイム|インターン(?:シップ)?",
            re.IGNORECASE,
        ),
    ),
    (
        "company",
        re.compile(
            r"(?:株式会社|有限会社|合同会社)[\w・&ー]{1,24}(?<![はがのをにでと])"
            r"|[\w・&ー]{2,24}(?:株式会社|合同会社)"
        ),
    ),
    (
        "author",
        re.compile(
            r"^[^\S\n]*+(?:\*++|_)?(?:[Ww]ritten by|[Pp]osted by|[Bb]y|BY)\s++"
            r"(?P<value>[A-Z][\w.'’-]++(?: [A-Z][\w.'’-]*+){1,3})",
            re.MULTILINE,
        ),
    ),
    (
        "date",
        re.compile(
            r"\d{4}年\d{1,2}月\d{1,2}日|\b\d{4}-\d{2}-\d{2}\b"
            r"|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d{1,2},? \d{4}\b"
            r"|\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d{4}\b"
        ),
    ),
)
# Further down a date is one that the text speaks of, a name one that it cites.
_OPENING_CHARACTERS: dict[FieldName, int] = {"date": 600, "author": 600, "company": 4_000}
_ROLE_AT_COMPANY = re.compile(
    r"^\s*+(?:#++ ++)?+(?P<role>[^\n|@]{3,80}?)(?: at | @ |\s*+[|｜]\s*+)"
    r"(?P<company>[^\n|｜]{2,60})$",
    re.MULTILINE,
)


def find_phrase(name: FieldName, text: str) -> Span | None:
    """Return where `text` first says something that can only be a `name`; None if it does not."""
    pattern = next((pattern for known, pattern in _PATTERNS if known == name), None)
    if pattern is None:
        return None
    match = pattern.search(text, 0, _OPENING_CHARACTERS.get(name, len(text)))
    if match is None:
        return None
    return match.span("value") if "value" in pattern.groupindex else match.span()


def split_role_and_company(heading: str) -> tuple[Span, Span] | None:
    """Return where role and company stand in a heading such as “Engineer at Acme”."""
    match = _ROLE_AT_COMPANY.match(heading.rstrip())
    return (match.span("role"), match.span("company")) if match else None
