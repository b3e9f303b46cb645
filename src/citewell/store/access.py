"""Keys, and the calls made with them."""

from __future__ import annotations

import secrets
from datetime import UTC
from typing import TYPE_CHECKING

from citewell.core.identity import AccessKey, CallRecord, DailyUsage, LoggedCall, UsageTotal
from citewell.store.rows import read_record, record_values
from citewell.store.session import read_datetime, read_list

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from citewell.core.identity import CallQuery
    from citewell.store.session import Database, Row, Session

SECRET_BYTES = 32


class AccessStore:
    """Keys by the hash of their tokens, and every call by the owner of its key.

    Every method may raise StoreError. A month is written 2026-03 and is one of UTC.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put_key(self, key: AccessKey) -> bool:
        """Write a new key; return False, and write nothing, if a live one has its name."""

        async def work(session: Session) -> bool:
            if await _has_live_key(session, key):
                return False
            await session.execute("put_access_key", _key_values(key))
            return True

        return await self._database.transaction(work)

    async def find_key(self, key_hash: str) -> AccessKey | None:
        """Return the key with this hash, also one that is revoked or expired."""
        row = await self._database.fetch_one("find_access_key", {"key_hash": key_hash})
        return None if row is None else _key(row)

    async def server_secret(self) -> bytes:
        """Return the SECRET_BYTES random bytes that all processes of this database share."""
        row = await self._database.fetch_one("server_secret")
        if row is None:
            secret = secrets.token_bytes(SECRET_BYTES)
            await self._database.execute("make_server_secret", {"secret": secret})
            row = await self._database.fetch_one("server_secret")
        assert row is not None, "it was made just now, or by another process"
        return bytes(row["secret"])

    async def list_keys(self) -> list[AccessKey]:
        """Return every key that was not pruned, oldest first."""
        return [_key(row) for row in await self._database.fetch_all("list_access_keys")]

    async def has_keys(self) -> bool:
        """Return whether there is any key: a server whose keys are all revoked is not open."""
        row = await self._database.fetch_one("has_access_keys")
        return row is not None and bool(row["is_any"])

    async def replace_key(self, key: AccessKey, *, old_until: datetime) -> bool:
        """Rotate the token of the live key of the same name and owner, in one transaction.

        The tokens it had end at `old_until` at the latest. Return False, and write nothing, if
        there is no such key.
        """

        async def work(session: Session) -> bool:
            if not await _has_live_key(session, key, owner=key.owner):
                return False
            await session.execute("end_access_keys", {"owner": key.owner, "until": old_until})
            await session.execute("put_access_key", _key_values(key))
            return True

        return await self._database.transaction(work)

    async def revoke_keys(self, owner: str, *, now: datetime) -> int:
        """Revoke every live token of the key of `owner`; return how many there were."""
        return await self._database.execute("revoke_access_keys", {"owner": owner, "now": now})

    async def prune_keys(self, *, now: datetime) -> int:
        """Delete the tokens that were revoked or have expired; return how many there were."""
        return await self._database.execute("prune_access_keys", {"now": now})

    async def record_calls(self, calls: Sequence[CallRecord]) -> None:
        """Add calls in one transaction."""
        rows = [
            record_values(call) | {"month": call.called_at.astimezone(UTC).strftime("%Y-%m")}
            for call in calls
        ]
        await self._database.transaction(lambda session: session.execute_many("record_call", rows))

    async def units_used(self, owner: str, *, month: str) -> int:
        """Return what the calls of `owner` cost in a month."""
        row = await self._database.fetch_one("units_used", {"owner": owner, "month": month})
        assert row is not None, "an aggregate has a row"
        return int(row["units"])

    async def usage(
        self, *, month: str | None = None, owner: str | None = None, project: str | None = None
    ) -> list[UsageTotal]:
        """Return the totals by month, name and tool.

        Where given, of one month, one owner, or the keys that are limited to one project.
        """
        values = {"month": month, "owner": owner, "project": project}
        return [
            read_record(UsageTotal, row)
            for row in await self._database.fetch_all("usage_totals", values)
        ]

    async def daily_usage(
        self, *, month: str | None = None, owner: str | None = None, project: str | None = None
    ) -> list[DailyUsage]:
        """Return what was used, of the same calls as `usage`; oldest day first."""
        values = {"month": month, "owner": owner, "project": project}
        return [
            read_record(DailyUsage, row, user=row["user_name"])
            for row in await self._database.fetch_all("daily_usage", values)
        ]

    async def list_calls(self, query: CallQuery) -> list[LoggedCall]:
        """Return calls, newest first."""
        values = record_values(query) | {"only_failed": int(query.only_failed)}
        rows = await self._database.fetch_all("list_calls", values)
        return [
            LoggedCall(number=row["call_id"], key_name=row["name"], call=_call(row)) for row in rows
        ]

    async def last_calls(self) -> dict[str, datetime]:
        """Return when each owner called last."""
        rows = await self._database.fetch_all("last_calls")
        return {row["owner"]: read_datetime(row["called_at"]) for row in rows}

    async def forget_calls(self, *, before: datetime) -> int:
        """Drop calls made before a time; return how many there were."""
        return await self._database.execute("forget_calls", {"before": before})


async def _has_live_key(session: Session, key: AccessKey, *, owner: str | None = None) -> bool:
    """Return whether a live key has the name; nobody else can make one before we are done."""
    await session.lock("key", key.name)
    values = {"name": key.name, "owner": owner, "now": key.created_at}
    return await session.fetch_one("live_key_named", values) is not None


def _key_values(key: AccessKey) -> dict[str, object]:
    toolsets = None if key.toolsets is None else sorted(key.toolsets)
    return record_values(key) | {"scopes": sorted(key.scopes), "toolsets": toolsets}


def _call(row: Row) -> CallRecord:
    return read_record(CallRecord, row, user=row["user_name"])


def _key(row: Row) -> AccessKey:
    return read_record(
        AccessKey,
        row,
        scopes=frozenset(read_list(row["scopes"])),
        toolsets=None if row["toolsets"] is None else frozenset(read_list(row["toolsets"])),
    )
