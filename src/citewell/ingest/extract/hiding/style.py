"""What an element's text looks like, computed from that of the element around it."""

from __future__ import annotations

import re
from dataclasses import field, replace
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.ingest.extract.hiding.colours import (
    BLACK,
    WHITE,
    Colour,
    as_colour,
    can_be_told_apart,
    node_colour,
)
from citewell.ingest.extract.hiding.filters import (
    filter_opacity,
    filtered,
    is_blurred,
    is_masked_away,
)
from citewell.ingest.extract.hiding.geometry import (
    clips_overflow,
    has_no_room,
    is_out_of_window,
    is_zoomed_away,
)
from citewell.ingest.extract.hiding.shapes import is_clipped_away
from citewell.ingest.extract.hiding.transforms import is_transformed_away, shrinking
from citewell.ingest.extract.hiding.unknown import (
    closing,
    is_beyond_evaluation,
    with_environment,
)
from citewell.ingest.extract.hiding.values import (
    ROOT_FONT_PIXELS,
    WINDOW_HEIGHT,
    Scale,
    arguments,
    as_css,
    as_factor,
    as_pixels,
    components,
    node_pixels,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEAST_FONT_PIXELS = 3.0
_LEAST_OPACITY = 0.1
_LEAST_SIZE = 0.05
_FAR_INDENT = -400.0
_MUCH_SQUEEZED = 0.6
_LEAST_ASPECT = 0.1
# Of the size of the letters; a spread this wide covers a line.
_THICK_STROKE, _WIDE_SPREAD = 0.2, 20.0
_VARIABLE = re.compile(r"var\(\s*(--[^\s,()]+)")
_MAX_SUBSTITUTIONS = 20
_MAX_VALUE_CHARACTERS = 2_000
_FONT_WORDS = {"smaller": 0.83, "larger": 1.2}
# Those that leave a property as it is around the element, as far as it is inherited.
_AS_AROUND = frozenset({"inherit", "unset", "revert", "revert-layer"})


@frozen
class Style:
    """What descendants inherit of an element, or see it painted on."""

    is_visible: bool = True
    colour: Colour | None = BLACK
    """None where it is not known, as with sheets from elsewhere."""
    fill: Colour | None = None
    """The colour that text is filled with, where it is not `colour`."""
    backdrop: Colour | None = WHITE
    """The colour behind the text; None where it is not known, as with pictures."""
    has_own_backdrop: bool = False
    """Whether an element other than the page itself paints it."""
    font_pixels: float = ROOT_FONT_PIXELS
    opacity: float = 1.0
    size: float = 1.0
    """What scaling and zooming leave of it, with all around it."""
    height: float | None = None
    perspective: float | None = None
    can_turn: bool = False
    """Whether it is a card with two sides."""
    is_text_moved_away: bool = False
    is_squeezed: bool = False
    """Whether its letters stand on one another, or are shown as dots."""
    stroke: Colour | None = None
    """The colour of lines around the letters that are too thick to see anything else."""
    is_cut_from_backdrop: bool = False
    """Whether the background shows through the letters."""
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def hides_text(self) -> bool:
        """Whether nobody can read text that stands right inside the element."""
        if not self.is_visible or self.is_text_moved_away or self.is_squeezed:
            return True
        if self.font_pixels < _LEAST_FONT_PIXELS:
            return True
        colour = self.stroke or self.fill or self.colour
        if colour is None or self.is_cut_from_backdrop:
            return False
        if self.backdrop is None:
            return colour.alpha < _LEAST_OPACITY
        return not can_be_told_apart(colour, self.backdrop)


def substitute(declared: Mapping[str, str], around: Style) -> dict[str, str]:
    """Return declarations with the values of their custom properties."""
    variables = dict(around.variables)
    variables.update((name, value) for name, value in declared.items() if name.startswith("--"))
    return {
        name: _without_variables(value, variables)
        for name, value in declared.items()
        if not name.startswith("--")
    }


def compute(declared: Mapping[str, str], around: Style, *, is_page: bool) -> Style:
    """Return the style of an element with declarations, custom properties substituted.

    `is_page` is for html and body, whose background is the page's.
    """
    style = _with_text(declared, around)
    style = _with_colours(declared, style, is_page=is_page)
    opacity = as_factor(declared.get("opacity", ""))
    shown = 1.0 if opacity is None else min(max(opacity, 0.0), 1.0)
    shown *= filter_opacity(declared.get("filter", ""))
    zoom = as_factor(declared.get("zoom", "")) or 1.0
    size = around.size * shrinking(declared) * min(max(zoom, 0.0), 1.0)
    style = replace(style, opacity=around.opacity * shown, size=size)
    height = as_pixels(declared.get("height", ""), Scale(percent_of=WINDOW_HEIGHT))
    perspective = as_pixels(declared.get("perspective", ""), Scale())
    can_turn = declared.get("transform-style") == "preserve-3d"
    return replace(style, height=height, perspective=perspective, can_turn=can_turn)


def with_variables(declared: Mapping[str, str], style: Style) -> Style:
    """Return the style with the custom properties that an element declares."""
    own = {name: value for name, value in declared.items() if name.startswith("--")}
    return replace(style, variables={**style.variables, **own}) if own else style


def is_not_displayed(declared: Mapping[str, str]) -> bool:
    """Return whether an element and all below it are not displayed."""
    return declared.get("display") == "none" or declared.get("content-visibility") == "hidden"


def is_box_hidden(declared: Mapping[str, str], style: Style, around: Style) -> bool:
    """Return whether an element's box is displayed where, or so that, nobody sees it."""
    if style.opacity < _LEAST_OPACITY <= around.opacity:
        return True
    if style.size < _LEAST_SIZE <= around.size:
        return True
    if _is_behind_backdrop(declared, around) or _is_filtered_away(declared, style, around):
        return True
    if is_beyond_evaluation(declared, clips=clips_overflow(declared)):
        return True
    return (
        is_transformed_away(declared, perspective=around.perspective, can_turn=around.can_turn)
        or is_out_of_window(declared, style.font_pixels)
        or is_clipped_away(declared)
        or is_masked_away(declared)
        or is_zoomed_away(declared)
        or has_no_room(declared, style.font_pixels, around.height)
    )


def _is_behind_backdrop(declared: Mapping[str, str], around: Style) -> bool:
    depth = as_factor(declared.get("z-index", ""))
    is_placed = declared.get("position", "static") not in ("static", "inherit", "initial")
    return depth is not None and depth < 0 and is_placed and around.has_own_backdrop


def _is_filtered_away(declared: Mapping[str, str], style: Style, around: Style) -> bool:
    value = declared.get("filter", "")
    if is_blurred(value):
        return True
    colour = style.fill or style.colour
    if not value or colour is None or style.backdrop is None or around.backdrop is None:
        return False
    # What an element is painted on itself is filtered with it.
    own = as_colour(declared.get("background-color", ""))
    has_own = (own is not None and own.alpha > 0) or "background-image" in declared
    behind = filtered(style.backdrop, value) if has_own else around.backdrop
    return can_be_told_apart(colour, style.backdrop) and not can_be_told_apart(
        filtered(colour, value), behind
    )


def _with_text(declared: Mapping[str, str], around: Style) -> Style:
    style = around
    visibility = declared.get("visibility")
    if visibility is not None and visibility not in _AS_AROUND:
        style = replace(style, is_visible=visibility not in ("hidden", "collapse"))
    size = declared.get("font-size", "")
    if size:
        scale = Scale(font_pixels=around.font_pixels, percent_of=around.font_pixels)
        pixels = as_pixels(size, scale)
        if size in _FONT_WORDS:
            pixels = around.font_pixels * _FONT_WORDS[size]
        elif pixels is None and size not in _AS_AROUND:
            # Words such as `small` stand for sizes that can be read.
            pixels = ROOT_FONT_PIXELS
        if pixels is not None:
            style = replace(style, font_pixels=pixels)
    spacing = as_pixels(declared.get("letter-spacing", ""), Scale(font_pixels=style.font_pixels))
    if spacing is not None:
        style = replace(style, is_squeezed=spacing <= -_MUCH_SQUEEZED * style.font_pixels)
    adjusted = as_factor(declared.get("font-size-adjust", ""))
    if adjusted is not None and adjusted < _LEAST_ASPECT:
        style = replace(style, font_pixels=0.0)
    indent = as_pixels(declared.get("text-indent", ""), Scale(font_pixels=style.font_pixels))
    if indent is not None:
        style = replace(style, is_text_moved_away=indent <= _FAR_INDENT)
    if declared.get("-webkit-text-security", "none") != "none":
        style = replace(style, is_squeezed=True)
    return style


def _with_colours(declared: Mapping[str, str], style: Style, *, is_page: bool) -> Style:
    before = style.backdrop
    colour = declared.get("color")
    if colour is not None and colour not in _AS_AROUND and colour != "currentcolor":
        style = replace(style, colour=BLACK if colour == "initial" else as_colour(colour))
    fill = declared.get("-webkit-text-fill-color")
    if fill is not None and fill not in _AS_AROUND:
        style = replace(style, fill=as_colour(fill))
    own = declared.get("background-color", "transparent")
    painted = style.colour if own == "currentcolor" else as_colour(own)
    image = declared.get("background-image", "none")
    if image != "none":
        painted = _gradient_colour(image)
        style = replace(style, backdrop=painted, has_own_backdrop=not is_page)
    elif own == "currentcolor" and painted is None:
        style = replace(style, backdrop=None)
    elif painted is None:
        # A colour that cannot be computed, or a word such as `inherit`.
        style = replace(style, backdrop=None if "(" in own else style.backdrop)
    elif painted.alpha > 0:
        behind = style.backdrop
        seen = (
            painted.over(behind) if behind is not None else painted if painted.alpha >= 1 else None
        )
        style = replace(style, backdrop=seen, has_own_backdrop=not is_page)
    over = _painted_over(declared)
    if over is not None:
        style = replace(style, backdrop=over, has_own_backdrop=not is_page)
    style = _with_stroke(declared, style)
    if "background-clip" not in declared:
        return style
    is_cut = "text" in declared["background-clip"].split()
    if is_cut and (image != "none" or own not in ("transparent", "none")):
        # The letters have the colour of the background, on what lies behind the box.
        is_seen = painted is None or before is None or can_be_told_apart(painted, before)
        return replace(style, is_cut_from_backdrop=is_seen, backdrop=before)
    return style if is_cut else replace(style, is_cut_from_backdrop=False)


def _painted_over(declared: Mapping[str, str]) -> Colour | None:
    """Return the colour of a shadow or an image of the border that fills the box."""
    for value, needed in (("box-shadow", "inset"), ("border-image", "fill")):
        nodes = components(declared.get(value, ""))
        if not any(node.type == "ident" and node.lower_value == needed for node in nodes):
            continue
        if value == "border-image":
            image = next((node for node in nodes if node.type == "function"), None)
            return None if image is None else _gradient_colour(as_css([image]).lower())
        widths = [width for node in nodes if (width := node_pixels(node, Scale())) is not None]
        colours = [colour for node in nodes if (colour := node_colour(node)) is not None]
        if len(widths) == 4 and widths[3] >= _WIDE_SPREAD and len(colours) == 1:
            return colours[0] if colours[0].alpha >= 1 else None
    return None


def _with_stroke(declared: Mapping[str, str], style: Style) -> Style:
    named = ("", "-width", "-color")
    nodes = [
        node
        for part in named
        for node in components(declared.get(f"-webkit-text-stroke{part}", ""))
    ]
    if not nodes:
        return style
    scale = Scale(font_pixels=style.font_pixels)
    width = next((w for node in nodes if (w := node_pixels(node, scale)) is not None), 0.0)
    colour = next((c for node in nodes if (c := node_colour(node)) is not None), style.colour)
    is_below = declared.get("paint-order", "").startswith("stroke")
    is_thick = width >= _THICK_STROKE * style.font_pixels and not is_below
    return replace(style, stroke=colour if is_thick else None)


def _gradient_colour(image: str) -> Colour | None:
    """Return the colour of a gradient that has only one."""
    nodes = components(image)
    if len(nodes) != 1 or nodes[0].type != "function":
        return None
    if "gradient" not in nodes[0].lower_name and nodes[0].lower_name != "image":
        return None
    colours = {
        colour
        for part in arguments(nodes[0])
        for piece in part
        if (colour := node_colour(piece)) is not None
    }
    only = colours.pop() if len(colours) == 1 else None
    return only if only is not None and only.alpha >= 1 else None


def _without_variables(value: str, variables: Mapping[str, str]) -> str:
    for _ in range(_MAX_SUBSTITUTIONS):
        match = _VARIABLE.search(value)
        end = None if match is None else closing(value, match.end())
        if match is None or end is None:
            break
        fallback = value[match.end() : end].lstrip()
        default = fallback[1:] if fallback.startswith(",") else None
        inserted = variables.get(match[1], default)
        if inserted is None:
            # As if nothing had been declared.
            return ""
        value = f"{value[: match.start()]}{inserted.strip()}{value[end + 1 :]}".strip()
        if len(value) > _MAX_VALUE_CHARACTERS:
            return ""
    return with_environment(value) if "env(" in value else value
