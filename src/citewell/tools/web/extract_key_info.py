"""`extract_key_info`: what a pasted text says about a question, in the text's own words."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from citewell.app.models import open_embedder_with
from citewell.core.boundary import NOTE_PLACE
from citewell.core.errors import BudgetExceeded, InvalidArgument
from citewell.core.ids import content_hash
from citewell.retrieve.materials import rank_pieces, split_material
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageText

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    import numpy as np
    import numpy.typing as npt

    from citewell.core.materials import Material
    from citewell.core.records import Caller
    from citewell.inference.protocols import Embedder

    Vector = npt.NDArray[np.float32]

MAX_CONTEXTS = 20
MAX_MATERIALS_BYTES = 400_000
"""Per call."""
MAX_KEPT_BYTES = 20_000_000
"""Per caller, of stored materials."""
_MAX_QUERY_CHARACTERS = 10_000
_DEFAULT_TASK = "default"


class ExtractKeyInfoInput(ToolInput):
    """Arguments of `extract_key_info`."""

    query: Annotated[str, Field(min_length=1, max_length=_MAX_QUERY_CHARACTERS, pattern=r"\S")]
    materials: Annotated[str, Field(description="Text to search.")]
    top_k: Annotated[int, Field(ge=1, le=MAX_CONTEXTS)] = 5


class ExtractKeyInfoOutput(ToolOutput):
    """The contexts, in the order they have in the materials."""

    contexts: list[PageText]
    count: int
    task_id: OwnText


async def run(arguments: ExtractKeyInfoInput, call: Call) -> ExtractKeyInfoOutput:
    """Rank the paragraphs of the materials and return the best.

    Raises:
        InferenceError: the caller's own embedding endpoint fails.
    """
    async with _open_embedder(call) as embedder:
        material = await _find_or_keep(arguments.materials, call, embedder)
        query_vector, vectors = await _embed(arguments.query, material, call, embedder)
    ranked = rank_pieces(
        arguments.query,
        material.pieces,
        vectors=vectors,
        query_vector=query_vector,
        model=embedder.name if embedder is not None else "",
    )
    contexts = [material.pieces[place] for place in sorted(ranked[: arguments.top_k])]
    return ExtractKeyInfoOutput(
        contexts=contexts, count=len(contexts), task_id=_task_of(call.caller)
    )


def check(arguments: ExtractKeyInfoInput) -> None:
    """Refuse materials that are empty or too large."""
    materials = arguments.materials
    if not materials.strip():
        raise InvalidArgument("materials cannot be empty", suggestion="Give the text to search.")
    size = len(materials.encode("utf-8", "surrogatepass"))
    if size > MAX_MATERIALS_BYTES:
        raise BudgetExceeded(
            f"The materials are {size:,} bytes; at most {MAX_MATERIALS_BYTES:,} are accepted.",
            suggestion="Send a part of the text.",
        )


def _open_embedder(call: Call) -> AbstractAsyncContextManager[Embedder | None]:
    """Give the server's embedder, or its endpoint with the caller's own key."""
    if call.settings.extract_with_caller_key and call.caller.token:
        return open_embedder_with(call.caller.token, call.settings)
    return nullcontext(call.parts.embedder)


async def _find_or_keep(text: str, call: Call, embedder: Embedder | None) -> Material:
    store, now = call.parts.store.materials, datetime.now(UTC)
    owner, task, text_hash = call.caller.owner, _task_of(call.caller), content_hash(text)
    known = await store.find_material(
        owner,
        task=task,
        text_hash=text_hash,
        model=embedder.name if embedder is not None else None,
        now=now,
    )
    if known is not None:
        return known
    return await store.add_material(
        owner,
        task=task,
        text_hash=text_hash,
        pieces=split_material(text),
        max_bytes=MAX_KEPT_BYTES,
        now=now,
    )


async def _embed(
    query: str, material: Material, call: Call, embedder: Embedder | None
) -> tuple[Vector | None, dict[int, Vector]]:
    """Return the vectors of the query and of the pieces; missing ones are made and stored."""
    if embedder is None or not embedder.supports(query):
        return None, {}
    vectors = dict(material.vectors)
    waiting = {
        place: piece
        for place, piece in enumerate(material.pieces)
        if place not in vectors and embedder.supports(piece)
    }
    if waiting:
        made = await embedder.embed_passages(list(waiting.values()))
        fresh = dict(zip(waiting, made, strict=True))
        await call.parts.store.materials.put_material_vectors(
            material.material_id, fresh, model=embedder.name
        )
        vectors |= fresh
    return await embedder.embed_query(query), vectors


def _task_of(caller: Caller) -> str:
    """Return the identity that preceded the @ of the bearer token."""
    named = [name for name in dict.fromkeys((caller.user, caller.agent)) if name]
    return ":".join(named) or _DEFAULT_TASK


def render(output: ExtractKeyInfoOutput, call: Call) -> str:
    """Return the contexts, numbered."""
    if not output.contexts:
        return "Nothing in the materials matches the query. Ask in the words of the text."
    numbered = [f"{number}. {context}" for number, context in enumerate(output.contexts, start=1)]
    return "\n".join([f"{output.count} contexts (task {output.task_id}):", NOTE_PLACE, *numbered])


TOOL = Tool(
    name="extract_key_info",
    toolset="web",
    title="Search a pasted text",
    description=f"""
        Return the paragraphs of a text you give that best match a query, word for word.
        Use when you hold a long text and need what it says about one thing.
        Do not use when the text is a web page: call answer.
        Returns at most {MAX_CONTEXTS} paragraphs, in the text's order.
        If you need more, call it again: the text is kept and not embedded twice.
        Defaults: top_k=5. Max: 400,000 bytes of materials.
    """,
    annotations=Annotations(read_only=False),
    needs=("store", "embedder"),
    check=check,
    run=run,
    render=render,
    example={"query": "How long is the warranty?", "materials": "The warranty lasts two years."},
)
