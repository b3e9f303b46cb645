"""Which versions a search sees: those asked for, else the project's own, else the newest."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.boundary import label
from citewell.core.errors import InvalidArgument
from citewell.core.frozen import frozen
from citewell.core.releases import UNVERSIONED, Release, parse_release_tag
from citewell.core.version_ranges import (
    LATEST,
    is_in_range,
    is_same_version,
    is_version_range,
    newest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from citewell.core.records import SearchFilter, StoredChunk
    from citewell.store.protocol import Store
    from citewell.store.releases import UsedRelease

_SEPARATORS = re.compile(r"[-_.\s]+")
_VERSION = r"v?\d{1,4}(?:\.(?:\d{1,6}|x|\*)){0,3}(?:[-.]?(?:a|b|rc|alpha|beta|dev|next)[\d.]{0,8})?"
_RANGE = rf"(?:[<>=!~^]{{1,3}}\s?)?{_VERSION}(?:\s?,\s?[<>=!~^]{{1,3}}\s?{_VERSION})*"
_MOST_LISTED = 8


@frozen
class ChosenReleases:
    """The filter with the versions decided, and what of the question decided them."""

    where: SearchFilter
    notes: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    """The versions that the question names, as written; no page need hold these words."""
    used: Mapping[str, tuple[str, ...]]
    """The versions that the project uses, by product name."""

    def without_versions(self, text: str) -> str:
        """Return a question without the versions it names."""
        for mention in self.mentions:
            text = text.replace(mention, " ", 1)
        return " ".join(text.split()) if self.mentions else text

    def warn_of_other_versions(self, chunks: Iterable[StoredChunk]) -> tuple[str, ...]:
        """Return a note for each release quoted that is not the one the project uses."""
        quoted = {chunk.release.key: chunk.release for chunk in chunks if chunk.release.product}
        return tuple(
            f"This project uses {release.name} {' and '.join(self.used[release.name])}; "
            f"the evidence is from {_spoken(release)}."
            for release in quoted.values()
            if release.name in self.used
            and not any(is_same_version(release.version, own) for own in self.used[release.name])
        )


async def choose_releases(question: str, *, store: Store, where: SearchFilter) -> ChosenReleases:
    """Return `where` narrowed to the versions that the question is about.

    The caller's `version` decides, then a version in the question ("in Django 3.2 …"), then what
    the project uses, then the newest that is stored. Pages and releases that a caller names one by
    one are left as they are.

    Raises:
        InvalidArgument: `version` is no version or range, or nothing stored fits it.
    """
    if where.version is not None and not is_version_range(_range_of(where.version)[1]):
        raise InvalidArgument(
            f"{where.version[:80]!r} is not a version.",
            suggestion='Pass a version such as "4.2", a range such as ">=4,<5", or "latest".',
        )
    if where.project is None:
        return ChosenReleases(where=where, used={})
    used = _used_versions(await store.releases.used_releases(where.project), _working_folder())
    if where.releases is not None or _names_its_pages(where):
        return ChosenReleases(where=where, used=used)
    listed = await store.releases.list_releases(where.project)
    stored = [each.release for each in listed]
    if not stored:
        if where.version is not None and where.source_ids is None:
            raise InvalidArgument("No indexed page documents a known version of a product.")
        return ChosenReleases(where=where, used={})
    if where.version is not None:
        return ChosenReleases(where=_narrow(where, question, stored), used={})
    asked, mentions, notes = _asked_in_question(question, stored)
    chosen, newest_ones = _prefer(stored, asked=asked, used=used)
    other = {name: versions for name, versions in used.items() if name not in asked}
    if len(chosen) < len(stored):
        where = replace(where, releases=(UNVERSIONED, *(release.key for release in chosen)))
    if newest_ones:
        where = replace(where, superseding=tuple(release.key for release in newest_ones))
    return ChosenReleases(where=where, notes=notes, mentions=mentions, used=other)


def names_version(question: str, product: str) -> bool:
    """Return whether a question names a version of a product: `in Django 3.2`."""
    return bool(_find_versions(question, product))


def _spoken(release: Release) -> str:
    if release.version == LATEST:
        return "documentation that does not say its version"
    return release.label


def _names_its_pages(where: SearchFilter) -> bool:
    if where.version is not None:
        return False
    is_listed = where.source_ids is not None or where.url_prefix is not None
    return is_listed or any(parse_release_tag(tag) for tag in where.tags)


def _narrow(where: SearchFilter, question: str, stored: Sequence[Release]) -> SearchFilter:
    """Apply the caller's `version` to the product it or the question names, or to every one."""
    assert where.version is not None
    name, wanted = _range_of(where.version)
    names = {release.name for release in stored}
    about = {name} if name else {each for each in names if _mentions_name(question, each)} or names
    fitting = [
        release
        for each in sorted(about)
        for release in _fitting([one for one in stored if _same_name(one.name, each)], wanted)
    ]
    if where.source_ids is not None:
        # Pages that the caller names may document no release at all.
        return replace(where, releases=(UNVERSIONED, *(release.key for release in fitting)))
    if not fitting:
        # A package and its site have the same label.
        labels = list(dict.fromkeys(release.label for release in stored))
        listed = ", ".join(label(each) for each in labels[:_MOST_LISTED])
        more = " and others" if len(labels) > _MOST_LISTED else ""
        raise InvalidArgument(
            f"No indexed page documents version {where.version[:80]!r}.",
            suggestion=f"Indexed are {listed}{more}.",
            versions=listed,
        )
    return replace(where, releases=tuple(release.key for release in fitting))


