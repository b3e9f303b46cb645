"""Releases: which product a page documents, and in which version.

The address of a package's page says it (`pypi:django@4.2.30/django.db`), a tag does
(`django@4.2`), or a site's address by the habits of documentation hosts (`/en/4.2/`).
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from citewell.core.frozen import frozen

# An npm name may have a scope, which begins with @.
_PACKAGE = re.compile(r"(pypi|npm|cargo|go|gem|composer|maven):(@?[^@\s]{1,200})@([^/@\s]{1,100})/")
_TAG = re.compile(r"^((?:[a-z]{2,10}:)?@?[^@\s]{1,200})@(?:v?(\d[\w.+-]{0,60})|(latest))")
_DOTTED = r"v?\d{1,4}(?:\.\d{1,6}){1,3}(?:[-.]?(?:a|b|rc|alpha|beta|dev)[\d.]{0,8})?"
_VERSION_FOLDER = re.compile(
    rf"/(?:(?:docs?|documentation|manual|[a-z]{{2}}(?:-[a-z]{{2}})?)/){{0,2}}({_DOTTED})(?=/|$)",
    re.IGNORECASE,
)
_NUMBER_FOLDER = re.compile(r"/(?:docs?|documentation|manual)/(?:[a-z]{2}/)?(\d{1,3})(?=/|$)")
_DOCS_RS = re.compile(r"/([a-z0-9_-]{1,64})/(\d[\w.+-]{0,40})(?=/|$)", re.IGNORECASE)
_GO_DEV = re.compile(r"/(.{1,200}?)@v(\d[\w.+-]{0,60})(?=/|$)")


@frozen
class Release:
    """A product in one version."""

    product: str
    """With its ecosystem where that is known: `pypi:django`."""
    version: str

    @property
    def name(self) -> str:
        """The product without its ecosystem."""
        return self.product.partition(":")[2] or self.product

    @property
    def key(self) -> str:
        """What filters compare, and tags are written as."""
        return f"{self.product}@{self.version}"

    @property
    def label(self) -> str:
        """What a reader is shown."""
        return f"{self.name} {self.version}" if self.product else ""


@frozen
class PageRelease:
    """The release that a page documents, and which of its pages it is."""

    release: Release
    place: str
    """Its address without the version: what the same page of every version shares."""


NO_RELEASE = PageRelease(release=Release(product="", version=""), place="")
UNVERSIONED = NO_RELEASE.release.key
"""The key that all pages share which document no release."""


def release_of_page(url: str, tags: tuple[str, ...] = ()) -> PageRelease:
    """Return what a page documents by its tags or its address; NO_RELEASE when neither says."""
    if match := _PACKAGE.match(url):
        release = Release(product=f"{match[1]}:{match[2]}", version=match[3])
        return PageRelease(release=release, place=url[: match.start(3)] + url[match.end(3) :])
    of_site, place = _release_of_site(url)
    named = next((tagged for tag in tags if (tagged := parse_release_tag(tag))), of_site)
    if named is None:
        return NO_RELEASE
    if of_site is None:
        place = _without_version(url, named.version)
    return PageRelease(release=named, place=place)


def parse_release_tag(tag: str) -> Release | None:
    """Return the release that a tag such as `django@4.2` names."""
    match = _TAG.fullmatch(tag)
    if match is None:
        return None
    return Release(product=match[1].lower(), version=match[2] or match[3])


def _without_version(url: str, version: str) -> str:
    """Return an address without the first segment that names the version its tag says."""
    segments = url.split("/")
    for place, segment in enumerate(segments):
        name, mark, spelt = segment.rpartition("@")
        if place > 2 and spelt.removeprefix("v").removesuffix(".x") == version:
            return "/".join([*segments[:place], name + mark, *segments[place + 1 :]])
    return url


def _release_of_site(url: str) -> tuple[Release | None, str]:
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    if parts.scheme not in ("http", "https") or not host:
        return None, url
    if host == "docs.rs" and (match := _DOCS_RS.match(parts.path)):
        product, version = f"cargo:{match[1]}", 2
    elif host == "pkg.go.dev" and (match := _GO_DEV.match(parts.path)):
        product, version = f"go:{match[1]}", 2
    elif match := _VERSION_FOLDER.match(parts.path) or _NUMBER_FOLDER.match(parts.path):
        product, version = name_of_host(host), 1
    else:
        return None, url
    place = parts.path[: match.start(version)] + parts.path[match.end(version) :]
    release = Release(product=product, version=match[version].lower().removeprefix("v"))
    return release, f"{host}{place}"


def name_of_host(host: str) -> str:
    """Return what a product is called by the host of its documentation."""
    labels = host.split(".")
    if host.endswith((".readthedocs.io", ".readthedocs-hosted.com", ".github.io")):
        return labels[0]
    if len(labels) < 2 or labels[-1].isdigit():
        return host
    return labels[-2].removesuffix("project") or labels[-2]
