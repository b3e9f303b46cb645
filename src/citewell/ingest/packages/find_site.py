"""The documentation site of a package in the version that a project uses, found by fetching."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from citewell.core.errors import (
    AddressRefused,
    CitewellError,
    FetchTimeout,
    HostUnreachable,
    RobotsDisallowed,
)
from citewell.core.frozen import frozen
from citewell.core.releases import release_of_page
from citewell.core.version_ranges import LATEST, is_same_version, is_version_range
from citewell.ingest.packages.site_urls import (
    HOSTED,
    documentation_urls,
    version_in_url,
    version_urls,
)
from citewell.web.sphinx_inventory import INVENTORY_NAME, name_inventory, parse_inventory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.ingest.packages.dependency import Dependency, Ecosystem
    from citewell.web.fetcher import Fetcher
    from citewell.web.sphinx_inventory import Inventory

logger = logging.getLogger(__name__)

# A site that has a page for this version answers every URL, so its versions prove nothing.
_NO_VERSION = "0.0.0.404"
_UNREACHABLE = (AddressRefused, FetchTimeout, HostUnreachable, RobotsDisallowed)


@frozen
class PackageSite:
    """A site that was reached, and the version that it documents."""

    url: str
    version: str
    """`latest` when the site does not say."""
    is_exact: bool
    """Whether that is the version the project uses."""


async def find_site(
    fetcher: Fetcher, dependency: Dependency, *, hosts: Mapping[Ecosystem, str] = HOSTED
) -> PackageSite | None:
    """Return the documentation site of a package, preferably of its version; None without one.

    Every address is fetched before it is returned.

    Raises:
        FetchError: no site could be reached, and why the last one could not.
    """
    if dependency.version is None:
        return None
    other: PackageSite | None = None
    unreachable: CitewellError | None = None
    for url in documentation_urls(dependency, hosts):
        try:
            site = await _find_version(fetcher, url, dependency.version)
        except _UNREACHABLE as error:
            unreachable = error
            continue
        if site is not None and site.is_exact:
            return site
        other = other or site
    if other is None and unreachable is not None:
        raise unreachable
    return other


async def _find_version(fetcher: Fetcher, url: str, version: str) -> PackageSite | None:
    home = await _open(fetcher, url, version)
    if home is None or home.is_exact:
        return home
    for address in version_urls(home.url, version):
        try:
            there = await _open(fetcher, address, version)
        except _UNREACHABLE:
            return home
        if there is not None and there.is_exact:
            return home if await _answers_all(fetcher, home.url) else there
    return home


async def _open(fetcher: Fetcher, url: str, version: str) -> PackageSite | None:
    """Return the site at a URL with the version that it states; None when nothing is there.

    Raises:
        FetchError: it cannot be reached, or must not be fetched.
    """
    try:
        page = await fetcher.fetch(url)
    except _UNREACHABLE:
        raise
    except CitewellError as error:
        logger.info("no documentation at %s: %s", url, error.message)
        return None
    known = version_in_url(page.final_url, version)
    if known is None:
        inventory = await _fetch_inventory(fetcher, page.final_url)
        said = inventory.version if inventory is not None else ""
        in_address = release_of_page(page.final_url).release.version
        known = next(
            (version for version in (in_address, said) if is_version_range(version)), LATEST
        )
    return PackageSite(url=page.final_url, version=known, is_exact=is_same_version(known, version))


async def _fetch_inventory(fetcher: Fetcher, url: str) -> Inventory | None:
    try:
        body = await fetcher.fetch_file(urljoin(url, INVENTORY_NAME))
        plain = await fetcher.sandbox.run(parse_inventory, body)
    except CitewellError:
        # For any other status, the site has no such file.
        return None
    return None if plain is None else name_inventory(plain)


async def _answers_all(fetcher: Fetcher, url: str) -> bool:
    """Return whether a site also answers for a version that cannot exist."""
    address = version_urls(url, _NO_VERSION)[0]
    try:
        page = await fetcher.fetch(address)
    except CitewellError:
        return False
    return version_in_url(page.final_url, _NO_VERSION) is not None
