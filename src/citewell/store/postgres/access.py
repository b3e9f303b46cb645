"""Keys and calls on PostgreSQL; see AccessStore for what each method promises."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from citewell.core.identity import AccessKey, UsageTotal
from citewell.store.access_protocol import SECRET_BYTES
from citewell.store.postgres.connection import SQL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import AsyncConnection

    from citewell.core.identity import CallRecord
    from citewell.store.postgres.connection import Database

    Session = AsyncConnection[dict[str, Any]]


class PostgresAccess:
    """The keys and calls of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put_key(self, key: AccessKey) -> bool:
        """Write a new key; return False if a live one has its name."""
        return await self._database.write(partial(_put_key, key=key))

    async def find_key(self, key_hash: str) -> AccessKey | None:
        """Return the key with this hash, also one that is revoked or expired."""
        rows = await self._database.query("find_access_key", {"key_hash": key_hash})
        return _key(rows[0]) if rows else None

    async def server_secret(self) -> bytes:
        """Return random bytes, always the same, that only processes of this database know."""
        if not (rows := await self._database.query("server_secret")):
            made = {"secret": secrets.token_bytes(SECRET_BYTES)}
            await self._database.change("make_server_secret", made)
            rows = await self._database.query("server_secret")
        return bytes(rows[0]["secret"])

    async def list_keys(self) -> list[AccessKey]:
        """Return every key there ever was, oldest first."""
        return [_key(row) for row in await self._database.query("list_access_keys")]

    async def has_keys(self) -> bool:
        """Tell whether there ever was a key."""
        return bool((await self._database.query("has_access_keys"))[0]["found"])

    async def replace_key(self, key: AccessKey, *, old_until: datetime) -> bool:
        """Write a new token of the live key of the same name, in one transaction."""
        return await self._database.write(partial(_replace_key, key=key, old_until=old_until))

    async def revoke_keys(self, name: str, *, at: datetime) -> int:
        """Revoke every live token of the key called `name`; return how many there were."""
        return await self._database.change("revoke_access_keys", {"name": name, "at": at})

    async def record_calls(self, calls: Sequence[CallRecord]) -> None:
        """Add calls in one transaction."""
        await self._database.write(partial(_record_calls, calls=calls))

    async def units_used(self, owner: str, *, month: str) -> int:
        """Return what the calls of `owner` cost in a month."""
        rows = await self._database.query("units_used", {"owner": owner, "month": month})
        return int(rows[0]["units"])

    async def usage(
        self, *, month: str | None = None, owner: str | None = None
    ) -> list[UsageTotal]:
        """Return the totals, of one month or one owner where given."""
        rows = await self._database.query("usage_totals", {"month": month, "owner": owner})
        return [UsageTotal(**row) for row in rows]

    async def forget_calls(self, *, before: datetime) -> int:
        """Drop calls made before a time; return how many there were."""
        return await self._database.change("forget_calls", {"before": before})


async def _put_key(connection: Session, *, key: AccessKey) -> bool:
    if await _has_live_key(connection, key):
        return False
    await connection.execute(SQL["put_access_key"], _values(key))
    return True


async def _replace_key(connection: Session, *, key: AccessKey, old_until: datetime) -> bool:
    if not await _has_live_key(connection, key):
        return False
    await connection.execute(SQL["end_access_keys"], {"name": key.name, "until": old_until})
    await connection.execute(SQL["put_access_key"], _values(key))
    return True


async def _has_live_key(connection: Session, key: AccessKey) -> bool:
    """Tell whether a live key has the name; nobody else can make one before we are done."""
    await connection.execute(SQL["lock_key_name"], {"name": key.name})
    values = {"name": key.name, "created_at": key.created_at}
    return (await connection.execute(SQL["live_keys_named"], values)).rowcount > 0


async def _record_calls(connection: Session, *, calls: Sequence[CallRecord]) -> None:
    async with connection.cursor() as cursor, cursor.copy(SQL["copy_calls"]) as copy:
        for call in calls:
            await copy.write_row(
                (
                    call.called_at,
                    call.called_at.astimezone(UTC).strftime("%Y-%m"),
                    call.owner,
                    call.hint,
                    call.user,
                    call.agent,
                    call.tool,
                    call.outcome,
                    call.units,
                    call.tokens,
                    call.milliseconds,
                )
            )


def _values(key: AccessKey) -> dict[str, object]:
    return {
        "key_hash": key.key_hash,
        "owner": key.owner,
        "hint": key.hint,
        "name": key.name,
        "scopes": sorted(key.scopes),
        "toolsets": None if key.toolsets is None else sorted(key.toolsets),
        "project": key.project,
        "monthly_units": key.monthly_units,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
    }


def _key(row: dict[str, Any]) -> AccessKey:
    return AccessKey(
        key_hash=row["key_hash"],
        owner=row["owner"],
        hint=row["hint"],
        name=row["name"],
        scopes=frozenset(row["scopes"]),
        toolsets=None if row["toolsets"] is None else frozenset(row["toolsets"]),
        project=row["project"],
        monthly_units=row["monthly_units"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
    )
