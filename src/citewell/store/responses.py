"""The responses that pages were made from, so that a better extractor needs no second fetch."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING

from anyio import to_thread

from citewell.core.storage import PageResponse
from citewell.store.rows import read_record, record_values

if TYPE_CHECKING:
    from citewell.store.session import Database, Row


class ResponseStore:
    """At most one response for each page, deleted with it. Every method may raise StoreError.

    `put_page` stores the response of its draft, or drops the one of the text that it replaces.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put_response(self, source_id: int, response: PageResponse) -> bool:
        """Keep the response of a page in place of the one it had; return whether there is one."""
        values = await pack_response(response)
        changed = await self._database.execute("put_response", values | {"source_id": source_id})
        return changed > 0

    async def get_response(self, source_id: int) -> PageResponse | None:
        """Return the response of a page, or None when it is not kept."""
        row = await self._database.fetch_one("get_response", {"source_id": source_id})
        return None if row is None else await to_thread.run_sync(_unpack, row)

    async def drop_response(self, source_id: int) -> bool:
        """Drop the response of a page; return whether it was kept."""
        return await self._database.execute("drop_response", {"source_id": source_id}) > 0

    async def response_bytes(self) -> int:
        """Return how many bytes the kept bodies take, compressed."""
        row = await self._database.fetch_one("response_bytes")
        assert row is not None, "an aggregate has a row"
        return int(row["bytes"])

    async def drop_oldest_responses(self, *, max_bytes: int) -> int:
        """Drop the responses fetched longest ago until `max_bytes` suffice; return how many."""
        if await self.response_bytes() <= max_bytes:
            return 0
        return await self._database.execute("drop_oldest_responses", {"max_bytes": max_bytes})


async def pack_response(response: PageResponse) -> dict[str, object]:
    """Return the values of `put_response`, with the body compressed."""
    body = await to_thread.run_sync(zlib.compress, response.body)
    headers = json.dumps(response.headers, ensure_ascii=False)
    return record_values(response) | {"bytes": len(body), "headers": headers, "body": body}


def _unpack(row: Row) -> PageResponse:
    return read_record(
        PageResponse,
        row,
        headers=tuple((name, value) for name, value in json.loads(row["headers"])),
        body=zlib.decompress(row["body"]),
    )
