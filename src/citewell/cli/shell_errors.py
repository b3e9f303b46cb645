"""Errors in the words of the shell: commands, options and files, not tools and their arguments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from citewell.core.errors import FetchError
from citewell.core.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.core.errors import CitewellError

_OPTIONS = {
    "top_k": "--top-k",
    "expansion_budget": "--expansion-budget",
    "known_context": "--known-context",
    "constraints": "--constraint",
    "source_urls": "--url",
    "tags": "--tag",
    "url": "URL",
    "query": "the question",
}
_PHRASES = tuple(
    (re.compile(pattern, re.IGNORECASE), phrase)
    for pattern, phrase in (
        (r"Call answer or ingest with this URL\.", "Run `citewell ingest` with this URL first."),
        (r"Call status to see what is indexed\.", "`citewell status` shows what is indexed."),
        (r"This tool takes: .*", "Add --help to the command to see what it takes."),
        (r"\bcall answer or ingest with it\b", "run `citewell ingest` with it"),
        # The sentence before it already says what is wrong.
        (r"Correct the named argument and call again\.", ""),
        (r"List the jobs\.", "`citewell jobs` lists them."),
        (r"^Invalid arguments: ", ""),
        (r"\bcall answer\b", "run `citewell ask`"),
        (r"\bcall (ingest|search|status)\b", r"run `citewell \1`"),
        (r"\bString should have at least 1 character\b", "it is empty"),
        (r"\bInput should\b", "it should"),
        (
            r"\badd the site again with a higher limit \(max_pages\)",
            "add the site again with a higher --max-pages",
        ),
        (r"\bList should have at most (\d+) items.*", r"at most \1 are taken"),
    )
)
_JUDGED = re.compile(rf"({'|'.join(_OPTIONS.values())}): it (is|should)\b")
_ARGUMENT = re.compile(rf"\b({'|'.join(_OPTIONS)})(?=[:.\s])")


def error_for_shell(error: CitewellError) -> dict[str, Any]:
    """Return an error as JSON, with the reason that the system gave for it."""
    shape = error.as_json()
    cause = error.__cause__
    reason = redact(str(cause).strip().partition("\n")[0]) if isinstance(cause, Exception) else ""
    # What a site did is said; the words of the network's library add nothing.
    is_ours = shape["code"] == "BACKEND_UNAVAILABLE" and not isinstance(error, FetchError)
    if is_ours and reason and reason not in shape["message"]:
        shape["message"] = f"{shape['message']}: {reason}"
    return shape


def in_shell_words(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return the error object of a tool in the words of a person at the shell."""
    message = translated(str(error["message"]))
    message = _ARGUMENT.sub(lambda match: _OPTIONS[match[1]], message)
    message = _JUDGED.sub(r"\1 \2", message)
    return {**error, "message": message, "suggestion": translated(str(error["suggestion"] or ""))}


def name_page(url: str, reason: str) -> str:
    """Return a reason that names its page once, whether as a URL or as a path."""
    path = unquote(url.removeprefix("file://"))
    return reason if url in reason or path in reason else f"{url}: {reason}"


def translated(text: str) -> str:
    """Return a sentence of a tool with the commands of the shell in place of other tools."""
    for pattern, phrase in _PHRASES:
        text = pattern.sub(phrase, text)
    return text
