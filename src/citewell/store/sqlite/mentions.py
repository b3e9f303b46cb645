"""Writing which entities a page names, inside the caller's transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from citewell.core.graph import entity_key
from citewell.store.sqlite.session import SQL

if TYPE_CHECKING:
    import sqlite3

    from citewell.core.records import PageDraft


def put_mentions(connection: sqlite3.Connection, draft: PageDraft, *, source_id: int) -> None:
    """Store the entities that the page names, replacing its previous ones.

    An entity that is still named keeps its id, so what is new is written before the rest goes.
    """
    keyed = [(entity_key(mention.name), mention) for mention in draft.entities]
    connection.executemany(
        SQL["put_entity"],
        [
            {"project": draft.project, "key": key, "name": mention.name, "kind": mention.kind}
            for key, mention in {
                (key, mention.kind): (key, mention) for key, mention in keyed
            }.values()
        ],
    )
    keys = json.dumps(sorted({key for key, _ in keyed}))
    found = connection.execute(SQL["entity_ids"], {"project": draft.project, "keys": keys})
    entity_ids: dict[str, int] = json.loads(found.fetchone()[0])
    before = {
        (row["section"], row["entity_id"])
        for row in connection.execute(SQL["mentions_before"], {"source_id": source_id})
    }
    connection.executemany(
        SQL["put_mention"],
        [
            (source_id, mention.section, entity_ids[key], mention.count, int(mention.defines))
            for key, mention in keyed
        ],
    )
    gone = before - {(mention.section, entity_ids[key]) for key, mention in keyed}
    connection.executemany(
        SQL["remove_mention"], [(source_id, section, entity_id) for section, entity_id in gone]
    )
