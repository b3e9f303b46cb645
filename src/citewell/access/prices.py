"""The prices of tools, in units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable

_EVERY_OTHER = "*"


class PriceList:
    """The prices of all tools, parsed from `tool=units` entries; `*` is every tool not named.

    Raises:
        SettingsError: an entry has another form.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self._units: dict[str, int] = {}
        for entry in entries:
            tool, equals, units = entry.partition("=")
            if not equals or not tool.strip() or not units.strip().isdecimal():
                raise SettingsError(
                    f"CITEWELL_TOOL_PRICES holds {entry!r}; write tool=units, units whole"
                )
            self._units[_spelling(tool)] = int(units)

    def units_of(self, tool: str) -> int:
        """Return the price of one call of `tool`, in either spelling of its name."""
        return self._units.get(_spelling(tool), self._units.get(_EVERY_OTHER, 0))


def _spelling(tool: str) -> str:
    return tool.strip().replace(".", "_")
