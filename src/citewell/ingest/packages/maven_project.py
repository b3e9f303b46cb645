"""The direct dependencies of a Maven project, as its pom.xml declares them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from citewell.ingest.packages.locked_package import LockedPackage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from xml.etree.ElementTree import Element

_PROPERTY = re.compile(r"\$\{([^{}\s]{1,200})\}")
_NAMESPACE = re.compile(r"\{[^{}]*\}")
# A property can refer to others; one that refers to itself is left as it is.
_MOST_STEPS = 5
# Values that refer to one another many times would fill the memory.
_MOST_CHARACTERS = 500


def parse_pom(text: str, folder: Path) -> Iterator[LockedPackage]:
    """Yield the dependencies with their versions, including properties and managed ones.

    Versions set by a remote parent stay unknown.

    Raises:
        ValueError: the file declares a document type, which could make it endless.
        ParseError: it is no XML.
    """
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("it declares a document type")
    root = ElementTree.fromstring(text)
    for element in root.iter():
        element.tag = _NAMESPACE.sub("", element.tag)
    values = _properties(root)
    managed = dict(_dependencies(root, "dependencyManagement/dependencies/dependency", values))
    for name, version in _dependencies(root, "dependencies/dependency", values):
        yield LockedPackage(name=name, version=version or managed.get(name, ""))


def _properties(root: Element) -> dict[str, str]:
    values = {
        element.tag: (element.text or "").strip() for element in root.iterfind("properties/*")
    }
    for name in ("groupId", "version"):
        own = root.findtext(name) or root.findtext(f"parent/{name}") or ""
        values[f"project.{name}"] = own.strip()
    return {name: text for name, text in values.items() if len(text) <= _MOST_CHARACTERS}


def _dependencies(root: Element, path: str, values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for element in root.iterfind(path):
        group, artifact, version = (
            _expand(element.findtext(name) or "", values)
            for name in ("groupId", "artifactId", "version")
        )
        if group and artifact:
            yield f"{group}:{artifact}", version


def _expand(text: str, values: Mapping[str, str]) -> str:
    """Return a value with its properties; empty where one is not known, or it is a range."""
    text = text.strip()
    for _ in range(_MOST_STEPS):
        if len(text) > _MOST_CHARACTERS:
            return ""
        text = _PROPERTY.sub(lambda match: values.get(match[1], match[0]), text)
    return "" if "${" in text or text.startswith(("[", "(")) else text
