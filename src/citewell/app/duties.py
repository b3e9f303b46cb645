"""Which background work of its database a process takes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.errors import SettingsError
from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.core.jobs import JobKind
    from citewell.core.settings import Settings

_JOBS_OF: Mapping[str, tuple[JobKind, ...]] = {
    "ingest": ("process_website", "process_site", "refresh_website", "reread_pages"),
    "embed": ("embed_page",),
    # Rendering has no jobs: whoever asks for a page waits for it.
    "render": (),
    "process_website": ("process_website",),
    "process_site": ("process_site",),
    "refresh_website": ("refresh_website",),
}


@frozen
class Duties:
    """The work that a process takes on."""

    jobs: frozenset[JobKind]
    embeds: bool
    """Whether it embeds what it stores; otherwise that is left to other processes."""
    embeds_left: bool = False
    """Whether it also embeds what other processes left."""
    renders: bool = False
    """Whether it renders pages for other processes, if it can."""
    must_render: bool = False
    """Whether rendering was requested explicitly, so that a missing browser is an error."""


def duties_of(settings: Settings, *, is_worker: bool) -> Duties:
    """Return the duties that CITEWELL_JOBS_KINDS gives this process; a worker works for others.

    Raises:
        SettingsError: there is no such kind of work.
    """
    named = settings.jobs_kinds
    if named == ("none",):
        return Duties(jobs=frozenset(), embeds=False)
    if unknown := set(named) - set(_JOBS_OF):
        known = ", ".join(_JOBS_OF)
        raise SettingsError(f"CITEWELL_JOBS_KINDS knows {known} or none, not {min(unknown)!r}")
    asked = named or tuple(_JOBS_OF)
    jobs = {job for name in asked for job in _JOBS_OF[name]}
    return Duties(
        jobs=frozenset(jobs),
        embeds="embed_page" in jobs,
        embeds_left=is_worker and "embed_page" in jobs,
        renders=is_worker and "render" in asked,
        must_render=is_worker and "render" in named,
    )
