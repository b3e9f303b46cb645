"""Make text safe for a log: no secrets, no long text, nothing that cannot be written as UTF-8.

Every pattern runs in linear time: it starts at a fixed word, and what it repeats over stops before
another match can start, or is consumed with the match.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

REDACTED = "[redacted]"
_REPLACEMENT = rf"\g<name>{REDACTED}"

_SECRET_WORDS = (
    r"token|secret|pass(?:word|wd|phrase)|api[_-]?key|access[_-]?key|private[_-]?key|"
    r"signature|credentials?|authorization|cookie|(?:auth|account|subscription)[_-]?key|assertion"
)
_SECRET_NAME = re.compile(rf"(?:^|[_-])(?:(?:{_SECRET_WORDS})(?:$|[_-])|auth$)", re.IGNORECASE)
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

# What people write in a question: `password: X`, `API_KEY = "X"`, `my token is X`.
_SAID = r"(?:\s{0,3}[:=]|\s{1,3}is(?=[\s:]):?)\s{0,3}\\?[\"'`]?"
_VALUE = r"[^\s\"'`<>,;]"
# After a word that prose uses as well (`token: what is it?`): a digit, eight characters with
# capitals or signs among small letters, or too many for a word.
_LIKE_A_SECRET = (
    rf"{_VALUE}{{0,100}}\d|{_VALUE}{{24}}"
    rf"|(?={_VALUE}{{8}})(?-i:{_VALUE}{{0,100}}(?:[a-z][A-Z]|[A-Za-z][!@#$%^&*+/=~|][A-Za-z]))"
)
_DONE = r"\[redacted\]"

# Each pattern with substrings of which a text must hold one, in small letters: most lines of a
# log hold none. The group `name` stays.
_PATTERNS = (
    (
        ("authorization", "cookie", "api-key"),
        re.compile(
            r"(?P<name>(?:authorization|cookie|api-key)\s{0,3}[:=]\s{0,3})"
            # Schemes whose values are quoted.
            r"(?:(?:digest|hawk|oauth|signature)\s[^\r\n]*|[^\r\n\"']+)",
            re.IGNORECASE,
        ),
    ),
    (
        ("bearer",),
        re.compile(
            r"(?P<name>\bbearer(?:\s{1,3}|%20|\+|:))(?!tokens?\b)[^\s\"',;]+", re.IGNORECASE
        ),
    ),
    (
        ("=", "%3d", "%253d"),
        re.compile(
            rf"(?P<name>(?:{_SECRET_WORDS}|(?<![a-z])(?:sig|pwd|auth|jwt|hmac|otp|sid)"
            r"|sess(?:ion)?[_-]?id|(?:(?<=[?&])|(?<=%3f)|(?<=%26)|(?<=%253f)|(?<=%2526))"
            r"(?:key|code|pass|pw|pin|session))"
            rf"(?:\[\]|%5b%5d)?(?:=|%3d|%253d))(?!{_DONE})[^\s&#\"'<>,;)\]}}]+",
            re.IGNORECASE,
        ),
    ),
    (
        ("pass", "pwd"),
        re.compile(
            rf"(?P<name>(?:\bpwd|pass(?:word|wd|phrase|code)){_SAID})(?!{_DONE}){_VALUE}+",
            re.IGNORECASE,
        ),
    ),
    (
        ("token", "secret", "key", "credential"),
        re.compile(
            r"(?P<name>(?:token|secret|(?:api|access|private|secret)[ _-]?key|credentials?)"
            rf"{_SAID})(?!{_DONE})(?={_LIKE_A_SECRET}){_VALUE}+",
            re.IGNORECASE,
        ),
    ),
    (
        ('":', "':"),
        re.compile(
            rf"(?P<name>(?:{_SECRET_WORDS})[\"']\s{{0,2}}:\s{{0,2}}[\"'])(?:[^\"'\\\r\n]|\\.)+",
            re.IGNORECASE,
        ),
    ),
    # The same inside a string of JSON.
    (
        ('\\":',),
        re.compile(
            rf"(?P<name>(?:{_SECRET_WORDS})\\\"\s{{0,2}}:\s{{0,2}}\\\")[^\"\\\r\n]+",
            re.IGNORECASE,
        ),
    ),
    (("@",), re.compile(r"(?P<name>(?<=://))[^/?#\s\"'<>]*@")),
    (
        (
            *("akia", "asia", "gh", "glpat-", "npm_", "hf_", "xox", "sk", "k_", "cw-", "aiza"),
            *("ya29.", "whsec_", "dop_v1_", "sg.", "pypi-", "tskey-"),
        ),
        re.compile(
            r"(?P<name>(?<![\w-]))(?:AKIA[0-9A-Z]{8,}|ASIA[0-9A-Z]{16}|gh[oprsu]_[A-Za-z0-9]{8,}"
            r"|github_pat_\w{8,}|glpat-[\w-]{8,}|(?:npm|hf)_[A-Za-z0-9]{16,}|xox[abeoprs]-[\w-]{8,}"
            r"|sk-[\w-]{8,}|[prs]k_(?:live|test)_\w{8,}|cw-[\w-]{16,}|AIza[\w-]{16,}"
            r"|ya29\.[\w-]{8,}|whsec_[\w+/=-]{8,}|dop_v1_\w{8,}|SG\.[\w-]{8,}\.[\w-]{8,}"
            r"|pypi-Ag[\w-]{8,}|tskey-[\w-]{8,})"
        ),
    ),
    (
        ("eyj",),
        re.compile(r"(?P<name>(?<![\w-]))eyJ[\w-]{5,}\.(?:[\w-]{5,}|(?=\.))(?:\.[\w-]*){0,3}"),
    ),
    (
        ("private key-",),
        re.compile(r"(?P<name>)-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=\s\\]*"),
    ),
)

# Letters, digits and `-._~`, which no URL has to encode; `%25` is a percent sign encoded again.
_NEEDLESS_ESCAPE = re.compile(
    r"%(?:25){0,4}(?P<code>2[de]|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])", re.IGNORECASE
)

_MAX_CHARACTERS = 120
# Far more than is shown, so that no secret is cut before it is recognised.
_MAX_REDACTED = 20_000
_MAX_ARGUMENTS = 12
# Made once: json.dumps would make one a call.
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)


def redact(text: str) -> str:
    """Return `text` without tokens, passwords, signatures and well-known kinds of keys."""
    text = _redact_patterns(text)
    if "%" in text:
        plain = _NEEDLESS_ESCAPE.sub(_decode, text)
        redacted = _redact_patterns(plain)
        # `t%6fken=` is `token=`; text without such a name keeps its escapes.
        text = text if redacted == plain else redacted
    return _escape_surrogates(text)


def _redact_patterns(text: str) -> str:
    small = text.lower()
    for triggers, pattern in _PATTERNS:
        if any(trigger in small for trigger in triggers):
            text = pattern.sub(_REPLACEMENT, text)
    return text


def _decode(escape: re.Match[str]) -> str:
    return chr(int(escape["code"], 16))


def _escape_surrogates(text: str) -> str:
    # JSON may bring half of a character; a log file in UTF-8 cannot hold it.
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def summarise_arguments(arguments: Mapping[str, object]) -> str:
    """Return the arguments of a call as one short line of JSON."""
    short = {
        name[:40]: _summarise(name, value)
        for name, value in list(arguments.items())[:_MAX_ARGUMENTS]
    }
    return _escape_surrogates(_ENCODER.encode(short))


def _summarise(name: str, value: object) -> object:
    # A number is a limit such as `max_tokens`, not a secret.
    if isinstance(value, int | float) or value is None:
        return value
    if _SECRET_NAME.search(_WORD_START.sub("_", name)):
        return REDACTED
    text = value if isinstance(value, str) else _ENCODER.encode(value)
    shown = redact(text[:_MAX_REDACTED])
    if len(text) <= _MAX_REDACTED and len(shown) <= _MAX_CHARACTERS:
        return shown
    return f"{shown[:_MAX_CHARACTERS]}… ({len(text)} characters)"
