"""Write a synthesis with the client's model or a configured one, or join quotes."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from citewell.answer.synthesis import (
    MAX_EXCERPTS,
    MAX_SYNTHESIS_TOKENS,
    join_quotes,
    keep_cited,
    synthesis_prompt,
)
from citewell.core.errors import InferenceError
from citewell.core.frozen import frozen
from citewell.tools.websites.scores import MEDIUM_UP_TO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.tools.tool import Call
    from citewell.tools.websites.search import ScoredChunk

logger = logging.getLogger(__name__)


@frozen
class Synthesis:
    """A cited text; `[n]` is the n-th result."""

    text: str
    by: str
    """`client`, `extractive`, or the name of the configured model."""
    note: str | None = None


async def synthesise(query: str, results: Sequence[ScoredChunk], call: Call) -> Synthesis | None:
    """Return a text about the best results that cites one in every sentence; None without results.

    Sentences without a citation are dropped; if nothing is left, the next in order writes: the
    client's own model, the configured one, at last the results' own sentences.

    Raises:
        ClientMustAnswer: the client's model has to be asked first.
    """
    excerpts = [result.ranked for result in results[:MAX_EXCERPTS]]
    if not excerpts:
        return None
    prompt = synthesis_prompt(query, excerpts)
    if call.client is not None:
        written = await call.client.sample(prompt, max_tokens=MAX_SYNTHESIS_TOKENS)
        kept = keep_cited(written or "", excerpts=len(excerpts))
        if kept:
            return Synthesis(text=kept, by="client")
    note: str | None = None
    model = call.parts.synthesizer
    if model is not None:
        try:
            written = await model.write(prompt, max_tokens=MAX_SYNTHESIS_TOKENS)
        except InferenceError as error:
            logger.warning("no synthesis by %s: %s", model.name, error.message)
            note = f"The synthesis is made of quotes: {error.message}"
        else:
            kept = keep_cited(written, excerpts=len(excerpts))
            if kept:
                return Synthesis(text=kept, by=model.name)
            note = f"The synthesis is made of quotes: {model.name} cited no source."
    # Weak matches would only pad the text; the best one is always quoted.
    good = [result for result in results[:MAX_EXCERPTS] if result.combined_score <= MEDIUM_UP_TO]
    quoted = join_quotes(query, [result.ranked for result in good or results[:1]])
    return Synthesis(text=quoted, by="extractive", note=note) if quoted else None
