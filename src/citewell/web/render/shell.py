"""Detect what stands between a page and its text: scripts, a login or a consent dialog."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from citewell.core.errors import FetchError, PageNeedsConsent, PageNeedsLogin
from citewell.web.urls import shown_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.core.records import FetchedPage

# A page with more text than this stands on its own, whatever its scripts would add.
MAX_SHELL_CHARACTERS = 600
# One with more has its own text around what scripts fill in.
_MAX_FRAMING_CHARACTERS = 3_000
# So little may be all that a page says while it waits for its scripts.
_WAITING_CHARACTERS = 150
# Repeats are bounded below, and so is what is searched: hostile markup cannot make it slow.
_SEARCHED_CHARACTERS = 400_000

_SCRIPT = re.compile(r"<script\b", re.IGNORECASE)
# Where a script puts what it makes: by the names that frameworks give it.
_MOUNT_POINT = re.compile(
    r"""<(?:div|main|section)\b[^<>]{0,200}?\bid=["']?
        (?:root|app|__next|__nuxt|___gatsby|react-root|svelte|app-root|mount|application)\b
        [^<>]{0,200}>(?P<empty>\s{0,50}(?:<!--[^<>]{0,200}-->\s{0,50}){0,5}</)?
    |<(?:app-root|my-app|[a-z]{1,20}-app)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKS_FOR_SCRIPTS = re.compile(
    r"\b(?:enable|requires?|needs?|activate|turn on|without|aktivieren sie|activer)\b"
    r"\W{1,3}(?:\w{1,20}\W{1,3}){0,5}?java\s?script"
    r"|java\s?script\W{1,3}(?:\w{1,20}\W{1,3}){0,6}?"
    # That it is off is only a notice, which Javadoc has on every page.
    r"(?:enabled?|required|aktivieren|(?:disabled|turned off)\W{1,3}(?:\w{1,20}\W{1,3}){0,9}?"
    r"(?:enable|activate|turn) it)|javascript.{0,9}有効",
    re.IGNORECASE,
)
_PASSWORD_FIELD = re.compile(r"""<input\b[^<>]{0,300}?\btype=["']?password\b""", re.IGNORECASE)
_NAME_FIELD = re.compile(
    r"""<input\b[^<>]{0,300}?\b(?:type=["']?email|autocomplete=["']?(?:username|email)
        |name=["']?(?:login|user(?:name)?|email)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_SIGN_IN = re.compile(
    r"\b(?:sign[ -]?in|log[ -]?in|log[ -]?on|anmelden|einloggen|se connecter|connexion"
    r"|iniciar sesi[oó]n|accedi)\b|ログイン|サインイン|登录|登入|로그인",
    re.IGNORECASE,
)
_CONSENT_WORDS = re.compile(
    r"cookie|\bconsent\b|gdpr|einwilligung|zustimm|consentement|クッキー", re.IGNORECASE
)
_CONSENT_BUTTON = re.compile(
    r"<(?:button|a|input)\b[^<]{0,360}?"
    r"(?:accept|agree|allow all|consent|akzeptieren|zustimmen|accepter|同意)",
    re.IGNORECASE,
)


# What scripts fill: a list or table without an entry, a shadow tree, a frame, a busy or bare box.
_EMPTY_LIST = re.compile(
    r"<(ul|ol|dl|tbody|table)\b(?P<names>[^<>]{0,300})>\s{0,50}"
    r"(?:<!--[^<>]{0,200}-->\s{0,50}){0,3}</\1\s{0,5}>",
    re.IGNORECASE,
)
# By this a script finds its list; generators leave lists without it empty, too.
_HANDLE = re.compile(r"\b(?:id|data-\w{1,30}|v-\w{1,30}|x-\w{1,30}|ng-\w{1,30})=", re.IGNORECASE)
_EMPTY_BOX = re.compile(
    r"""<(div|main|section|article|p)\b[^<>]{0,200}?\bid=["']?(?P<id>[\w-]{1,60})["']?
        [^<>]{0,200}>\s{0,50}</\1\s{0,5}>""",
    re.IGNORECASE | re.VERBOSE,
)
_MOST_BOXES = 20
_BUSY = re.compile(
    r"""<(?!body\b)[a-z]{1,10}[1-6]?\b[^<>]{0,300}?\b(?:aria-busy=["']?true\b
        |class=["']?[^"'<>]{0,200}?\b(?:skeleton|shimmer)\b[^<>]{0,200}>\s{0,50}</)""",
    re.IGNORECASE | re.VERBOSE,
)
_SHADOW_TREE = re.compile(r"<template\b[^<>]{0,200}\bshadowrootmode\b", re.IGNORECASE)
_FRAME = re.compile(
    r"""<iframe\b(?![^<>]{0,500}\b(?:id|name|class|title)=["']?(?:nav|menu|side|toc))
        [^<>]{0,500}?\bsrc(?:doc)?=["']?(?!["'\s>]|javascript:|about:)""",
    re.IGNORECASE | re.VERBOSE,
)
# What an inline script does that asks for data and shows it.
_ASKS = re.compile(
    r"\bfetch\s{0,3}\(|\bXMLHttpRequest\b|\$\.(?:get|ajax|getJSON)\s{0,3}\(|\baxios\b"
)
_SHOWS = re.compile(
    r"\.(?:innerHTML|insertAdjacentHTML|appendChild|append|prepend|replaceChildren|textContent"
    r"|innerText|html)\b"
)
_INLINE_SCRIPT = re.compile(r"<script\b(?![^<>]{0,500}\bsrc=)[^<>]{0,500}>", re.IGNORECASE)
_LOADING = re.compile(
    r"^\W{0,5}(?:loading|please wait|connecting|fetching|lädt|wird geladen|chargement|cargando"
    r"|carregando|caricamento|загрузка|読み込み中|加载中|載入中|로딩)\b"
    r"(?:[^\n.…]{0,40}(?:\.{2,3}|…)|\W{0,3})$",
    re.IGNORECASE | re.MULTILINE,
)


def needs_scripts(fetched: FetchedPage, text: str) -> bool:
    """Return whether scripts may show more of the page than the `text` that was read from it."""
    if fetched.kind != "html" or fetched.rendered:
        return False
    if _SHADOW_TREE.search(fetched.text, 0, _SEARCHED_CHARACTERS):
        return True
    if len(text) <= _MAX_FRAMING_CHARACTERS and _lacks_a_part(fetched.text, text):
        return True
    # What stands behind the mark is for the page's script to show.
    may_be_shell = "#" in fetched.final_url or len(text) <= MAX_SHELL_CHARACTERS
    if not may_be_shell or not _SCRIPT.search(fetched.text):
        return False
    if "#" in fetched.final_url or not text.strip():
        return True
    html = fetched.text[:_SEARCHED_CHARACTERS]
    mount = _MOUNT_POINT.search(html)
    if mount is not None and (len(text) <= _WAITING_CHARACTERS or mount["empty"]):
        return True
    return bool(_ASKS_FOR_SCRIPTS.search(html))


def _lacks_a_part(html: str, text: str) -> bool:
    """Return whether a page leaves room for what scripts or frames put there."""
    html = html[:_SEARCHED_CHARACTERS]
    if len(text) <= MAX_SHELL_CHARACTERS and _FRAME.search(html):
        return True
    if not _SCRIPT.search(html):
        return False
    if _BUSY.search(html) or _LOADING.search(text):
        return True
    if len(text) <= MAX_SHELL_CHARACTERS and any(map(_loads_data, _inline_scripts(html))):
        return True
    if len(text) <= _WAITING_CHARACTERS and _fills_a_box(html):
        return True
    return any(
        len(text) <= MAX_SHELL_CHARACTERS or match[1].startswith("t") or _HANDLE.search(match[2])
        for match in _EMPTY_LIST.finditer(html)
    )


def _fills_a_box(html: str) -> bool:
    """Return whether a script in the page names an empty element of it and shows something."""
    boxes = {match["id"] for match in islice(_EMPTY_BOX.finditer(html), _MOST_BOXES)}
    return any(
        _SHOWS.search(script) and any(re.search(rf"\b{box}\b", script) for box in boxes)
        for script in (_inline_scripts(html) if boxes else ())
    )


def _inline_scripts(html: str) -> Iterator[str]:
    """Yield the scripts that stand in the page itself."""
    end = 0
    while (start := _INLINE_SCRIPT.search(html, end)) is not None:
        end = html.find("</script", start.end())
        if end < 0:
            end = len(html)
        yield html[start.end() : end]


def _loads_data(script: str) -> bool:
    return bool(_ASKS.search(script) and _SHOWS.search(script))


def find_obstacle(fetched: FetchedPage, text: str) -> FetchError | None:
    """Return what keeps the reader from the page, where its `text` is next to nothing."""
    if fetched.kind != "html" or len(text) > MAX_SHELL_CHARACTERS:
        return None
    html = fetched.text[:_SEARCHED_CHARACTERS]
    where = shown_url(fetched.final_url)
    if _SIGN_IN.search(html) and (_PASSWORD_FIELD.search(html) or _NAME_FIELD.search(html)):
        return PageNeedsLogin(f"{where} shows a login form instead of its content")
    is_about_consent = not text.strip() or _CONSENT_WORDS.search(text)
    if is_about_consent and _CONSENT_WORDS.search(html) and _CONSENT_BUTTON.search(html):
        return PageNeedsConsent(f"{where} shows a consent dialog instead of its content")
    return None
