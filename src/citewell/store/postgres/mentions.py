"""Writing which entities a page names, inside the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.core.graph import entity_key
from citewell.store.postgres.statements import SQL

if TYPE_CHECKING:
    from psycopg import AsyncConnection

    from citewell.core.records import PageDraft

    Session = AsyncConnection[dict[str, Any]]


async def put_mentions(
    connection: Session, draft: PageDraft, *, source_id: int, is_new: bool
) -> None:
    """Store the entities that the page names, replacing its previous ones unless it is new.

    An entity that is still named keeps its id: those that nothing names are removed last.
    """
    if is_new and not draft.entities:
        return
    keyed = [(entity_key(mention.name), mention) for mention in draft.entities]
    strongest = dict(sorted(keyed, key=_weakest_first))
    values: dict[str, object] = {
        "project": draft.project,
        "keys": list(strongest),
        "names": [mention.name for mention in strongest.values()],
        "kinds": [mention.kind for mention in strongest.values()],
    }
    if keyed:
        await connection.execute(SQL["put_entities"], values)
    found = await connection.execute(SQL["entity_ids"], values)
    ids = {row["key"]: row["entity_id"] for row in await found.fetchall()}
    forgotten = 0
    if not is_new:
        key = {"source_id": source_id}
        forgotten = (await connection.execute(SQL["forget_mentions_of_page"], key)).rowcount
    if keyed:
        mentions = {
            "source_id": source_id,
            "sections": [mention.section for _, mention in keyed],
            "entity_ids": [ids[key] for key, _ in keyed],
            "times": [mention.count for _, mention in keyed],
            "defines": [int(mention.defines) for _, mention in keyed],
        }
        await connection.execute(SQL["put_mentions"], mentions)
        await connection.execute(SQL["count_mentions"], {"source_id": source_id})
    if forgotten:
        await connection.execute(SQL["remove_unnamed_entities"])


_KINDS_WEAKEST_FIRST = ("phrase", "topic", "term", "symbol")


def _weakest_first(keyed: tuple[str, Any]) -> int:
    return _KINDS_WEAKEST_FIRST.index(keyed[1].kind)
