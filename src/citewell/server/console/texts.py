"""Texts of the web app, kept in one file so that they can be translated."""

from __future__ import annotations

import json
import tomllib
from importlib import resources
from typing import Any


class Texts:
    """Texts by their names, such as `reader.outline`; a missing one is a KeyError."""

    def __init__(self, language: str = "en") -> None:
        file = resources.files("citewell.server.console").joinpath("locales", f"{language}.toml")
        self._sections: dict[str, dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))

    def __call__(self, name: str, /, **values: object) -> str:
        """Return a text with its values; one with `one` and `other` is chosen by `count`."""
        section, _, key = name.partition(".")
        text = self._sections[section][key]
        if isinstance(text, dict):
            text = text["one" if values["count"] == 1 else "other"]
        if isinstance(count := values.get("count"), int):
            values["count"] = f"{count:,}"
        return str(text).format(**values) if values else str(text)

    def of_section(self, section: str) -> str:
        """Return the texts of a section as JSON, for scripts."""
        return json.dumps(self._sections[section], ensure_ascii=False)