def _range_of(version: str) -> tuple[str | None, str]:
    """Return the product that `version` names, if any, and the range: "django>=4" has both."""
    match = re.fullmatch(r"(@?[A-Za-z][\w./-]*?)(?:[@ ]|(?=[<>=!~^]))\s*(.+)", version.strip())
    return (match[1], match[2]) if match else (None, version)


def _asked_in_question(
    question: str, stored: Sequence[Release]
) -> tuple[dict[str, list[Release]], tuple[str, ...], tuple[str, ...]]:
    """Return the releases that the question names by product, its words, and what is not stored."""
    asked: dict[str, list[Release]] = {}
    mentions: list[str] = []
    notes: list[str] = []
    for name in sorted({release.name for release in stored}, key=len, reverse=True):
        own = [release for release in stored if release.name == name]
        for wanted, words in _find_versions(question, name):
            fitting = _fitting(own, wanted)
            mentions.append(words)
            asked.setdefault(name, []).extend(fitting)
            if not fitting:
                versions = ", ".join(release.version for release in own[:_MOST_LISTED])
                notes.append(f"{name} {wanted} is not indexed; indexed: {versions}.")
    return {name: found for name, found in asked.items() if found}, tuple(mentions), tuple(notes)


def _find_versions(question: str, name: str) -> list[tuple[str, str]]:
    """Return the versions of a product that a question names, each with the words that do."""
    spelt = _spelling(name)
    if spelt is None or _SEPARATORS.split(name)[0].lower() not in question.lower():
        return []
    after = rf"(?<![\w@/-]){spelt}(?:\.js)?(?:['’]s)?(?:\s*@|\s+)?(?:(?:version|release)\s+)?"
    of_it = rf"(?:version\s+|release\s+)?of\s+{spelt}(?!\w)"
    pattern = (
        rf"{after}(?P<a>{_RANGE})(?![\w%])"
        rf"|(?P<n>\blatest)\s+(?:version\s+of\s+)?{spelt}(?!\w)"
        rf"|(?:\bversion\s+|\bv|\b)(?P<b>{_VERSION})\s+{of_it}"
    )
    found = []
    for match in re.finditer(pattern, question, re.IGNORECASE):
        group = next(each for each in ("a", "b", "n") if match[each])
        wanted = match[group].strip()
        words = match[0][match.start(group) - match.start() :] if group == "a" else match[group]
        found.append((LATEST if group == "n" else wanted.rstrip("."), words))
    return found


def _fitting(releases: Sequence[Release], wanted: str) -> list[Release]:
    if wanted.strip().lower() == LATEST:
        version = newest(release.version for release in releases)
        return [release for release in releases if release.version == version]
    # A site that documents 4.2 documents 4.2.30 as well.
    is_plain = wanted.strip().lower().lstrip("v=")[:1].isdigit() and "," not in wanted
    return [
        release
        for release in releases
        if is_in_range(release.version, wanted)
        or (is_plain and is_same_version(release.version, wanted.strip("= ")))
    ]


def _prefer(
    stored: Sequence[Release],
    *,
    asked: Mapping[str, Sequence[Release]],
    used: Mapping[str, Sequence[str]],
) -> tuple[list[Release], list[Release]]:
    """Return the releases to search, and those of them whose pages hide older siblings."""
    chosen: list[Release] = []
    newest_ones: list[Release] = []
    by_product: dict[str, list[Release]] = {}
    for release in stored:
        by_product.setdefault(release.product, []).append(release)
    for own in by_product.values():
        name = own[0].name
        if name in asked:
            # A site of another version is no answer where the package itself has the right one.
            chosen += [release for release in asked[name] if release in own]
            continue
        in_use = [
            release
            for release in own
            if any(is_same_version(release.version, version) for version in used.get(name, ()))
        ]
        chosen += in_use or own
        if not in_use and len(own) > 1:
            newest_ones += _fitting(own, LATEST)
    return chosen, newest_ones


def _used_versions(used: Iterable[UsedRelease], here: Path) -> dict[str, tuple[str, ...]]:
    """Return the versions in use by product name.

    Those of the innermost synced folder around `here` that uses the product, else those of all.
    """
    by_name: dict[str, list[UsedRelease]] = {}
    for each in used:
        by_name.setdefault(each.release.name, []).append(each)
    versions: dict[str, tuple[str, ...]] = {}
    for name, several in by_name.items():
        around = [each.folder for each in several if here.is_relative_to(each.folder)]
        inner = max(around, key=len, default=None)
        own = [each for each in several if inner is None or each.folder == inner]
        versions[name] = tuple(dict.fromkeys(each.release.version for each in own))
    return versions


def _working_folder() -> Path:
    """Return where this process runs: a shell, or a server that a client started in a project."""
    try:
        return Path.cwd()
    except OSError:
        return Path("/")  # its folder was deleted


def _mentions_name(question: str, name: str) -> bool:
    spelt = _spelling(name)
    return bool(spelt and re.search(rf"(?<!\w){spelt}(?!\w)", question, re.IGNORECASE))


def _spelling(name: str) -> str | None:
    """Return a pattern for a product's name with any separators between its parts."""
    parts = [re.escape(part) for part in _SEPARATORS.split(name) if part]
    return r"[-_.\s]?".join(parts) or None


def _same_name(name: str, other: str) -> bool:
    return _SEPARATORS.sub("-", name).lower() == _SEPARATORS.sub("-", other).lower()
