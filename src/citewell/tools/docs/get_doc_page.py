"""`get_doc_page`: read a page of the docs folder, or some of its sections."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import Field

from citewell.app.docs_folder import base_url
from citewell.core.boundary import label
from citewell.core.errors import InvalidArgument
from citewell.docsite.limits import by_size_beside
from citewell.docsite.pages import body_start, parse_page
from citewell.tools.docs.served import served_docs
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.docsite.folder import DocsFolder
    from citewell.docsite.pages import DocPage, DocSection

MAX_BYTES = 24_000
"""About 6,000 tokens of English, and never more tokens than bytes."""
MAX_SECTIONS = 20
MAX_NAMED_SECTIONS = 60

Lines = tuple[int, int]
"""The first and the last line of a span, counted from 1."""


class GetDocPageInput(ToolInput):
    """Arguments of `get_doc_page`."""

    path: Annotated[
        str, Field(min_length=1, max_length=1_000, description="As search_docs gives it.")
    ]
    sections: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=300)]] | None,
        Field(max_length=MAX_SECTIONS, description="Headings to read instead of all."),
    ] = None
    start_line: Annotated[int, Field(ge=1, description="Where a page that was cut goes on.")] = 1


class GetDocPageOutput(ToolOutput):
    """Text of a page, as Markdown."""

    path: PageUrl
    title: PageLabel
    url: PageUrl | None = None
    content: PageText
    next_line: int | None = None
    total_lines: int
    sections_left: list[PageLabel] | None = None
    missing_sections: dict[OwnText, list[PageLabel]] | None = None


async def run(arguments: GetDocPageInput, call: Call) -> GetDocPageOutput:
    """Read the page, or the sections that are asked for."""
    folder = served_docs(call)
    base = base_url(call.settings)
    path = _find_path(folder, arguments.path)
    text = folder.text(path)
    if text is None:
        raise _no_page(folder, arguments.path)
    part = _Part(
        *await by_size_beside(
            len(text), cut_part, path, text, arguments.sections or [], arguments.start_line
        )
    )
    return GetDocPageOutput(
        path=path,
        title=folder.titles[path],
        url=base + folder.url_of(path) if base else None,
        content=part.content,
        next_line=part.next_line,
        total_lines=part.total_lines,
        sections_left=part.sections_left or None,
        missing_sections=part.missing_sections or None,
    )


class _Part(NamedTuple):
    content: str
    next_line: int | None
    total_lines: int
    sections_left: list[str]
    missing_sections: dict[str, list[str]]


def cut_part(path: str, text: str, sections: list[str], start_line: int) -> _Part:
    """Return what fits of a page or of its sections; runs in another process if it is large.

    Raises:
        InvalidArgument: the page has no such section, or fewer lines.
    """
    lines = text.split("\n")
    total = len(lines) - (lines[-1] == "")
    if start_line > max(total, 1):
        raise InvalidArgument(f"start_line: the page has {total} lines.")
    missing: dict[str, list[str]] = {}
    if sections:
        spans, missing = _find_sections(_parse(path, text), sections)
    else:
        spans = [(1 + text.count("\n", 0, body_start(text)), total)]
    content, next_line = _cut(lines, spans, start_line=start_line)
    left = [] if next_line is None else _headings_from(_parse(path, text), next_line)
    return _Part(content, next_line, total, left, missing)


def _find_path(folder: DocsFolder, asked: str) -> str:
    path = folder.find_path(asked)
    if path is None:
        raise _no_page(folder, asked)
    return path


def _no_page(folder: DocsFolder, asked: str) -> InvalidArgument:
    near = ", ".join(label(path) for path in folder.near_paths(asked))
    return InvalidArgument(
        f"There is no page {asked[:200]!r}.",
        suggestion=f"Did you mean {near}?"
        if near
        else "Call list_doc_pages for the paths, or search_docs.",
        pages=near,
    )


def _parse(path: str, text: str) -> DocPage:
    return parse_page(path, text, mtime=0.0, size=len(text))


def _find_sections(page: DocPage, asked: Sequence[str]) -> tuple[list[Lines], dict[str, list[str]]]:
    """Return the lines of the named sections, and similar headings for unknown names."""
    by_name: dict[str, int] = {}
    for place, section in enumerate(page.sections):
        by_name.setdefault(_plain(section.heading), place)
        by_name.setdefault(section.anchor.lower(), place)
    spans: list[Lines] = []
    missing: dict[str, list[str]] = {}
    for name in asked:
        known = by_name.get(_plain(name))
        if known is not None:
            spans.append(_with_subsections(page.sections, known))
            continue
        near = get_close_matches(_plain(name), by_name, n=3, cutoff=0.5)
        headings = [page.sections[by_name[similar]].heading for similar in near]
        missing[name] = list(dict.fromkeys(headings))
    if not spans:
        names = ", ".join(repr(label(heading)) for near in missing.values() for heading in near)
        every = ", ".join(repr(label(s.heading)) for s in page.sections[:MAX_NAMED_SECTIONS])
        path, listed = label(page.path), names or every
        raise InvalidArgument(
            f"{path} has no section {next(iter(missing))[:200]!r}.",
            suggestion=f"Did you mean {listed}?" if names else f"Its sections: {listed or 'none'}.",
            page=path,
            sections=listed,
        )
    return _merged(spans), missing


def _plain(name: str) -> str:
    return " ".join(name.lstrip("# ").lower().split())


def _with_subsections(sections: Sequence[DocSection], place: int) -> Lines:
    end = sections[place].line_end
    for section in sections[place + 1 :]:
        if section.level <= sections[place].level:
            break
        end = section.line_end
    return sections[place].line_start, end


def _merged(spans: list[Lines]) -> list[Lines]:
    """Return the spans in the order of the page, without overlaps."""
    merged: list[Lines] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _cut(lines: Sequence[str], spans: list[Lines], *, start_line: int) -> tuple[str, int | None]:
    """Return the lines from `start_line` on that fit, and the number of the first that does not."""
    taken: list[str] = []
    left = MAX_BYTES
    for start, end in spans:
        if taken:
            taken.append("")
        for number in range(max(start, start_line), end + 1):
            line = lines[number - 1]
            size = len(line.encode()) + 1
            if size > left:
                if taken:
                    return "\n".join(taken).strip("\n"), number
                # This line alone is too long; the next call continues after it.
                line = line.encode()[:MAX_BYTES].decode(errors="ignore") + "…"
            taken.append(line)
            left -= size
    return "\n".join(taken).strip("\n"), None


def _headings_from(page: DocPage, line: int) -> list[str]:
    left = [section.heading for section in page.sections if section.line_end >= line]
    return left[:MAX_NAMED_SECTIONS]


def render(output: GetDocPageOutput, call: Call) -> str:
    """Return the page's Markdown, and notes below a rule.

    The text counts as untrusted: its authors need not be those who run the server.
    """
    notes = [f"Page: {output.url or output.path}"]
    for name, near in (output.missing_sections or {}).items():
        meant = f" Did you mean {', '.join(near)}?" if near else ""
        notes.append(f"There is no section {name!r}.{meant}")
    if output.next_line is not None:
        cut = f"Cut before line {output.next_line} of {output.total_lines}."
        notes.append(f"{cut} More: call again with start_line={output.next_line}.")
    if output.sections_left:
        notes.append("Sections left: " + "; ".join(output.sections_left))
    return "\n".join([output.content, "", "---", *notes])


TOOL = Tool(
    name="get_doc_page",
    toolset="docs",
    title="Read a page of the docs",
    description=f"""
        Read a page of the documentation that this server serves, as Markdown.
        Use when search_docs or list_doc_pages gave you its path.
        Do not use when you look for something: call search_docs.
        Returns at most {MAX_BYTES:,} bytes: the page, or the named sections with
            those below them.
        If you need more, call again with start_line.
        Defaults: the whole page. Max: {MAX_SECTIONS} sections.
    """,
    needs=("docs",),
    run=run,
    render=render,
    example={"path": "index.md", "sections": ["Install"]},
    requires="docs_folder",
)
