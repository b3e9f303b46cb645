"""Find and index the documentation sites of a project's packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from citewell.app.websites import preview_site
from citewell.core.errors import CitewellError
from citewell.core.frozen import frozen
from citewell.core.library import CrawlOptions, WebsiteDraft, WebsiteQuery
from citewell.core.progress import OnProgress, Progress, no_progress
from citewell.core.releases import Release, parse_release_tag
from citewell.core.version_ranges import is_same_version
from citewell.ingest.packages.find_site import PackageSite, find_site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.app.parts import PartName, Parts
    from citewell.core.library import Website
    from citewell.core.settings import Settings
    from citewell.ingest.packages.dependency import Dependency

SITE_NEEDS: tuple[PartName, ...] = ("store", "fetcher", "library", "events")
_SITES_AT_ONCE = 8
_MOST_WEBSITES = 10_000


@frozen
class SiteOffer:
    """What is known of a package's documentation site."""

    site: PackageSite | None = None
    pages: int | None = None
    """How many would be read; None when only a crawl would tell."""
    is_indexed: bool = False
    problem: str = ""
    """Why there is none."""


async def offer_sites(
    parts: Parts,
    dependencies: Sequence[Dependency],
    *,
    max_pages: int,
    on_progress: OnProgress = no_progress,
) -> list[SiteOffer]:
    """Return the site of each package; sites that are not indexed yet were reached just now."""
    query = WebsiteQuery(project=parts.settings.project, limit=_MOST_WEBSITES)
    websites = (await parts.store.library.list_websites(query)).websites
    offers: dict[int, SiteOffer] = {}
    limit = anyio.Semaphore(_SITES_AT_ONCE)

    async def look(place: int, dependency: Dependency) -> None:
        known = next(
            (website for website in websites if _owner_tag(dependency) in website.tags), None
        )
        async with limit:
            offers[place] = (
                await _find_offer(parts, dependency, max_pages=max_pages)
                if known is None
                else _indexed_offer(known, dependency)
            )
        done = len(offers)
        message = "Looking for documentation sites"
        await on_progress(
            Progress(phase="ingest", message=message, done=done, total=len(dependencies))
        )

    async with anyio.create_task_group() as tasks:
        for place, dependency in enumerate(dependencies):
            tasks.start_soon(look, place, dependency)
    return [offers[place] for place in range(len(dependencies))]


def site_draft(
    settings: Settings, dependency: Dependency, site: PackageSite, *, max_pages: int
) -> WebsiteDraft:
    """Return a site as an entry of the library.

    Its pages have the package's name and the version that the site documents.
    """
    return WebsiteDraft(
        url=site.url,
        project=settings.project,
        kind="site",
        tags=(*settings.scope_tags, site_release(dependency, site).key, _owner_tag(dependency)),
        options=CrawlOptions(max_pages=max_pages),
    )


def site_release(dependency: Dependency, site: PackageSite) -> Release:
    """Return the release that the pages of a site document."""
    return Release(product=_product(dependency).lower(), version=site.version)


async def _find_offer(parts: Parts, dependency: Dependency, *, max_pages: int) -> SiteOffer:
    try:
        site = await find_site(parts.fetcher, dependency)
        if site is None:
            return SiteOffer(problem="no documentation site is known")
        preview = await preview_site(parts, site.url, CrawlOptions(max_pages=max_pages))
    except CitewellError as error:
        return SiteOffer(problem=error.message)
    pages = None if preview.discovery == "links" else len(preview.urls)
    return SiteOffer(site=site, pages=pages)


def _indexed_offer(website: Website, dependency: Dependency) -> SiteOffer:
    product = _product(dependency).lower()
    releases = [release for tag in website.tags if (release := parse_release_tag(tag))]
    version = next((release.version for release in releases if release.product == product), "")
    is_exact = is_same_version(version, dependency.version or "")
    site = PackageSite(url=website.url, version=version, is_exact=is_exact)
    return SiteOffer(site=site, pages=website.pages, is_indexed=website.status == "completed")


def _product(dependency: Dependency) -> str:
    """Return the product of a site, which differs from that of the package's own pages.

    So a site of another version can be searched beside those pages.
    """
    has_own_pages = dependency.ecosystem in ("pypi", "npm")
    return dependency.name if has_own_pages else dependency.release.product


def _owner_tag(dependency: Dependency) -> str:
    """Return the tag that marks the site of a dependency."""
    return f"synced:{dependency.ecosystem}:{dependency.name}={dependency.version}"
