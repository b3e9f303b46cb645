"""URLs as browsers read them: one canonical form, resolving links, the same-site test."""

from __future__ import annotations

import re
from functools import lru_cache

from ada_url import join_url, normalize_url

from citewell.core.errors import NotAUrl
from citewell.core.frozen import frozen

# Servers and proxies refuse longer ones; what is longer is data, not an address.
MAX_URL_CHARACTERS = 8_192
_SHOWN_CHARACTERS = 200
_WEB_SCHEMES = ("http://", "https://")
_FILE_SCHEME = "file:///"
# Pages made from installed packages, such as pypi:django@4.2.30/django.db.models.query.
_PACKAGE_SCHEMES = ("pypi:", "npm:")
_ROUTES = ("/", "!")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_CREDENTIALS = re.compile(r"^([\w+.-]+:)?[/\\]*[^/\\?#]*@")
_IGNORED_IN_URLS = re.compile(r"[\t\r\n]")
_LOOKS_LIKE_A_HOST = re.compile(r"[\w-]+(\.[\w-]+)+(:\d+)?([/?#]\S*)?", re.ASCII)


@frozen
class UrlParts:
    """What a request needs to know of a canonical URL."""

    scheme: str
    host: str
    """Lower case, punycode; an IPv6 address stands in brackets."""
    port: int
    target: str
    """Path and query, as sent in the request line."""

    @property
    def origin(self) -> str:
        """Scheme, host and port: what shares one robots.txt."""
        return f"{self.scheme}://{self.host}:{self.port}"


def canonical_url(text: str) -> str:
    """Return `text` as the URL a browser would ask for, without its fragment.

    A fragment that names a page of its own is kept: a route (`#/…`, `#!…`) for the page's script.
    The host is lower case and in punycode, IPv4 addresses are in dotted form, dot segments are
    resolved and the default port is dropped. The query keeps its order.

    Raises:
        NotAUrl: it is not an http or https URL, or it carries a user name or password.
    """
    if len(text) > MAX_URL_CHARACTERS:
        raise NotAUrl(f"the URL is longer than {MAX_URL_CHARACTERS} characters")
    try:
        url: str = normalize_url(text)
    except ValueError as error:
        raise NotAUrl(f"{shown_url(text)!r} is not a URL", suggestion=_suggestion(text)) from error
    if not url.startswith(_WEB_SCHEMES):
        raise NotAUrl(f"{shown_url(text)!r} is not an http or https URL")
    if _has_credentials(url):
        raise NotAUrl(
            f"{shown_url(text)!r} carries a user name or password",
            suggestion="Leave the user name and password out of the URL.",
        )
    if _authority(url).endswith(":0"):
        # Clients take it for no port at all, and would ask another one than was checked.
        raise NotAUrl(f"{shown_url(text)!r} names a port that no server has")
    return without_anchor(url)


def page_address(text: str) -> str:
    """Return what a page is stored under: its canonical URL, or the `file://` URL of a file.

    That a URL of a file is accepted here means that a stored page may be named by it, no more.

    Raises:
        NotAUrl: it is neither.
    """
    return without_anchor(text) if is_file_url(text) else canonical_url(text)


def is_file_url(url: str) -> bool:
    """Return whether the URL names a file or a package of a machine, which no fetch ever reads."""
    return url.startswith((_FILE_SCHEME, *_PACKAGE_SCHEMES))


def without_anchor(url: str) -> str:
    """Return `url` without its fragment, unless that names a page of its own."""
    page, _, fragment = url.partition("#")
    return url if fragment.startswith(_ROUTES) else page


def resolve_url(base: str, href: str) -> str | None:
    """Return where `href` on the page `base` leads, fragment kept, or None if not to the web.

    A page of a file may also link to other files; a page of the web never.
    """
    try:
        url: str = join_url(base, href)
    except ValueError:
        return None
    schemes = (*_WEB_SCHEMES, _FILE_SCHEME) if is_file_url(base) else _WEB_SCHEMES
    if not url.startswith(schemes) or len(url) > MAX_URL_CHARACTERS:
        return None
    return None if "@" in url and _has_credentials(url) else url


def same_site(first: str, second: str) -> bool:
    """Return whether two canonical URLs are of one host and port, "www." and scheme aside."""
    return _site(first) == _site(second)


def split_url(url: str) -> UrlParts:
    """Return the parts of a canonical URL."""
    scheme, _, rest = url.partition("://")
    slash = rest.index("/")
    host, colon, port = rest[:slash].rpartition(":")
    if not colon or port.endswith("]"):
        host, port = rest[:slash], ""
    return UrlParts(
        scheme=scheme,
        host=host,
        port=int(port) if port else _DEFAULT_PORTS[scheme],
        target=rest[slash:].partition("#")[0],
    )


def shown_url(text: str) -> str:
    """Return `text` fit for a message: without credentials, on one line, shortened."""
    plain = _CREDENTIALS.sub(r"\1//", _IGNORED_IN_URLS.sub("", text).strip())
    plain = "".join(character if character.isprintable() else " " for character in plain)
    if len(plain) <= _SHOWN_CHARACTERS:
        return plain
    return plain[: _SHOWN_CHARACTERS - 1] + "…"


def _has_credentials(url: str) -> bool:
    return "@" in _authority(url)


def _authority(url: str) -> str:
    return url[: url.index("/", len("https://"))]


# The links of a page lead to few sites, and each is compared with the page's own.
@lru_cache(maxsize=2048)
def _site(url: str) -> tuple[str, int | None]:
    parts = split_url(url)
    port = None if parts.port == _DEFAULT_PORTS[parts.scheme] else parts.port
    return parts.host.removeprefix("www."), port


def _suggestion(text: str) -> str:
    plain = text.strip()
    if _LOOKS_LIKE_A_HOST.fullmatch(plain):
        return f"Write the whole URL, with its scheme: https://{shown_url(plain)}"
    return NotAUrl.suggestion
