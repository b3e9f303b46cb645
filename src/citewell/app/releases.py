"""List the products and versions that the corpus documents, and drop old ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from citewell.core.errors import NotFound
from citewell.core.frozen import frozen
from citewell.core.library import WebsiteQuery
from citewell.core.releases import parse_release_tag
from citewell.core.version_ranges import is_in_range, is_version_range, newest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.releases import Release
    from citewell.core.settings import Settings
    from citewell.store.protocol import Store

_MOST_WEBSITES = 10_000


class StoredCorpus(Protocol):
    """Where pages are kept."""

    @property
    def settings(self) -> Settings:
        """Name the project."""

    @property
    def store(self) -> Store:
        """Hold the pages."""


@frozen
class KnownRelease:
    """A release that is stored, with the folders that use it."""

    release: Release
    pages: int
    used_in: tuple[str, ...]


async def list_known_releases(corpus: StoredCorpus) -> list[KnownRelease]:
    """Return the stored releases of the project, by product, the newest version of each first."""
    project = corpus.settings.project
    used = await corpus.store.releases.used_releases(project)
    return [
        KnownRelease(
            release=stored.release,
            pages=stored.pages,
            used_in=tuple(use.folder for use in used if use.release == stored.release),
        )
        for stored in await corpus.store.releases.list_releases(project)
    ]


async def drop_releases(corpus: StoredCorpus, names: Sequence[str]) -> dict[Release, int]:
    """Delete the pages of releases named as `django@3.2.25`, `django<4` or `django`.

    Returns how many pages each of them had.

    Raises:
        NotFound: one of the names fits nothing; then nothing is deleted.
    """
    known = [entry.release for entry in await list_known_releases(corpus)]
    due: dict[Release, None] = {}
    for name in names:
        fitting = [release for release in known if _is_named(release, name)]
        if not fitting:
            raise NotFound(
                f"No indexed package is called {name[:80]!r}.",
                suggestion="`citewell packages` lists what is indexed.",
            )
        due |= dict.fromkeys(fitting)
    return await _drop(corpus, list(due))


async def drop_other_versions(corpus: StoredCorpus, release: Release) -> dict[Release, int]:
    """Delete all other versions of a release's product."""
    stored = [entry.release for entry in await list_known_releases(corpus)]
    others = [other for other in stored if other.product == release.product and other != release]
    return await _drop(corpus, others)


async def drop_old_releases(corpus: StoredCorpus) -> dict[Release, int]:
    """Delete every release that no synced folder uses, except the newest of a product."""
    known = await list_known_releases(corpus)
    due = []
    for entry in known:
        versions = [other for other in known if other.release.product == entry.release.product]
        in_use = [other.release.version for other in versions if other.used_in]
        kept: list[str | None] = [*in_use] or [newest(other.release.version for other in versions)]
        if entry.release.version not in kept:
            due.append(entry.release)
    return await _drop(corpus, due)


async def _drop(corpus: StoredCorpus, releases: Sequence[Release]) -> dict[Release, int]:
    project = corpus.settings.project
    dropped = {
        release: await corpus.store.releases.drop_release(project, release) for release in releases
    }
    query = WebsiteQuery(project=project, limit=_MOST_WEBSITES)
    for website in (await corpus.store.library.list_websites(query)).websites:
        # A site without pages would be crawled again by its next refresh.
        documented = {parse_release_tag(tag) for tag in website.tags}
        if website.pages == 0 and documented & dropped.keys():
            await corpus.store.library.delete_website(website.source_id, project=project)
    return dropped


def _is_named(release: Release, name: str) -> bool:
    for known in (release.product, release.name):
        rest = name[len(known) :] if name.lower().startswith(known.lower()) else None
        if rest is not None and (not rest or rest[0] in "@<>=!~^ "):
            wanted = rest.lstrip("@ ")
            if not wanted or wanted == release.version:
                return True
            if is_version_range(wanted) and is_in_range(release.version, wanted):
                return True
    return False
