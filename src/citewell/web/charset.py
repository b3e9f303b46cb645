"""Decodes a body as browsers decide: byte order mark, header, declaration, then its bytes."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.web.charset_guess import guess_encoding, unmarked_utf_16
from citewell.web.charset_labels import codec_of, encoding_for_label

if TYPE_CHECKING:
    from citewell.core.records import PageKind

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
)
# The standard looks for <meta charset> in this much; browsers go on to the end of the head.
_PRESCAN_BYTES = 1024
_HEAD_BYTES = 64 * 1024
_XML_DECLARATION = re.compile(rb"""<\?xml\s[^>]{0,200}?encoding\s*=\s*["']\s*([\w.:-]+)""")
# The repeats are bounded so that hostile markup cannot make the search slow.
_MARKUP = re.compile(
    rb"""<!--.*?(?:-->|\Z)
    |<(?P<raw>script|style|title|noscript|textarea)\b[^<>]{0,2000}>.*?(?:</(?P=raw)\s{0,9}>|\Z)
    |<(?P<end>/?)(?P<name>[a-z][^\s/<>]{0,40})
        (?P<attributes>(?:[^<>"']|"[^"]{0,1000}"|'[^']{0,1000}'){0,400}+)>
    """,
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_HEAD_ELEMENTS = frozenset(
    b"html head meta base basefont bgsound link noframes command title object".split()
)
_ATTRIBUTE = re.compile(rb"""([^\s/>=]+)\s*(?:=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?""", re.DOTALL)
_CONTENT_CHARSET = re.compile(
    rb"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.IGNORECASE
)
_HEADER_CHARSET = re.compile(r"""(?:^|;)\s*charset\s*=\s*"?([^\s;"]+)""", re.IGNORECASE)

_ISO_2022_JP_ESCAPE = re.compile(rb"\x1b(?:\$[@B]|\([IJ])")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")

# Where Python's EUC-JP and ISO-2022-JP follow JIS and browsers follow Windows.
_JIS_TO_WINDOWS = str.maketrans("\u301c\u2016\u2212\u00a2\u00a3\u00ac", "～∥－￠￡￢")
# Bytes of Shift_JIS that Python reads as these and browsers as errors.
_NOT_SHIFT_JIS = dict.fromkeys((0xA0, 0xF8F0, 0xF8F1, 0xF8F2, 0xF8F3), 0xFFFD)
# Shifts and unknown escapes, which Python lets through.
_NOT_ISO_2022_JP = dict.fromkeys((0x0E, 0x0F, 0x1B), 0xFFFD)


@frozen
class DecodedText:
    """The text of a body and the name of the encoding it was in."""

    text: str
    encoding: str


def decode_body(body: bytes, *, content_type: str = "", kind: PageKind = "html") -> DecodedText:
    """Return `body` as text; bytes that mean nothing become U+FFFD."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            text = decode_as(body[len(mark) :], encoding)
            return DecodedText(text=text, encoding=encoding)
    encoding = (
        _header_encoding(content_type)
        or unmarked_utf_16(body)
        or _declared_encoding(body, kind)
        or _guess(body)
    )
    return DecodedText(text=decode_as(body, encoding), encoding=encoding)


def decode_as(body: bytes, encoding: str) -> str:
    """Return `body` read in an encoding of the WHATWG standard."""
    if encoding == "x-user-defined":
        return body.decode("latin-1").translate(_USER_DEFINED)
    text = body.decode(codec_of(encoding), _ERROR_HANDLERS.get(encoding, _SINGLE_BYTE_ERRORS))
    if encoding == "shift_jis":
        return text.translate(_NOT_SHIFT_JIS)
    if encoding == "iso-2022-jp":
        return text.translate(_JIS_TO_WINDOWS | _NOT_ISO_2022_JP)
    return text.translate(_JIS_TO_WINDOWS) if encoding == "euc-jp" else text


def _header_encoding(content_type: str) -> str | None:
    match = _HEADER_CHARSET.search(content_type)
    return encoding_for_label(match.group(1).strip("'")) if match else None


def _declared_encoding(body: bytes, kind: PageKind) -> str | None:
    if kind == "xml":
        return _xml_encoding(body) or "utf-8"
    if kind == "html":
        return _meta_encoding(body) or _xml_encoding(body)
    return None


def _xml_encoding(body: bytes) -> str | None:
    match = _XML_DECLARATION.match(body)
    return _usable(match.group(1)) if match else None


def _meta_encoding(body: bytes) -> str | None:
    in_head = True
    for markup in _MARKUP.finditer(body, 0, _HEAD_BYTES):
        if markup.start() >= _PRESCAN_BYTES and not in_head:
            return None
        name = (markup["name"] or b"title").lower()
        if name == b"meta" and not markup["end"]:
            encoding = _encoding_of_meta(markup["attributes"])
            if encoding is not None:
                return encoding
        if name not in _HEAD_ELEMENTS or (name == b"head" and markup["end"]):
            in_head = False
    return None


def _encoding_of_meta(attributes: bytes) -> str | None:
    values: dict[bytes, bytes] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(attributes):
        values.setdefault(name.lower(), double or single or bare)
    if b"charset" in values:
        return _usable(values[b"charset"])
    if values.get(b"http-equiv", b"").lower() != b"content-type":
        return None
    found = _CONTENT_CHARSET.search(values.get(b"content", b""))
    return _usable(found.group(1) or found.group(2) or found.group(3) or b"") if found else None


def _usable(label: bytes) -> str | None:
    """Return the encoding of a label found inside the bytes that it describes."""
    encoding = encoding_for_label(label.decode("latin-1"))
    if encoding in ("utf-16le", "utf-16be"):
        return "utf-8"  # it was readable as ASCII, so it cannot be what it says
    return "windows-1252" if encoding == "x-user-defined" else encoding


def _guess(body: bytes) -> str:
    if body.isascii():
        return "iso-2022-jp" if _ISO_2022_JP_ESCAPE.search(body) else "utf-8"
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        # A page cut off in the middle of a character, or with one bad byte, is UTF-8 still.
        if _mostly_utf8(body, error.start):
            return "utf-8"
    else:
        return "utf-8"
    return guess_encoding(body, decode_as)


def _mostly_utf8(body: bytes, first_error: int) -> bool:
    if body[:first_error].isascii():
        return False
    text = body.decode("utf-8", "replace")
    return text.count("\ufffd") * 20 < len(_NOT_ASCII.findall(text))


def _decode_windows_pair(pair: bytes) -> str | None:
    """Return the character that Windows has at a place of JIS X 0208, given as EUC-JP bytes."""
    row, cell = pair[0] - 0xA1, pair[1] - 0xA1
    if not (0 <= row < 94 and 0 <= cell < 94):
        return None
    lead = row // 2 + (0x81 if row < 62 else 0xC1)
    trail = cell + 0x9F if row % 2 else cell + (0x40 if cell < 63 else 0x41)
    try:
        return bytes((lead, trail)).decode("cp932")
    except UnicodeDecodeError:
        return None


def _recover_euc_jp(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError), "the handler is for decoding only"
    pair = error.object[error.start : error.start + 2]
    character = _decode_windows_pair(pair) if len(pair) == 2 else None
    if character is not None:
        return character, error.start + 2
    return _replace_multi_byte(error)


def _recover_iso_2022_jp(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError), "the handler is for decoding only"
    pair = error.object[error.start : error.start + 2]
    # Two such bytes are wrong only where the escape before them announced JIS X 0208.
    if len(pair) == 2 and all(0x21 <= byte <= 0x7E for byte in pair):
        character = _decode_windows_pair(bytes(byte | 0x80 for byte in pair))
        return character or "\ufffd", error.start + 2
    return "\ufffd", error.start + 1


def _replace_multi_byte(error: UnicodeError) -> tuple[str, int]:
    """Replace a bad pair, but leave a second byte that is ASCII: it may be markup."""
    assert isinstance(error, UnicodeDecodeError), "the handler is for decoding only"
    second = error.object[error.start + 1 : error.start + 2]
    return "\ufffd", error.start + (1 if second.isascii() else 2)


def _keep_controls(error: UnicodeError) -> tuple[str, int]:
    """Read bytes a Windows code page leaves open as C1 controls, as the standard's tables do."""
    assert isinstance(error, UnicodeDecodeError), "the handler is for decoding only"
    byte = error.object[error.start]
    return (chr(byte) if 0x80 <= byte <= 0x9F else "\ufffd"), error.start + 1


_SINGLE_BYTE_ERRORS = "citewell-keep-controls"
_ERROR_HANDLERS = {
    "utf-8": "replace",
    "utf-16le": "replace",
    "utf-16be": "replace",
    "gbk": "replace",
    "gb18030": "replace",
    "big5": "replace",
    "euc-kr": "replace",
    "shift_jis": "citewell-replace-multi-byte",
    "euc-jp": "citewell-euc-jp",
    "iso-2022-jp": "citewell-iso-2022-jp",
}
_USER_DEFINED = {byte: 0xF700 + byte for byte in range(0x80, 0x100)}

codecs.register_error(_SINGLE_BYTE_ERRORS, _keep_controls)
codecs.register_error("citewell-replace-multi-byte", _replace_multi_byte)
codecs.register_error("citewell-euc-jp", _recover_euc_jp)
codecs.register_error("citewell-iso-2022-jp", _recover_iso_2022_jp)
