"""Python distributions as an installer laid them out, read without leaving their folder."""

from __future__ import annotations

import csv
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from citewell.ingest.packages.dependency import normalise_python_name
from citewell.ingest.packages.project_files import read_project_file

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

_SUFFIXES = (".dist-info", ".egg-info")
_SIZE_DIGITS = 16


class InstalledDistribution(metadata.Distribution):
    """A distribution whose metadata is read only from regular files inside of site-packages.

    The standard library's own follows links to anywhere, and waits for the writer of a pipe.
    """

    def __init__(self, site_packages: Path, folder_name: str) -> None:
        self.site_packages = site_packages
        self.problems: list[str] = []
        """What could not be read."""
        self._folder_name = folder_name

    @property
    def normalised_name(self) -> str | None:
        """Its normalised name; None when its files are broken."""
        try:
            return normalise_python_name(self.name)
        except (KeyError, TypeError, AttributeError, ValueError, OSError):
            return None

    @override
    def read_text(self, filename: str) -> str | None:
        """Return the text of a metadata file; None when it has none that may be read."""
        # An empty name means an .egg-info that is itself a file.
        path = f"{self._folder_name}/{filename}" if filename else self._folder_name
        is_folder = not filename and Path(self.site_packages, path).is_dir()
        return (
            None
            if is_folder
            else read_project_file(self.site_packages, path, self.problems) or None
        )

    @property
    @override
    def files(self) -> list[metadata.PackagePath] | None:
        """What RECORD or SOURCES.txt lists, but for rows at which the standard library fails."""
        record, sources = self.read_text("RECORD"), self.read_text("SOURCES.txt")
        if record is None and sources is None:
            return None
        files: list[metadata.PackagePath] = []
        try:
            rows = [[name, "", ""] for name in (sources or "").splitlines()]
            for row in rows if record is None else csv.reader(record.splitlines()):
                if len(row) != 3:
                    continue
                name, _, size = row
                file = metadata.PackagePath(name)
                file.size = int(size) if size.isdecimal() and len(size) < _SIZE_DIGITS else None
                files.append(file)
        except csv.Error as error:
            self.problems.append(f"{self._folder_name}/RECORD cannot be parsed: {error}")
        return files

    @override
    def locate_file(self, path: str | os.PathLike[str]) -> Path:
        """Return the path of one of its files, given as in RECORD."""
        return self.site_packages / path


def find_distributions(
    site_packages: Path, *, name: str | None = None
) -> Iterator[InstalledDistribution]:
    """Yield the distributions of a folder; with `name`, only those that can have that name."""
    try:
        entries = sorted(site_packages.iterdir())
    except OSError:
        return
    for entry in entries:
        is_wanted = name is None or normalise_python_name(entry.stem.partition("-")[0]) == name
        if entry.suffix.lower() in _SUFFIXES and is_wanted:
            yield InstalledDistribution(site_packages, entry.name)
