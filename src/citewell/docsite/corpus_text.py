"""Convert a page's Markdown for the corpus: links to other pages become their URLs."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from citewell.docsite.files import PAGE_SUFFIXES

if TYPE_CHECKING:
    from citewell.docsite.folder import DocsFolder

# The target of `[text](target)` or `[name]: target` that is neither a URL nor within the page.
_TARGET = re.compile(
    r"(?P<before>\]\(<?|^ {0,3}\[[^\[\]\n]+\]:[ \t]*<?)(?!\w+:|//|#)"
    r"(?P<path>[^()\s<>#?]+)(?P<rest>[#?][^()\s<>]*)?(?=[)\s>])",
    re.MULTILINE,
)


def corpus_text(path: str, text: str, folder: DocsFolder, *, base_url: str) -> str:
    """Return the text of the page at `path` with links to files as links to the website."""

    def resolve(match: re.Match[str]) -> str:
        linked = unquote(match["path"])
        if not linked.endswith((*PAGE_SUFFIXES, "/")):
            return match[0]
        target = posixpath.normpath(posixpath.join("/" + posixpath.dirname(path), linked))
        page_path = folder.find_path(target)
        if page_path is None:
            return match[0]
        return f"{match['before']}{base_url}{folder.url_of(page_path)}{match['rest'] or ''}"

    return _TARGET.sub(resolve, text)
