"""`list_doc_pages`: the pages of the docs folder, in reading order."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from citewell.core.boundary import NOTE_PLACE, enclose, label, mark
from citewell.core.errors import InvalidArgument
from citewell.tools.docs.served import served_docs
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import PageLabel, PageUrl

if TYPE_CHECKING:
    from citewell.docsite.folder import DocsFolder

MAX_LISTED = 200
MAX_NAMED_CATEGORIES = 50


_NAME_WORD = re.compile(r"[^\W_]+")


class ListDocPagesInput(ToolInput):
    """Arguments of `list_doc_pages`."""

    category: Annotated[str | None, Field(max_length=200)] = None
    after: Annotated[
        str | None, Field(max_length=1_000, description="Path after which the list goes on.")
    ] = None


class ListedPageShape(ToolOutput):
    """A page."""

    path: PageUrl
    title: PageLabel


class ListDocPagesOutput(ToolOutput):
    """One page of the list."""

    pages: list[ListedPageShape]
    category: PageLabel | None = None
    total: int
    next_after: PageUrl | None = None
    categories: dict[PageLabel, int] | None = None


async def run(arguments: ListDocPagesInput, call: Call) -> ListDocPagesOutput:
    """List the pages of the folder, or of a category of its sidebar."""
    folder = served_docs(call)
    categories = folder.navigation.categories()
    if arguments.category is None:
        name = None
        # Includes the pages that the sidebar leaves out.
        paths = list(dict.fromkeys((*folder.navigation.paths(), *folder.paths)))
    else:
        name = _find_category(arguments.category, list(categories))
        paths = categories[name]
    start = _place_after(arguments.after, paths)
    listed = paths[start : start + MAX_LISTED]
    is_cut = start + len(listed) < len(paths)
    shown = dict(list(categories.items())[:MAX_NAMED_CATEGORIES]) if name is None else {}
    return ListDocPagesOutput(
        pages=[ListedPageShape(path=path, title=_title(folder, path)) for path in listed],
        category=name,
        total=len(paths),
        next_after=listed[-1] if is_cut else None,
        categories={title: len(members) for title, members in shown.items()} or None,
    )


def _title(folder: DocsFolder, path: str) -> str:
    return folder.titles.get(path, path)


def _find_category(asked: str, names: list[str]) -> str:
    by_lower = {name.lower(): name for name in names}
    by_slug = {_slug(name): name for name in reversed(names)}
    name = by_lower.get(asked.strip().lower()) or by_slug.get(_slug(asked))
    if name is not None:
        return name
    near = get_close_matches(asked.strip().lower(), by_lower, n=3)
    known = ", ".join(repr(label(by_lower[name])) for name in near) or ", ".join(
        repr(label(name)) for name in names[:MAX_NAMED_CATEGORIES]
    )
    suggestion = "Did you mean " if near else "The categories are: "
    raise InvalidArgument(
        f"There is no category {asked[:80]!r}.",
        suggestion=f"{suggestion}{known}{'?' if near else '.'}"
        if known
        else "These docs have no categories; leave category out.",
        categories=known,
    )


def _slug(name: str) -> str:
    """Return the slug of a name: `Getting started` → `getting-started`."""
    return "-".join(_NAME_WORD.findall(name.lower()))


def _place_after(after: str | None, paths: list[str]) -> int:
    if after is None:
        return 0
    if after not in paths:
        raise InvalidArgument(
            f"after: {after[:200]!r} is not on the list.",
            suggestion="Give the next_after of the call before, or leave it out.",
        )
    return paths.index(after) + 1


def render(output: ListDocPagesOutput, call: Call) -> str:
    """Return a list of paths, each with its title."""
    heading = f"Documentation Pages in {output.category}:" if output.category else None
    lines = [heading or "Documentation Pages:", NOTE_PLACE, ""]
    lines.append(enclose("\n".join(f"- {page.path} — {page.title}" for page in output.pages)))
    if output.categories:
        named = ", ".join(f"{mark(name)} ({count})" for name, count in output.categories.items())
        lines += ["", f"Categories: {enclose(named)}"]
    if output.next_after is not None:
        shown = f"{len(output.pages)} of {output.total} pages."
        lines += ["", f"{shown} More: call again with after={output.next_after}."]
    return "\n".join(lines)


TOOL = Tool(
    name="list_doc_pages",
    toolset="docs",
    title="List the docs' pages",
    description=f"""
        List the pages of the documentation that this server serves.
        Use when you want to see what the docs cover, or need a path.
        Do not use when you look for something: call search_docs.
        Returns at most {MAX_LISTED} paths with titles, in reading order.
        If you need more, call again with after; get_doc_page reads a page.
        Defaults: all categories. Max: {MAX_LISTED} pages a call.
    """,
    needs=("docs",),
    run=run,
    render=render,
    example={},
    requires="docs_folder",
)
