"""Convert TSDoc comments to Markdown: the summary first, tags as a list, examples as code."""

from __future__ import annotations

import inspect
import re

_LINK = re.compile(r"\{@(?:link|linkcode|linkplain|see)\s{1,3}([^{}\n]{1,200})\}")
_TAG = re.compile(r"@([A-Za-z]\w{0,40})(?:\s+|$)")
_FENCE = "```"
# Their text is prose.
_PROSE = frozenset({"summary", "description", "desc", "remarks", "overview", "privateRemarks"})
# What they say stands in the heading or the code.
_DROPPED = frozenset(
    {"name", "function", "memberof", "export", "exports", "kind", "inheritDoc", "module"}
)


def tsdoc_markdown(comment: str) -> str:
    """Return what a comment says as Markdown; `comment` is what stands between `/**` and `*/`."""
    opening, parts = _parts(_text_of(comment))
    summary = [body for tag, body in parts if tag in _PROSE and body]
    listed = [
        _entry(tag, body) for tag, body in parts if tag not in _PROSE | _DROPPED | {"example"}
    ]
    examples = [_example(body) for tag, body in parts if tag == "example" and body]
    blocks = [opening, *summary, "\n".join(listed), *examples]
    return "\n\n".join(block for block in blocks if block)


def _text_of(comment: str) -> str:
    """Return the lines of a comment without the stars before them."""
    lines = comment.splitlines()
    stripped = [line.lstrip() for line in lines[1:]]
    if all(line.startswith("*") for line in stripped if line):
        lines = [lines[0] if lines else "", *(line[1:] for line in stripped)]
    first = lines[0].strip() if lines else ""
    return _LINK.sub(_link_text, f"{first}\n{inspect.cleandoc(chr(10).join(['', *lines[1:]]))}")


def _link_text(match: re.Match[str]) -> str:
    target, _, label = match[1].partition("|")
    return label.strip() or f"`{target.strip()}`"


def _parts(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the text before the first tag, and each tag with the text after it."""
    opening: list[str] = []
    parts: list[tuple[str, list[str]]] = []
    in_code = False
    for line in text.splitlines():
        match = None if in_code else _TAG.match(line)
        if line.lstrip().startswith(_FENCE):
            in_code = not in_code
        if match:
            parts.append((match[1], [line[match.end() :]]))
        else:
            (parts[-1][1] if parts else opening).append(line)
    # A description must not look like the definition of something else.
    return _prose(opening), [
        (tag, "\n".join(lines).strip() if tag == "example" else _prose(lines))
        for tag, lines in parts
    ]


def _prose(lines: list[str]) -> str:
    return "\n".join(
        f"\\{line}" if line.startswith("#") else line.rstrip() for line in lines
    ).strip()


def _entry(tag: str, body: str) -> str:
    """Return a tag as an item of a list, with what belongs to it indented."""
    first, *rest = body.splitlines() or [""]
    item = [f"- **{tag}** {first}".rstrip(), *(f"  {line}".rstrip() for line in rest)]
    return "\n".join(item)


def _example(body: str) -> str:
    """Return an example: as it is where it marks its code, else all of it as code."""
    caption, _, code = body.rpartition("</caption>")
    caption = caption.removeprefix("<caption>").strip()
    opening = f"Example: {caption}".removesuffix(": ") + ("" if caption else ":")
    if _FENCE in code:
        return f"{opening}\n\n{code.strip()}"
    return f"{opening}\n\n{_FENCE}ts\n{code.strip()}\n{_FENCE}"
