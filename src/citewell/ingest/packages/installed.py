"""The installed distribution of a Python dependency."""

from __future__ import annotations

import json
from importlib import metadata
from typing import TYPE_CHECKING

from citewell.ingest.packages.python_project import distribution_name

if TYPE_CHECKING:
    from citewell.ingest.packages.dependency import Dependency


def find_distribution(dependency: Dependency) -> metadata.Distribution | None:
    """Return what is installed of a dependency; None when nothing is, or its files are broken."""
    if dependency.location is None:
        return None
    # By name, so that the metadata of the others is not read.
    for dist in metadata.distributions(name=dependency.name, path=[str(dependency.location)]):
        if distribution_name(dist) == dependency.name:
            return dist
    return None


def is_editable_install(dependency: Dependency) -> bool:
    """Return whether a Python package is installed as a link to its sources (PEP 610)."""
    dist = find_distribution(dependency) if dependency.ecosystem == "pypi" else None
    try:
        origin = json.loads((dist.read_text("direct_url.json") if dist else None) or "{}")
    except ValueError:
        return False
    folder = origin.get("dir_info") if isinstance(origin, dict) else None
    return isinstance(folder, dict) and folder.get("editable") is True
