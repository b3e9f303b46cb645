"""An environment for each client, kept below the development environment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(sys.prefix) / "client-matrix"
ROOT = Path(__file__).parents[2]
_QUIET = ("--quiet", "--disable-pip-version-check")
_NPM = ("npm", "install", "--no-audit", "--no-fund", "--loglevel=error")


def python_environment(name: str, requirement: str) -> Path:
    """Return the Python of an environment that holds the requirement."""
    folder = FOLDER / name
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", *_QUIET, requirement], check=True)
        (folder / "installed").touch()
    return python


def installed_version(python: Path, package: str) -> str:
    """Return the version of a package in an environment."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return _output([str(python), "-c", code])


def npm_program(name: str, package: str, path: str) -> Path:
    """Return a program of an npm package, which is installed in a folder of its own."""
    folder = FOLDER / name
    found = folder / "node_modules" / path
    if not found.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
        subprocess.run([*_NPM, package], cwd=folder, check=True)
    return found


def _output(command: list[str]) -> str:
    run = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    return run.stdout.strip()
