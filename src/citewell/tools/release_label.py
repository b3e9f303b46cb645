"""The product and version that a page documents, as results show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic.json_schema import SkipJsonSchema

from citewell.tools.untrusted import PageLabel

if TYPE_CHECKING:
    from citewell.core.releases import Release

# Left out of tools/list to save tokens: the name explains itself.
ReleaseLabel = Annotated[PageLabel | None, SkipJsonSchema()]
"""Such as `django 4.2.30`; left out for a page that documents no version."""


def shape_release(release: Release) -> str | None:
    """Return the label of a release; None, which results leave out, where there is none."""
    return release.label or None
