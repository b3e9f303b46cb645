"""A project folder with an environment that holds hand-made packages."""

from __future__ import annotations

import json
from pathlib import Path

HERON = '''"""Tools for watching herons."""

from ._birds import Heron as Heron

__all__ = ["Heron"]


def count(pond: str, *, minutes: int = 5) -> int:
    """Count the herons at a pond.

    Args:
        pond: Name of the pond.
        minutes: How long to watch.

    Raises:
        ValueError: the pond is dry.

    >>> count("north")
    3
    """
    raise SystemExit("importing or running this would be a fault")


def _hidden() -> None:
    """Nobody should read this."""
'''
BIRDS = '''raise SystemExit("importing this would be a fault")


class Heron:
    """A grey heron.

    Stands still until its prey comes near.
    """

    def wade(self, depth: float) -> None:
        """Walk into water of this :class:`Depth`."""


class Unlisted:
    """Not re-exported."""
'''


def install(
    site: Path, name: str, version: str, files: dict[str, str], *, urls: tuple[str, ...] = ()
) -> None:
    """Lay a distribution out as an installer does; `urls` are its `Project-URL`s."""
    info = site / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: A package.\n"
    text += "".join(f"Project-URL: {url}\n" for url in urls)
    (info / "METADATA").write_text(f"{text}\n{name} is for tests.\n", encoding="utf-8")
    record = [f"{info.name}/METADATA,,", f"{info.name}/RECORD,,"]
    for path, content in files.items():
        target = site / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8")
        record.append(f"{path},sha256={hash(content)},{len(content)}")
    (info / "RECORD").write_text("\n".join(record) + "\n", encoding="utf-8")


def make_project(folder: Path) -> Path:
    """Make a project that uses a Python package and an npm package."""
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "shop"\ndependencies = ["heron-watch>=1", "absent"]\n', encoding="utf-8"
    )
    site = folder / ".venv" / "lib" / "python3.12" / "site-packages"
    install(site, "heron_watch", "1.2.0", {"herons/__init__.py": HERON, "herons/_birds.py": BIRDS})
    package = folder / "node_modules" / "egret"
    package.mkdir(parents=True)
    (folder / "package.json").write_text('{"dependencies": {"egret": "^2"}}', encoding="utf-8")
    (package / "package.json").write_text(
        json.dumps({"name": "egret", "version": "2.0.1"}), encoding="utf-8"
    )
    (package / "README.md").write_text("# egret\n\nFinds white birds.\n", encoding="utf-8")
    (package / "index.d.ts").write_text(
        "export interface Options {\n  /** How far to look, in metres. */\n  range?: number;\n}\n"
        "/**\n * Finds egrets.\n * @returns how many there are\n */\n"
        "export declare function find(options: Options): number;\n",
        encoding="utf-8",
    )
    return folder
