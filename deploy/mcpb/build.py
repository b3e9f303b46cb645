"""Builds the bundle that Claude Desktop installs with a double click.

    python deploy/mcpb/build.py dist/citewell-0.1.0-py3-none-any.whl [OUTPUT.mcpb]

The bundle holds the wheel; its dependencies are installed by uv when the bundle is first started.
Entries are in a fixed order with a fixed date, so the same wheel makes the same bundle.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MAIN = '''"""Starts the Citewell of this bundle."""

from citewell.cli.main import main

raise SystemExit(main())
'''
PROJECT = """\
[project]
name = "citewell-bundle"
version = "{version}"
requires-python = ">=3.11"
dependencies = ["citewell"]

[tool.uv.sources]
citewell = {{ path = "{wheel}" }}
"""
_FIXED_DATE = (2020, 1, 1, 0, 0, 0)


def build_bundle(wheel: Path, bundle: Path) -> None:
    """Write the bundle of a wheel."""
    version = wheel.name.split("-")[1]
    contents = {
        "manifest.json": (HERE / "manifest.json").read_bytes(),
        "main.py": MAIN.encode(),
        "pyproject.toml": PROJECT.format(version=version, wheel=wheel.name).encode(),
        wheel.name: wheel.read_bytes(),
    }
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, _FIXED_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)


if __name__ == "__main__":
    source = Path(sys.argv[1])
    build_bundle(source, Path(sys.argv[2]) if len(sys.argv) > 2 else source.with_suffix(".mcpb"))
