"""Pages and their files as responses: templates, static files and the headers that guard them."""

from __future__ import annotations

import hashlib
import re
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, Response

from citewell import __version__
from citewell.server.console.ages import age_of
from citewell.server.console.texts import Texts
from citewell.tools.webapp.plain_lines import plain_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.requests import Request

STATIC = "/mcp/console/static"

_MEDIA_TYPES = {
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
    "txt": "text/plain",
}
# Sent as one file, in this order: `key.js` holds what the others share.
_SCRIPTS = ("key", "pages", "live", "reader", "ask", "library", "desk")
# The marks of a difference; text that contains the opening mark itself is left alone.
_REMOVED = re.compile(r"\[-([^\[]{1,4000}?)-\]")
_ADDED = re.compile(r"\{\+([^{]{1,4000}?)\+\}")
# Shorter names fit on any screen. Marked words of the question (`<b>`) are part of a name. Code
# blocks and other tags are matched first, so that they stay as they are.
_LONG_NAME = re.compile(
    r"(?P<whole><pre\b(?:(?!</pre>)[\s\S])*+|<(?!/?b>)[^<>]*+>)|(?:[^\s<>]|</?b>){24,}+"
)
_BETWEEN_PARTS = re.compile(r"(?:(?<=[^\W_])|(?<=>))[./:_]++(?=(?:</?b>){0,4}+\w)")
_FOR_A_YEAR = "public, max-age=31536000, immutable"


