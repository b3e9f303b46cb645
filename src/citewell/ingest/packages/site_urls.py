"""Guess the documentation URLs of a package from its metadata and the conventions of hosts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from citewell.ingest.packages.installed import find_distribution
from citewell.ingest.packages.project_files import load_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.ingest.packages.dependency import Dependency, Ecosystem

HOSTED: Mapping[Ecosystem, str] = {
    "cargo": "https://docs.rs/{name}/{version}/{module}/",
    "go": "https://pkg.go.dev/{name}@v{version}",
    "gem": "https://www.rubydoc.info/gems/{name}/{version}",
    "maven": "https://javadoc.io/doc/{path}/{version}/",
}
"""Hosts that have the documentation of every package of an ecosystem, in every version."""

_MOST_URLS = 3
_LABELS = ("documentation", "docs", "doc", "reference", "manual", "homepage", "home")
# These hosts show a package's source, index entry or issues, not its documentation.
_CODE_HOSTS = re.compile(
    r"^(?:.+\.)?(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|sourceforge\.net|sr\.ht"
    r"|gitee\.com|npmjs\.com|pypi\.org|packagist\.org|crates\.io|rubygems\.org)"
)
_VERSION_SEGMENT = re.compile(
    r"v?\d{1,4}(?:\.(?:\d{1,6}|x)){1,3}|latest|stable|current|main|master|dev|devel|head|next",
    re.IGNORECASE,
)


def documentation_urls(
    dependency: Dependency, hosts: Mapping[Ecosystem, str] = HOSTED
) -> list[str]:
    """Return the likely start pages of a package's documentation, likeliest first."""
    if dependency.ecosystem == "pypi":
        urls = _python_urls(dependency)
    elif dependency.ecosystem == "npm":
        urls = _npm_urls(dependency)
    else:
        urls = list(dependency.documentation_urls)
    if dependency.version is not None and (pattern := hosts.get(dependency.ecosystem)):
        urls.append(
            pattern.format(
                name=dependency.name,
                version=dependency.version.removeprefix("v"),
                module=dependency.name.replace("-", "_"),
                path=dependency.name.replace(":", "/"),
            )
        )
    return list(dict.fromkeys(url for url in urls if _may_document(url)))[:_MOST_URLS]


def version_urls(url: str, version: str) -> list[str]:
    """Return the addresses at which a site that begins at `url` may keep another version."""
    parts = urlsplit(url)
    segments = [segment for segment in parts.path.split("/") if segment]
    if segments and "." in segments[-1] and not _VERSION_SEGMENT.fullmatch(segments[-1]):
        segments.pop()
    place = next((i for i, each in enumerate(segments) if _VERSION_SEGMENT.fullmatch(each)), None)
    found = []
    for spelt in _spellings(version):
        if place is not None:
            changed = [[*segments[:place], spelt, *segments[place + 1 :]]]
        else:
            changed = [[*segments, spelt], [*segments, "en", spelt]]
        found += [
            urlunsplit((parts.scheme, parts.netloc, "/" + "/".join(each) + "/", "", ""))
            for each in changed
        ]
    return [address for address in found if address != url]


def version_in_url(url: str, version: str) -> str | None:
    """Return `version` as precisely as a URL names it; None when it does not."""
    segments = {segment.rpartition("@")[2] for segment in urlsplit(url).path.split("/")}
    spelt = next((spelling for spelling in _spellings(version) if spelling in segments), None)
    return None if spelt is None else spelt.removeprefix("v").removesuffix(".x")


def _spellings(version: str) -> list[str]:
    numbers = version.removeprefix("v").split(".")
    short = ".".join(numbers[:2])
    whole = ".".join(numbers)
    return list(dict.fromkeys((whole, f"v{whole}", short, f"v{short}", f"{short}.x")))


def _python_urls(dependency: Dependency) -> list[str]:
    dist = find_distribution(dependency)
    if dist is None:
        return []
    written = dist.metadata.json
    labelled: list[tuple[str, str]] = []
    for entry in _strings(written.get("project_url")):
        label, _, url = entry.partition(",")
        labelled.append((label.strip().lower(), url.strip()))
    labelled += [("documentation", url) for url in _strings(written.get("docs_url"))]
    labelled += [("homepage", url) for url in _strings(written.get("home_page"))]
    ranked = [
        (rank, url)
        for label, url in labelled
        for rank, known in enumerate(_LABELS)
        if label.startswith(known)
    ]
    return [url for _, url in sorted(ranked, key=lambda pair: pair[0])]


def _npm_urls(dependency: Dependency) -> list[str]:
    if dependency.location is None:
        return []
    homepage = load_json(dependency.location, "package.json", []).get("homepage")
    return [homepage] if isinstance(homepage, str) else []


def _strings(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [value for value in values if isinstance(value, str)]


def _may_document(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host = (parts.hostname or "").lower()
    return parts.scheme in ("http", "https") and bool(host) and not _CODE_HOSTS.fullmatch(host)
