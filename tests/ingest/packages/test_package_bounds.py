"""What a package or a project may not make `sync` read: files elsewhere, pipes and devices."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.ingest.packages.project_folder import install, make_project

from citewell.core.errors import ExtractionError
from citewell.ingest.packages.dependency import MOST_DEPENDENCIES, Dependency
from citewell.ingest.packages.find import find_project, front_page, package_pages, package_size

SECRET = "aws_secret_access_key = heronheronheron"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path / "shop")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "credentials"
    path.write_text(f'"""{SECRET}"""\n', encoding="utf-8")
    return path


def dependency(folder: Path, name: str) -> Dependency:
    return next(found for found in find_project(folder).dependencies if found.name == name)


def loaded(found: Dependency) -> dict[str, str]:
    """Return the text of every page, or why it was refused."""
    front = front_page(found)
    assert front is not None
    said: dict[str, str] = {}
    for page in [front, *package_pages(found)]:
        try:
            content = page.load()
            said[page.address] = content.text if content else ""
        except ExtractionError as error:
            said[page.address] = error.message
    return said


def lay(path: Path, kind: str, secret: Path) -> None:
    """Put a link to the secret, or a pipe that nobody writes to, in the place of a file."""
    path.unlink(missing_ok=True)
    if kind == "link":
        path.symlink_to(secret)
    else:
        os.mkfifo(path)


REFUSALS = {"link": "leads out of the folder", "pipe": "not a regular file"}


@pytest.mark.parametrize("kind", REFUSALS)
@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "index.d.ts"])
def test_a_file_of_an_npm_package_is_regular_and_inside_of_it(
    folder: Path, secret: Path, name: str, kind: str
) -> None:
    lay(folder / "node_modules" / "egret" / name, kind, secret)

    said = loaded(dependency(folder, "egret"))

    address = f"npm:egret@2.0.1/{name.removesuffix('.md') if name == 'README.md' else name}"
    assert REFUSALS[kind] in said[address]
    assert SECRET not in str(said)


@pytest.mark.parametrize("kind", REFUSALS)
@pytest.mark.parametrize("name", ["herons/__init__.py", "herons/_birds.py", "docs/pond.md"])
def test_a_file_of_a_python_package_is_regular_and_inside_of_site_packages(
    folder: Path, secret: Path, name: str, kind: str
) -> None:
    site = folder / ".venv" / "lib" / "python3.12" / "site-packages"
    shutil.rmtree(site)
    files = {"herons/__init__.py": "from ._birds import X as X\n", "herons/_birds.py": "X = 1\n"}
    install(site, "heron_watch", "1.2.0", {**files, "docs/pond.md": "# Pond\n"})
    lay(site / name, kind, secret)

    said = loaded(dependency(folder, "heron-watch"))

    assert SECRET not in str(said)
    assert REFUSALS[kind] in str(said)


def test_a_record_cannot_name_files_outside_of_site_packages(folder: Path, tmp_path: Path) -> None:
    site = folder / ".venv" / "lib" / "python3.12" / "site-packages"
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "plan.md").write_text(SECRET, encoding="utf-8")
    record = site / "heron_watch-1.2.0.dist-info" / "RECORD"
    names = ("../" * 5 + "docs/plan.md", str(tmp_path / "docs" / "plan.md"))
    record.write_text("".join(f"{name},,\n" for name in names), encoding="utf-8")

    said = loaded(dependency(folder, "heron-watch"))

    assert SECRET not in str(said)
    assert str(said).count("leads out of the folder") == 2


@pytest.mark.parametrize(
    "row", ["", "a,b,c,d,e", "b.py,sha256=x,many", '"open', "x" * 200_000, f"b.py,,{'9' * 5_000}"]
)
def test_a_broken_row_of_a_record_is_skipped(folder: Path, row: str) -> None:
    site = folder / ".venv" / "lib" / "python3.12" / "site-packages"
    record = site / "heron_watch-1.2.0.dist-info" / "RECORD"
    record.write_text(record.read_text(encoding="utf-8") + f"{row}\n", encoding="utf-8")

    found = dependency(folder, "heron-watch")

    assert package_size(found) > (0, 0)
    assert package_pages(found)


def test_a_list_of_sources_is_read_whatever_its_lines_hold(folder: Path) -> None:
    site = folder / ".venv" / "lib" / "python3.12" / "site-packages"
    info = site / "heron_watch-1.2.0.dist-info"
    egg = site / "heron_watch.egg-info"
    info.rename(egg)
    (egg / "METADATA").rename(egg / "PKG-INFO")
    (egg / "RECORD").unlink()
    lines = 'herons/__init__.py\na","b","c","d\n"open\n\x00\n'
    (egg / "SOURCES.txt").write_text(lines, encoding="utf-8")

    said = loaded(dependency(folder, "heron-watch"))

    assert "pypi:heron-watch@1.2.0/herons" in said


def test_halves_of_characters_in_texts_and_names_are_replaced(folder: Path) -> None:
    site = folder / ".venv" / "lib" / "python3.12" / "site-packages"
    (site / "herons" / "__init__.py").write_text('"""The \\ud800 port."""\n', encoding="utf-8")
    package = folder / "node_modules" / "egret"
    name = os.fsencode(package / "index") + b"\xff.d.ts"
    Path(os.fsdecode(name)).write_bytes((package / "index.d.ts").read_bytes())

    python, npm = (loaded(dependency(folder, each)) for each in ("heron-watch", "egret"))

    assert "The ? port." in python["pypi:heron-watch@1.2.0/herons"]
    assert "Finds egrets." in npm["npm:egret@2.0.1/index?.d.ts"]


def test_a_module_that_is_too_large_is_reported(folder: Path) -> None:
    site = folder / ".venv" / "lib" / "python3.12" / "site-packages"
    install(site, "giant", "1.0", {"giant.py": '"""' + "Words. " * 300_000 + '"""\n'})
    found = replace(dependency(folder, "heron-watch"), name="giant", version="1.0")

    assert loaded(found)["pypi:giant@1.0/giant"] == "it is larger than 2 MB"


@pytest.mark.parametrize("kind", REFUSALS)
def test_the_metadata_of_a_distribution_is_regular_and_inside(
    folder: Path, secret: Path, kind: str
) -> None:
    site = folder / ".venv" / "lib" / "python3.12" / "site-packages"
    secret.write_text(f"Name: heron-watch\nVersion: 1\n\n{SECRET}\n", encoding="utf-8")
    lay(site / "heron_watch-1.2.0.dist-info" / "METADATA", kind, secret)

    found = find_project(folder)

    assert next(each.version for each in found.dependencies if each.name == "heron-watch") is None
    (problem,) = found.problems
    assert problem.startswith("heron_watch-1.2.0.dist-info/METADATA cannot be read: it ")
    assert REFUSALS[kind] in problem


def test_a_record_that_is_a_pipe_leaves_the_description(folder: Path, secret: Path) -> None:
    site = folder / ".venv" / "lib" / "python3.12" / "site-packages"
    lay(site / "heron_watch-1.2.0.dist-info" / "RECORD", "pipe", secret)

    said = loaded(dependency(folder, "heron-watch"))

    assert list(said) == ["pypi:heron-watch@1.2.0/README"]


@pytest.mark.parametrize("kind", REFUSALS)
@pytest.mark.parametrize(
    "name", ["pyproject.toml", "package.json", "Cargo.lock", "requirements.txt", "uv.lock"]
)
def test_a_manifest_is_regular_and_inside_of_the_project(
    folder: Path, secret: Path, name: str, kind: str
) -> None:
    lay(folder / name, kind, secret)

    problems = find_project(folder).problems

    assert [each for each in problems if each.startswith(f"{name} cannot be read: it ")]
    assert REFUSALS[kind] in str(problems)


def test_a_folder_of_requirements_that_leads_elsewhere_is_reported(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "base.txt").write_text("stork==1\n", encoding="utf-8")
    (folder / "requirements").symlink_to(tmp_path / "other")

    found = find_project(folder)

    assert "stork" not in {each.name for each in found.dependencies}
    assert found.problems == (
        "requirements/base.txt cannot be read: it leads out of the folder shop",
    )


@pytest.mark.parametrize("name", ["../../other", "/etc", "..", "@birds/../../other"])
def test_a_name_cannot_lead_out_of_node_modules(folder: Path, name: str) -> None:
    other = folder.parent / "other"
    other.mkdir()
    (other / "package.json").write_text('{"version": "1"}', encoding="utf-8")
    (folder / "package.json").write_text(json.dumps({"dependencies": {name: "1"}}), "utf-8")

    found = find_project(folder)

    assert not [each for each in found.dependencies if each.ecosystem == "npm"]
    assert found.problems == (f"package.json names no package: {name}",)


@pytest.mark.parametrize("store", ["shop/node_modules/.pnpm/egret@2.0.1/node_modules", "packages"])
def test_a_whole_package_may_be_a_link(folder: Path, tmp_path: Path, store: str) -> None:
    package = folder / "node_modules" / "egret"
    target = tmp_path / store / "egret"
    target.parent.mkdir(parents=True)
    package.rename(target)
    package.symlink_to(os.path.relpath(target, package.parent), target_is_directory=True)
    (target / "guide.md").symlink_to("README.md")

    said = loaded(dependency(folder, "egret"))

    assert "Finds white birds." in said["npm:egret@2.0.1/README"]
    assert "Finds white birds." in said["npm:egret@2.0.1/guide.md"]
    assert "Finds egrets." in said["npm:egret@2.0.1/index.d.ts"]


def test_the_projects_of_a_monorepo_are_named(tmp_path: Path) -> None:
    for place in ("api/pyproject.toml", "packages/web/package.json"):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text("", encoding="utf-8")

    assert find_project(tmp_path).problems == (
        "run `citewell sync` in each project of this folder: api, packages/web",
    )


@pytest.mark.parametrize("version", ["9" * 5_000, "1\x1b[2J"])
def test_a_package_with_an_absurd_version_is_left_out_by_name(folder: Path, version: str) -> None:
    sound = {found.name for found in find_project(folder).dependencies}
    manifest = folder / "node_modules" / "egret" / "package.json"
    manifest.write_text(json.dumps({"name": "egret", "version": version}), encoding="utf-8")

    project = find_project(folder)

    assert {found.name for found in project.dependencies} == sound - {"egret"}
    (problem,) = project.problems
    assert problem.startswith("node_modules holds ")
    assert problem.endswith(": egret is left out")


def test_the_packages_of_a_lock_file_are_taken_once_and_bounded(tmp_path: Path) -> None:
    gems = "GEM\n  specs:\n" + "    rake (13.0)\n" * 2_000
    (tmp_path / "Gemfile.lock").write_text(gems, encoding="utf-8")
    locked = "".join(f"org.birds:heron{n}:1.0=runtime\n" for n in range(MOST_DEPENDENCIES + 9))
    (tmp_path / "gradle.lockfile").write_text(locked, encoding="utf-8")
    names = "".join(f"heron{n}==1.0\n" for n in range(MOST_DEPENDENCIES + 9))
    (tmp_path / "requirements.txt").write_text(names, encoding="utf-8")

    project = find_project(tmp_path)

    counts = Counter(found.ecosystem for found in project.dependencies)
    assert counts == {"gem": 1, "maven": MOST_DEPENDENCIES, "pypi": MOST_DEPENDENCIES}
    assert project.problems == (
        "requirements.txt: only the first 5,000 packages are used",
        "gradle.lockfile: only the first 5,000 packages are used",
    )


def test_the_problems_of_a_project_fit_on_a_screen(tmp_path: Path) -> None:
    absurd = {f"../{number}": "1" for number in range(3_000)}
    manifest = json.dumps({"dependencies": absurd})
    (tmp_path / "package.json").write_text(manifest, encoding="utf-8")

    problems = find_project(tmp_path).problems

    assert len(problems) == 21
    assert problems[-1] == "and 2,980 more problems"
