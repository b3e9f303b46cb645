"""Makes the answers of the stdio front when a distribution is built.

They come from the tools themselves, so the build needs what the tools import. A source
distribution carries the file, and a wheel made from one takes it as it is. An editable
install has none of its own: `make` and the tests write it beside the sources.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PREPARED = Path("src/citewell/server/tools_list.json")


class PrepareFront(BuildHookInterface[Any]):
    """The hook that hatchling finds in this file."""

    def dependencies(self) -> list[str]:
        """Return what the build has to install: nothing where the file is not made."""
        # Nothing else says for what a front end asks.
        is_editable = any("build_editable" in argument for argument in sys.argv)
        return [] if is_editable or self._is_in_sdist() else self.metadata.core.dependencies

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the file before the sources are packed."""
        if version == "editable":
            return
        if not self._is_in_sdist():
            subprocess.run(
                [sys.executable, "-m", "citewell.server.prepare_front", "--for-release"],
                cwd=Path(self.root, "src"),
                check=True,
            )
        build_data["artifacts"].append(PREPARED.as_posix())

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the file from a checkout: it says that its sources will not change."""
        if version != "editable" and not self._is_in_sdist():
            Path(self.root, PREPARED).unlink(missing_ok=True)

    def _is_in_sdist(self) -> bool:
        return Path(self.root, "PKG-INFO").exists() and Path(self.root, PREPARED).exists()
