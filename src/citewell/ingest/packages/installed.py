"""The installed distribution of a Python dependency."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from citewell.ingest.packages.distribution import find_distributions

if TYPE_CHECKING:
    from citewell.ingest.packages.dependency import Dependency
    from citewell.ingest.packages.distribution import InstalledDistribution


def find_distribution(dependency: Dependency) -> InstalledDistribution | None:
    """Return what is installed of a dependency; None when nothing is, or its files are broken."""
    if dependency.location is None:
        return None
    # By name, so that the metadata of the others is not read.
    found = find_distributions(dependency.location, name=dependency.name)
    return next((dist for dist in found if dist.normalised_name == dependency.name), None)


def is_editable_install(dependency: Dependency) -> bool:
    """Return whether a Python package is installed as a link to its sources (PEP 610)."""
    dist = find_distribution(dependency) if dependency.ecosystem == "pypi" else None
    try:
        origin = json.loads((dist.read_text("direct_url.json") if dist else None) or "{}")
    except ValueError:
        return False
    folder = origin.get("dir_info") if isinstance(origin, dict) else None
    return isinstance(folder, dict) and folder.get("editable") is True
