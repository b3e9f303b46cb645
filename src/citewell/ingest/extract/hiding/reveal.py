"""What a page shows only when its reader asks for it: tabs, collapsed blocks, tips."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from citewell.ingest.extract.hiding.declarations import Declaration

_CONTROLS = (
    "[aria-controls], [data-target], [data-bs-target], [popovertarget], [commandfor], [onclick], "
    "a[data-toggle], a[data-bs-toggle], a[role=tab]"
)
_TARGET_ATTRIBUTES = (
    "aria-controls",
    "data-target",
    "data-bs-target",
    "popovertarget",
    "commandfor",
    "href",
)
_QUOTED = re.compile(r"""['"]#?([\w:.-]{1,200})['"]""")
# As generators and frameworks call what their scripts show on demand.
_PANEL_CLASS = re.compile(
    r"(?:sphinx-tabs|tabs?|tabbed)-?(?:pane|panel|content|block)|collaps(?:e|ible)(?:-?content|-?body)?"
    r"|accordion-?(?:body|content|panel|collapse)|dyn(?:section|content)"
    r"|(?:toggle|expand|expandable|spoiler|details)-?(?:content|body)"
)
_STILL = frozenset({"", "none", "auto"})


class Revealed:
    """What the readers of one page can bring to light."""

    def __init__(self, parsed: LexborHTMLParser, *, has_scripts: bool) -> None:
        self.has_scripts = has_scripts
        self._parsed = parsed
        self._targets: set[str] | None = None
        self._by_rule: set[int] = set()

    def note_rule(
        self, declarations: Iterable[Declaration], matched: Mapping[int, LexborNode]
    ) -> None:
        """Note the elements that a rule shows in a state that the reader brings about."""
        shows = any(
            (name == "display" and value != "none")
            or (name == "visibility" and value == "visible")
            or (name in ("opacity", "max-height", "height") and value not in ("0", "0px"))
            for name, value, _ in declarations
        )
        if shows:
            self._by_rule.update(matched)

    def fades_in(self, values: Mapping[str, str]) -> bool:
        """Return whether a script or a sheet makes text appear that is transparent at first."""
        if "opacity" not in values or values.get("display") == "none":
            return False
        is_timed = values.get("transition", "") not in _STILL and self.has_scripts
        return is_timed or values.get("animation", "") not in _STILL

    def by_control(self, node: LexborNode) -> bool:
        """Return whether a control on the page shows the element."""
        if node.mem_id in self._by_rule:
            return True
        attributes = node.attributes
        if attributes.get("role") == "tabpanel":
            return True
        own_id = attributes.get("id")
        if own_id and own_id in self._controlled():
            return True
        classes = (attributes.get("class") or "").lower().split()
        return self.has_scripts and any(_PANEL_CLASS.fullmatch(name) for name in classes)

    def _controlled(self) -> set[str]:
        """Return the ids that the controls of the page name."""
        if self._targets is None:
            self._targets = set()
            for control in self._parsed.css(_CONTROLS):
                attributes = control.attributes
                for attribute in _TARGET_ATTRIBUTES:
                    value = attributes.get(attribute) or ""
                    self._targets.update(name.removeprefix("#") for name in value.split())
                self._targets.update(_QUOTED.findall(attributes.get("onclick") or ""))
        return self._targets
