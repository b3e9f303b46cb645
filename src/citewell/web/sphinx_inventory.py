"""Sphinx inventories (`objects.inv`): the version, pages and symbols of a documentation site."""

from __future__ import annotations

import zlib

from citewell.core.frozen import frozen

INVENTORY_NAME = "objects.inv"

_HEADER = b"# Sphinx inventory version 2\n"
_MOST_BYTES = 50_000_000
_MOST_ENTRIES = 200_000


@frozen
class Inventory:
    """What a site says that it documents, with addresses relative to the inventory's."""

    project: str
    version: str
    """As its authors write it; may be empty."""
    pages: tuple[str, ...]
    """All of the site; none where another program than Sphinx wrote only symbols."""
    symbols: tuple[tuple[str, str], ...]
    """Qualified names, each with the address of its definition."""


PlainInventory = tuple[str, str, tuple[str, ...], tuple[tuple[str, str], ...]]


def parse_inventory(body: bytes) -> PlainInventory | None:
    """Return project, version, pages and symbols of an inventory; None when it is none.

    Plain values, which a reading process can send back; `Inventory` names them.
    """
    if not body.startswith(_HEADER):
        return None
    head, _, packed = body.partition(b"zlib.\n")
    lines = head.decode("utf-8", "replace").splitlines()
    fields = dict(line.removeprefix("# ").split(": ", 1) for line in lines if ": " in line)
    try:
        text = zlib.decompressobj().decompress(packed, _MOST_BYTES).decode("utf-8", "replace")
    except zlib.error:
        return None
    pages: dict[str, None] = {}
    symbols: dict[str, str] = {}
    for line in text.splitlines()[:_MOST_ENTRIES]:
        entry = _parse_entry(line)
        if entry is None:
            continue
        name, role, address = entry
        if role == "std:doc":
            pages.setdefault(address.partition("#")[0])
        elif not role.startswith("std:") and "#" in address:
            symbols.setdefault(name, address)
    version = fields.get("Version", "").strip()
    return fields.get("Project", "").strip(), version, tuple(pages), tuple(symbols.items())


def name_inventory(plain: PlainInventory) -> Inventory:
    """Return what `parse_inventory` returned, by name."""
    project, version, pages, symbols = plain
    return Inventory(project=project, version=version, pages=tuple(pages), symbols=tuple(symbols))


def _parse_entry(line: str) -> tuple[str, str, str] | None:
    """Return name, role and address; a name may hold spaces, a role and a priority follow it."""
    words = line.split(" ")
    for place in range(1, len(words) - 2):
        if ":" in words[place] and words[place + 1].lstrip("-").isdigit():
            name = " ".join(words[:place])
            address = words[place + 2]
            # A trailing $ stands for the name.
            address = address[:-1] + name if address.endswith("$") else address
            return name, words[place], address
    return None
