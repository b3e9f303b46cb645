"""`citewell sync --sites`: documentation sites in the versions that a project uses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.shell import run_citewell
from tests.ingest.packages.doc_site import page, read_the_docs
from tests.ingest.packages.project_folder import install
from tests.site import Site, running_site

pytestmark = pytest.mark.slow


def make_project(folder: Path, documentation: str, *, version: str = "1.2.0") -> Path:
    """Make a project whose one package says where its documentation is."""
    folder.mkdir(parents=True)
    text = '[project]\nname = "shop"\ndependencies = ["heron-watch"]\n'
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    site = folder / ".venv" / "lib" / "python3.12" / "site-packages"
    module = '"""Tools for watching herons."""\n'
    urls = (f"Documentation, {documentation}",)
    install(site, "heron_watch", version, {"herons.py": module}, urls=urls)
    return folder


def settings_for(site: Site) -> dict[str, str]:
    return {"CITEWELL_EMBEDDER": "none", "CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS": site.host}


def test_the_site_of_the_used_version_is_read_and_quoted(tmp_path: Path) -> None:
    with running_site(read_the_docs("latest", "1.2")) as site:
        folder = make_project(tmp_path / "shop", site.url("/"))
        settings = settings_for(site)

        offline = run_citewell(tmp_path, "sync", str(folder), **settings)
        asked_offline = site.paths()
        shown = run_citewell(tmp_path, "sync", str(folder), "--sites", "--json", **settings)
        first = run_citewell(tmp_path, "sync", str(folder), "--sites", "--yes", **settings)
        site.requests.clear()
        again = run_citewell(tmp_path, "sync", str(folder), "--sites", "--yes", **settings)
        question = "What do herons wade?"
        found = run_citewell(tmp_path, "search", question, "--json", **settings)

        assert "1 package can be indexed" in offline.stdout
        assert asked_offline == []
        assert json.loads(shown.stdout)["sites"] == [
            {
                "url": site.url("/en/1.2/"),
                "version": "1.2",
                "is_your_version": True,
                "pages": 2,
                "is_indexed": False,
            }
        ]
        assert first.returncode == 0, first.stdout + first.stderr
        assert "Nothing to do" in again.stdout
        assert site.paths() == []
        sources = {each["url"]: each["version"] for each in json.loads(found.stdout)["sources"]}
        assert sources[site.url("/en/1.2/wading.html")] == "heron-watch 1.2"
        assert site.url("/en/latest/wading.html") not in sources


def test_answers_from_another_version_say_so(tmp_path: Path) -> None:
    pages = {"/docs/": page("Herons", "Herons wade in ponds.", "rivers.html")}
    pages["/docs/rivers.html"] = page("Rivers", "In rivers herons stand on stones.")
    with running_site(pages) as site:
        folder = make_project(tmp_path / "shop", site.url("/docs/"))
        settings = settings_for(site)

        shown = run_citewell(tmp_path, "sync", str(folder), "--sites", **settings)
        run_citewell(tmp_path, "sync", str(folder), "--sites", "--yes", **settings)
        question = "Where do herons stand in rivers?"
        found = run_citewell(tmp_path, "search", question, **settings)
        answered = run_citewell(
            tmp_path, "ask", site.url("/docs/rivers.html"), question, **settings
        )

        assert "not your version: of unknown version" in shown.stdout
        note = "This project uses heron-watch 1.2.0; the evidence is from documentation that does"
        assert "stand on stones" in found.stdout
        assert note in " ".join(found.stdout.split())
        assert note in " ".join(answered.stdout.split())


def test_a_dropped_version_leaves_no_site_behind(tmp_path: Path) -> None:
    with running_site(read_the_docs("latest", "1.2")) as site:
        folder = make_project(tmp_path / "shop", site.url("/"))
        settings = settings_for(site)
        run_citewell(tmp_path, "sync", str(folder), "--sites", "--yes", **settings)

        dropped = run_citewell(tmp_path, "packages", "drop", "heron-watch", **settings)
        sites = run_citewell(tmp_path, "sites", "list", "--json", **settings)
        left = run_citewell(tmp_path, "packages", **settings)

        assert "Dropped heron-watch 1.2: 2 pages." in dropped.stdout
        assert json.loads(sites.stdout)["websites"] == []
        assert "No versions are indexed" in left.stdout


def test_an_upgrade_can_replace_the_site_of_the_old_version(tmp_path: Path) -> None:
    with running_site(read_the_docs("latest", "1.2", "2.0")) as site:
        settings = settings_for(site)
        old = make_project(tmp_path / "old", site.url("/"))
        new = make_project(tmp_path / "new", site.url("/"), version="2.0.0")
        run_citewell(tmp_path, "sync", str(old), "--sites", "--yes", **settings)
        both = run_citewell(
            tmp_path, "sync", str(new), "--sites", "--drop-old", "--yes", **settings
        )
        listed = run_citewell(tmp_path, "packages", "--json", **settings)

        assert both.returncode == 0, both.stdout + both.stderr
        assert [
            (each["product"], each["version"]) for each in json.loads(listed.stdout)["packages"]
        ] == [("heron-watch", "2.0"), ("pypi:heron-watch", "2.0.0")]
