"""Questions of agents as a person reads them: Markdown whose links show where they lead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.docsite.site.stored_text import StoredText, render_stored_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citewell.tools.tool import Call


async def render_questions(
    call: Call, lists: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, str]:
    """Return the questions of these lists as HTML, by their ids; none of their HTML passes."""
    texts = {
        str(question["id"]): StoredText(
            text=str(question["question"]), heading_shift=3, escapes=True, shows_addresses=True
        )
        for questions in lists.values()
        for question in questions
    }
    html = await call.parts.fetcher.sandbox.run(render_stored_texts, list(texts.values()))
    return dict(zip(texts, html, strict=True))
