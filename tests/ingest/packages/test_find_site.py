"""Finding the documentation site of a package: only what was fetched is promised."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.ingest.packages.doc_site import page, read_the_docs, redirect
from tests.ingest.packages.project_folder import install
from tests.site import Answer, Site, running_site

from citewell.core.errors import HostUnreachable
from citewell.ingest.packages.dependency import Dependency
from citewell.ingest.packages.find_site import PackageSite, find_site
from citewell.ingest.packages.site_urls import documentation_urls, version_urls
from citewell.web.fetcher import Fetcher

pytestmark = pytest.mark.anyio


def heron(folder: Path, *urls: str) -> Dependency:
    """Return an installed package whose metadata has these `Project-URL`s."""
    install(folder, "heron_watch", "1.2.0", {"herons.py": ""}, urls=urls)
    return Dependency(
        ecosystem="pypi", name="heron-watch", version="1.2.0", found_in="x", location=folder
    )


async def look(site: Site, dependency: Dependency, **hosts: str) -> PackageSite | None:
    async with Fetcher(allowed_private_hosts=(site.host,), max_retries=0) as fetcher:
        return await find_site(fetcher, dependency, hosts=hosts)  # type: ignore[arg-type] # by name


@pytest.mark.parametrize(
    ("versions", "found", "version"),
    [
        (("latest", "1.2.0", "1.2"), "/en/1.2.0/", "1.2.0"),
        (("latest", "v1.2.0"), "/en/v1.2.0/", "1.2.0"),
        (("latest", "1.2"), "/en/1.2/", "1.2"),
        (("latest", "1.2.x"), "/en/1.2.x/", "1.2"),
    ],
)
async def test_the_folder_of_the_version_is_found(
    tmp_path: Path, versions: tuple[str, ...], found: str, version: str
) -> None:
    with running_site(read_the_docs(*versions)) as site:
        sought = await look(site, heron(tmp_path, f"Documentation, {site.url('/')}"))

        assert sought == PackageSite(url=site.url(found), version=version, is_exact=True)


async def test_another_version_is_named_as_what_it_is(tmp_path: Path) -> None:
    with running_site(read_the_docs("latest", "2.0")) as site:
        sought = await look(site, heron(tmp_path, f"Documentation, {site.url('/')}"))

        assert sought == PackageSite(
            url=site.url("/en/latest/"), version="9.0.dev1", is_exact=False
        )


async def test_a_site_that_says_no_version_is_of_none(tmp_path: Path) -> None:
    with running_site({"/docs/": page("Herons", "They wade.")}) as site:
        sought = await look(site, heron(tmp_path, f"Docs, {site.url('/docs/')}"))

        assert sought == PackageSite(url=site.url("/docs/"), version="latest", is_exact=False)


async def test_a_site_that_answers_every_address_promises_no_version(tmp_path: Path) -> None:
    with running_site({}) as site:
        site.default = page("Herons", "The same page everywhere.")
        sought = await look(site, heron(tmp_path, f"Docs, {site.url('/docs/')}"))

        assert sought == PackageSite(url=site.url("/docs/"), version="latest", is_exact=False)


async def test_a_version_that_is_redirected_to_another_is_not_found(tmp_path: Path) -> None:
    pages: dict[str, Answer] = {**read_the_docs("latest"), "/en/1.2/": redirect("/en/latest/")}
    with running_site(pages) as site:
        sought = await look(site, heron(tmp_path, f"Documentation, {site.url('/')}"))

        assert sought is not None
        assert not sought.is_exact


async def test_hosts_of_a_whole_language_are_asked_for_the_locked_version() -> None:
    crate = Dependency(ecosystem="cargo", name="grey-heron", version="1.0.2", found_in="Cargo.lock")
    with running_site({"/grey-heron/1.0.2/grey_heron/": page("Crate", "Wades.")}) as site:
        pattern = site.url("/{name}/{version}/{module}/")
        sought = await look(site, crate, cargo=pattern)

        assert sought == PackageSite(
            url=site.url("/grey-heron/1.0.2/grey_heron/"), version="1.0.2", is_exact=True
        )


async def test_no_site_is_found_where_nothing_is_served(tmp_path: Path) -> None:
    with running_site({}) as site:
        gone = heron(tmp_path / "gone", f"Documentation, {site.url('/docs/')}")
        assert await look(site, gone) is None

    away = heron(tmp_path / "away", "Documentation, http://127.0.0.1:1/docs/")
    async with Fetcher(allowed_private_hosts=("127.0.0.1:1",), max_retries=0) as fetcher:
        with pytest.raises(HostUnreachable):
            await find_site(fetcher, away)


def test_documentation_comes_before_the_homepage_and_code_hosts_are_none(tmp_path: Path) -> None:
    package = heron(
        tmp_path,
        "Source, https://github.com/herons/heron-watch",
        "Homepage, https://herons.example/",
        "Documentation, https://docs.herons.example/",
        "Changelog, https://herons.example/changes",
    )

    assert documentation_urls(package) == [
        "https://docs.herons.example/",
        "https://herons.example/",
    ]


def test_hosts_of_other_languages_have_every_version() -> None:
    def hosted(ecosystem: str, name: str, version: str) -> list[str]:
        return documentation_urls(
            Dependency(ecosystem=ecosystem, name=name, version=version, found_in="x")  # type: ignore[arg-type] # a literal
        )

    assert hosted("cargo", "serde-json", "1.0.2") == [
        "https://docs.rs/serde-json/1.0.2/serde_json/"
    ]
    assert hosted("go", "golang.org/x/net", "v0.1.0") == [
        "https://pkg.go.dev/golang.org/x/net@v0.1.0"
    ]
    assert hosted("gem", "rack", "3.0.8") == ["https://www.rubydoc.info/gems/rack/3.0.8"]
    assert hosted("maven", "org.x:y", "1.0") == ["https://javadoc.io/doc/org.x/y/1.0/"]


def test_a_version_in_the_address_is_exchanged_and_one_that_lacks_is_added() -> None:
    assert version_urls("https://h.example/en/stable/index.html", "4.2.30")[:3] == [
        "https://h.example/en/4.2.30/",
        "https://h.example/en/v4.2.30/",
        "https://h.example/en/4.2/",
    ]
    assert version_urls("https://h.example/docs/", "4.2")[:2] == [
        "https://h.example/docs/4.2/",
        "https://h.example/docs/en/4.2/",
    ]
