"""The docs folder that a call is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.errors import NotConfigured

if TYPE_CHECKING:
    from citewell.docsite.folder import DocsFolder
    from citewell.tools.tool import Call


def served_docs(call: Call) -> DocsFolder:
    """Return the folder that a call is about.

    Raises:
        NotConfigured: none is served.
    """
    folder = call.parts.docs
    if folder is None:
        raise NotConfigured("No docs folder is served; CITEWELL_DOCS_ROOT names one.")
    return folder
