"""What changed in a page between two readings: sections added, removed and edited."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from citewell.core.library import PageChange, SectionChange
from citewell.core.sequence_match import find_opcodes
from citewell.core.text import one_line

if TYPE_CHECKING:
    from citewell.core.records import Page

_SHOWN_CHARACTERS = 300
_MAX_SECTIONS = 50
# Comparing line by line takes time that grows with the product of the two lengths.
_MAX_COMPARED_LINES = 2_000


class _SectionKey(NamedTuple):
    """A section by its headings; the second of the same name is another one."""

    heading_path: tuple[str, ...]
    occurrence: int


def compare_pages(before: Page, after: Page) -> PageChange:
    """Return what changed from one reading of a page to the next, in the order of the page."""
    old, new = _sections(before), _sections(after)
    changes = [
        SectionChange(kind="removed", heading_path=key.heading_path, before=_shown(text))
        for key, text in old.items()
        if key not in new
    ]
    for key, text in new.items():
        if key not in old:
            changes.append(
                SectionChange(kind="added", heading_path=key.heading_path, after=_shown(text))
            )
        elif old[key] != text:
            changes.append(_edit(key, old[key], text))
    return PageChange(
        url=after.info.url,
        source_id=after.info.source_id,
        kind="changed",
        sections=tuple(changes[:_MAX_SECTIONS]),
    )


def _sections(page: Page) -> dict[_SectionKey, str]:
    """Return the text of each section, without the space around it."""
    texts: dict[_SectionKey, str] = {}
    times: Counter[tuple[str, ...]] = Counter()
    for section in page.sections:
        path = _heading_path(page, section.ordinal)
        texts[_SectionKey(path, times[path])] = page.text[section.start : section.end].strip()
        times[path] += 1
    return texts


def _heading_path(page: Page, ordinal: int) -> tuple[str, ...]:
    path: list[str] = []
    current: int | None = ordinal
    while current is not None:
        section = page.sections[current]
        if section.heading:
            path.append(section.heading)
        current = section.parent
    return tuple(reversed(path))


def _edit(key: _SectionKey, before: str, after: str) -> SectionChange:
    old, new = before.splitlines(), after.splitlines()
    gone, come = old, new
    if max(len(old), len(new)) <= _MAX_COMPARED_LINES:
        differing = [step for step in find_opcodes(old, new) if step[0] != "equal"]
        gone = [line for _, start, end, _, _ in differing for line in old[start:end]]
        come = [line for _, _, _, start, end in differing for line in new[start:end]]
    return SectionChange(
        kind="edited",
        heading_path=key.heading_path,
        before=_shown("\n".join(gone)),
        after=_shown("\n".join(come)),
    )


def _shown(text: str) -> str:
    return one_line(text, limit=_SHOWN_CHARACTERS)
