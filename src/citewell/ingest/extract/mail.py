"""Archives of mailing lists: the messages of an mbox file as readers see them."""

from __future__ import annotations

import re
from email import message_from_string, policy
from email.errors import MessageError
from typing import TYPE_CHECKING, Literal

from citewell.core.frozen import frozen
from citewell.ingest.extract.characters import clean_plain_text, collapse_spaces

if TYPE_CHECKING:
    from email.message import EmailMessage

_SEPARATOR = re.compile(r"^From .{1,200}$", re.MULTILINE)
_HEADER = re.compile(r"[A-Z][A-Za-z-]{1,40}: ?\S")
# The headers of a single message, of which every one has some.
_HEADERS = re.compile(r"(?:[A-Z][\w-]{1,40}:.{0,2000}\n(?:[ \t].{0,2000}\n){0,50}){3,100}\n")
_SURE_HEADERS = re.compile(r"^(?:Received|Message-I[Dd]|MIME-Version|Return-Path):", re.MULTILINE)
_MOST_HEADERS = 50_000
_SHOWN_HEADERS = ("From", "To", "Date")


@frozen
class Message:
    """What is read of a message."""

    subject: str
    about: str
    """Who wrote it to whom, and when, a line each."""
    body: str
    html: str
    """The body of a message without plain text."""


def is_mail(text: str) -> bool:
    """Return whether text is a message, or an mbox file: a line of its envelope, then a header."""
    if _is_message(text):
        return True
    first, _, rest = text.lstrip("\n").partition("\n")
    return bool(_SEPARATOR.fullmatch(first.rstrip("\r"))) and bool(_HEADER.match(rest))


def _is_message(text: str) -> bool:
    headers = _HEADERS.match(text.lstrip("\n").replace("\r\n", "\n")[:_MOST_HEADERS])
    return headers is not None and bool(_SURE_HEADERS.search(headers.group()))


def mail_messages(text: str) -> list[Message]:
    """Return the messages of an mbox file in their order; attachments are left out."""
    if _is_message(text):
        return [_parse_message(text.lstrip("\r\n"))]
    found = [
        match
        for match in _SEPARATOR.finditer(text)
        if _HEADER.match(text[match.end() : match.end() + 80].lstrip("\r\n"))
    ]
    ends = [*(match.start() for match in found[1:]), len(text)]
    parts = zip(found, ends, strict=True)
    return [_parse_message(text[match.end() : end].lstrip("\r\n")) for match, end in parts]


def _parse_message(source: str) -> Message:
    message = message_from_string(source, policy=policy.default)
    about = [f"{name}: {_header(message, name)}" for name in _SHOWN_HEADERS if name in message]
    body = _body(message, "plain", source)
    return Message(
        subject=_header(message, "Subject") or "(no subject)",
        about=clean_plain_text("\n".join(about)),
        body=clean_plain_text(body).strip("\n"),
        html="" if body.strip() else _body(message, "html", ""),
    )


def _header(message: EmailMessage, name: str) -> str:
    """Return a header in one line; what cannot be decoded stays as it is written."""
    try:
        value = str(message[name] or "")
        written = next((raw for key, raw in message.raw_items() if key.lower() == name.lower()), "")
        if " at " in written and "@" not in written:
            # "jo at example.org (Jo)": an address for readers, of which a parser drops the name.
            value = written
        return collapse_spaces(clean_plain_text(value)).strip()
    except (MessageError, ValueError, IndexError, AttributeError):
        return ""


def _body(message: EmailMessage, kind: Literal["plain", "html"], source: str) -> str:
    try:
        part = message.get_body((kind,))
        return str(part.get_content()) if part is not None else ""
    except (LookupError, MessageError, ValueError, AttributeError):
        # An unknown charset or broken parts: the message as it was sent.
        return source.partition("\n\n")[2]