class Pages:
    """The console's templates and static files."""

    def __init__(self) -> None:
        self._templates = Environment(
            loader=PackageLoader("citewell.server.console"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._files = {
            file.name: file.read_bytes()
            for file in resources.files("citewell.server.console").joinpath("static").iterdir()
            if file.name.rpartition(".")[2] in _MEDIA_TYPES
        }
        self._files["console.css"] = _without_filling(self._files["console.css"])
        scripts = b"".join(self._files[f"{name}.js"] for name in _SCRIPTS)
        self._files["app.js"] = _trimmed(
            line for line in scripts.splitlines() if not line.lstrip().startswith(b"//")
        )
        texts = Texts()
        self._templates.filters["digest"] = _digest
        self._templates.filters["difference"] = mark_difference
        self._templates.filters["size"] = _size
        self._templates.filters["breakable"] = _breakable
        self._templates.filters["address"] = _address
        self._templates.filters["place"] = _place
        self._templates.filters["path_on"] = _path_on
        self._templates.filters["sentence"] = sentence
        self._templates.filters["plain"] = plain_lines
        self._templates.filters["said_of"] = lambda reason, url: _said_of(reason, url, texts)
        self._templates.filters["age"] = lambda text: age_of(text, texts)
        self._templates.globals.update(
            asset=self._asset, version=__version__, t=texts, texts_of=texts.of_section
        )

    def show(
        self,
        request: Request,
        template: str,
        values: Mapping[str, Any],
        *,
        status: int = 200,
        connect_to: str | None = None,
    ) -> Response:
        """Return a page, or its main part alone when a script of the page asks for it."""
        is_part = "hx-request" in request.headers
        layout = self._templates.get_template("part.html" if is_part else "whole.html")
        text = self._templates.get_template(template).render(
            {"path": request.url.path, **values}, layout=layout
        )
        return HTMLResponse(text, status_code=status, headers=guard_headers(connect_to=connect_to))

    def render(self, template: str, values: Mapping[str, Any]) -> str:
        """Return a part of a page."""
        return self._templates.get_template(template).render(values)

    def send_file(self, name: str) -> Response:
        """Return a static file; its address changes whenever its content does."""
        content = self._files.get(name)
        if content is None:
            return Response("not found", status_code=404, media_type="text/plain")
        return Response(
            content,
            media_type=_MEDIA_TYPES[name.rpartition(".")[2]],
            headers={
                "Cache-Control": _FOR_A_YEAR,
                "ETag": f'"{_digest(content)}"',
                "X-Content-Type-Options": "nosniff",
            },
        )

    def _asset(self, name: str) -> str:
        return f"{STATIC}/{name}?v={_digest(self._files[name])}"


def _without_filling(css: bytes) -> bytes:
    """Return a style sheet without comments, indentation and empty lines: an eighth of it."""
    kept = b"".join(part.rpartition(b"*/")[2] for part in css.split(b"/*"))
    return _trimmed(kept.splitlines())


def _trimmed(lines: Iterable[bytes]) -> bytes:
    return b"\n".join(line.strip() for line in lines if line.strip())


def _digest(content: str | bytes) -> str:
    """Return what changes whenever the content does."""
    content = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(content).hexdigest()[:12]


def _size(count: int) -> str:
    """Return a number of bytes as people read it."""
    size, units = float(count), iter(("kB", "MB", "GB"))
    unit = "bytes"
    while size >= 1000 and (larger := next(units, None)) is not None:
        size, unit = size / 1000, larger
    return f"{size:,.0f} {unit}" if unit == "bytes" or size >= 10 else f"{size:.1f} {unit}"


def sentence(message: str) -> str:
    """Return a message as a sentence: with a capital, unless it begins with a name, and an end."""
    words = message.strip()
    if re.match(r"[a-z]+[ ,]", words):
        words = words[0].upper() + words[1:]
    return words if not words or words[-1] in ".!?:…)" else f"{words}."


def _breakable(text: str) -> Markup:
    """Return a text whose long names are broken into lines at their dots and underscores."""
    return Markup(_LONG_NAME.sub(_with_break_points, str(escape(text))))


def _address(url: str) -> str:
    """Return the host and path of a URL, by which people tell one site from another."""
    return url.partition("://")[2].partition("#")[0].rstrip("/")


def _place(url: str) -> str:
    """Return an address as people write it: the path of a file, any other as it is."""
    return unquote(url.removeprefix("file://")) if url.startswith("file:///") else url


def _path_on(url: str, site: str) -> str:
    """Return the path of a page on the host of a site; the whole URL where that is another one."""
    host = "/".join(site.split("/", 3)[:3])
    return url.removeprefix(host) if url.startswith(f"{host}/") else url


def _said_of(reason: str, url: str, texts: Texts) -> str:
    """Return a reason without the address that the page shows beside it."""
    # Not where it is the beginning of another address.
    address = re.compile(rf"{re.escape(url)}(?=[,;:.)]*+(?:\s|$))")
    words = address.sub(texts("error.the_page"), reason) if url else reason
    return words if words == reason else words[:1].upper() + words[1:]


def mark_difference(text: str) -> Markup:
    """Return the difference of two quotes with its words marked instead of signs around them."""
    marked = _REMOVED.sub(r"<del>\1</del>", str(escape(text)))
    return Markup(_ADDED.sub(r"<ins>\1</ins>", marked))


def html_of(html: str) -> Markup:
    """Return HTML that `render_stored_texts` made, which lets none of foreign texts through.

    Long names in it are broken into lines at their dots and underscores, but not in code blocks.
    """
    return Markup(_LONG_NAME.sub(_with_break_points, html))


def _with_break_points(match: re.Match[str]) -> str:
    return match[0] if match["whole"] else _BETWEEN_PARTS.sub(r"\g<0><wbr>", match[0])


def guard_headers(*, connect_to: str | None = None) -> dict[str, str]:
    """Return the headers of a page: nothing runs or loads but the console's own files.

    `connect_to` is an origin that the page's scripts may call too.
    """
    allowed = "'self'"
    if connect_to is not None:
        allowed += f" {connect_to}"
    policy = (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        f"connect-src {allowed}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        # Not no-referrer: with that, a form sent without scripts says that it comes from nowhere.
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Vary": "Authorization, HX-Request",
    }
