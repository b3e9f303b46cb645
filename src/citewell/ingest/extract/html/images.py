"""Images: the address, wherever lazy loading hides it, whether it is worth a record, its name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.ingest.extract.html.element import Element

_LAZY = ("data-src", "data-original", "data-lazy-src", "data-original-src", "data-hi-res-src")
_LAZY_SETS = ("srcset", "data-srcset", "data-lazy-srcset")
_PLACEHOLDER = re.compile(
    r"^data:|(?:^|/)(?:blank|spacer|pixel|placeholder|transparent|1x1|loading|clear)[^/]*\.\w+$",
    re.IGNORECASE,
)
_TRACKER = re.compile(
    r"(?:^|//|\.)(?:pixel|stats|analytics|doubleclick|scorecardresearch|quantserve|b\.scorecard)"
    r"[./]|/(?:pixel|track(?:ing)?|beacon)[/.?]|facebook\.com/tr\b|google-analytics\.com",
    re.IGNORECASE,
)
# An address that ends with a comma has no size.
_CANDIDATE = re.compile(r"([^\s,]\S*+)(?:(?<=,)|([^,]*+))")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)[wx]")


def image_reference(image: Element) -> str:
    """Return the image's address as written; "" for placeholders and tracking pixels."""
    if _is_tiny(image):
        return ""
    source = image.attribute("src")
    if not source or _PLACEHOLDER.search(source):
        source = _lazy_source(image)
    if not source or _PLACEHOLDER.search(source) or _TRACKER.search(source):
        return ""
    return source


def picture_name(link: Element) -> str:
    """Return what the picture in a link is called: an arrow is called "Next", or its file is."""
    picture = link.find("img")
    return (picture.attribute("alt") if picture is not None else "") or file_of_picture(link)


def file_of_picture(link: Element) -> str:
    """Return the name of the file of the picture in a link, without its ending."""
    picture = link.find("img")
    file = picture.attribute("src").rpartition("/")[2] if picture is not None else ""
    return file.partition(".")[0]


def _lazy_source(image: Element) -> str:
    for name in _LAZY:
        if image.attribute(name):
            return image.attribute(name)
    sets = [image.attribute(name) for name in _LAZY_SETS]
    if image.parent is not None and image.parent.tag == "picture":
        sources = [child for child in image.parent.elements() if child.tag == "source"]
        sets.extend(source.attribute(name) for source in sources for name in _LAZY_SETS)
    return next((_largest(candidates) for candidates in sets if candidates), "")


def _largest(candidates: str) -> str:
    """Return the address of the largest image of a srcset."""
    best, best_size = "", -1.0
    for address, descriptor in _CANDIDATE.findall(candidates):
        match = _SIZE.fullmatch(descriptor.strip())
        size = float(match[1]) if match else 1.0
        if size > best_size:
            best, best_size = address.rstrip(","), size
    return best


def _is_tiny(image: Element) -> bool:
    for name in ("width", "height"):
        value = image.attribute(name).removesuffix("px")
        if value.isdecimal() and int(value[:6]) <= 2:
            return True
    return False
