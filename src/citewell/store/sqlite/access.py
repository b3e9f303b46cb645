"""Keys and calls on SQLite; see AccessStore for what each method promises."""

from __future__ import annotations

import json
import secrets
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from citewell.core.identity import AccessKey, UsageTotal
from citewell.store.access_protocol import SECRET_BYTES
from citewell.store.sqlite.connection import SQL, timestamp

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from citewell.core.identity import CallRecord
    from citewell.store.sqlite.connection import Database


class SqliteAccess:
    """The keys and calls of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put_key(self, key: AccessKey) -> bool:
        """Write a new key; return False if a live one has its name."""
        return await self._database.write(partial(_put_key, key=key))

    async def find_key(self, key_hash: str) -> AccessKey | None:
        """Return the key with this hash, also one that is revoked or expired."""
        return await self._database.read(partial(_find_key, key_hash=key_hash))

    async def server_secret(self) -> bytes:
        """Return random bytes, always the same, that only processes of this database know."""
        made = await self._database.read(_server_secret)
        if made is None:
            made = await self._database.write(_make_server_secret)
        return made

    async def list_keys(self) -> list[AccessKey]:
        """Return every key there ever was, oldest first."""
        return await self._database.read(_list_keys)

    async def has_keys(self) -> bool:
        """Tell whether there ever was a key."""
        return await self._database.read(_has_keys)

    async def replace_key(self, key: AccessKey, *, old_until: datetime) -> bool:
        """Write a new token of the live key of the same name, in one transaction."""
        return await self._database.write(partial(_replace_key, key=key, old_until=old_until))

    async def revoke_keys(self, name: str, *, at: datetime) -> int:
        """Revoke every live token of the key called `name`; return how many there were."""
        return await self._database.write(partial(_revoke_keys, name=name, at=at))

    async def record_calls(self, calls: Sequence[CallRecord]) -> None:
        """Add calls in one transaction."""
        await self._database.write(partial(_record_calls, calls=calls))

    async def units_used(self, owner: str, *, month: str) -> int:
        """Return what the calls of `owner` cost in a month."""
        return await self._database.read(partial(_units_used, owner=owner, month=month))

    async def usage(
        self, *, month: str | None = None, owner: str | None = None
    ) -> list[UsageTotal]:
        """Return the totals, of one month or one owner where given."""
        return await self._database.read(partial(_usage, month=month, owner=owner))

    async def forget_calls(self, *, before: datetime) -> int:
        """Drop calls made before a time; return how many there were."""
        return await self._database.write(partial(_forget_calls, before=before))


def _put_key(connection: sqlite3.Connection, *, key: AccessKey) -> bool:
    if _live_keys(connection, key):
        return False
    connection.execute(SQL["put_access_key"], _values(key))
    return True


def _replace_key(connection: sqlite3.Connection, *, key: AccessKey, old_until: datetime) -> bool:
    if not _live_keys(connection, key):
        return False
    connection.execute(SQL["end_access_keys"], {"name": key.name, "until": timestamp(old_until)})
    connection.execute(SQL["put_access_key"], _values(key))
    return True


def _live_keys(connection: sqlite3.Connection, key: AccessKey) -> list[sqlite3.Row]:
    values = {"name": key.name, "now": timestamp(key.created_at)}
    return connection.execute(SQL["live_keys_named"], values).fetchall()


def _find_key(connection: sqlite3.Connection, *, key_hash: str) -> AccessKey | None:
    row = connection.execute(SQL["find_access_key"], {"key_hash": key_hash}).fetchone()
    return None if row is None else _key(row)


def _server_secret(connection: sqlite3.Connection) -> bytes | None:
    row = connection.execute(SQL["server_secret"]).fetchone()
    return None if row is None else bytes(row["secret"])


def _make_server_secret(connection: sqlite3.Connection) -> bytes:
    secret = secrets.token_bytes(SECRET_BYTES)
    connection.execute(SQL["make_server_secret"], {"secret": secret})
    return _server_secret(connection) or secret


def _list_keys(connection: sqlite3.Connection) -> list[AccessKey]:
    return [_key(row) for row in connection.execute(SQL["list_access_keys"])]


def _has_keys(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute(SQL["has_access_keys"]).fetchone()["found"])


def _revoke_keys(connection: sqlite3.Connection, *, name: str, at: datetime) -> int:
    values = {"name": name, "at": timestamp(at)}
    return connection.execute(SQL["revoke_access_keys"], values).rowcount


def _record_calls(connection: sqlite3.Connection, *, calls: Sequence[CallRecord]) -> None:
    connection.executemany(
        SQL["record_call"],
        [
            {
                "called_at": timestamp(call.called_at),
                "month": timestamp(call.called_at)[:7],
                "owner": call.owner,
                "hint": call.hint,
                "user": call.user,
                "agent": call.agent,
                "tool": call.tool,
                "outcome": call.outcome,
                "units": call.units,
                "tokens": call.tokens,
                "milliseconds": call.milliseconds,
            }
            for call in calls
        ],
    )


def _units_used(connection: sqlite3.Connection, *, owner: str, month: str) -> int:
    row = connection.execute(SQL["units_used"], {"owner": owner, "month": month}).fetchone()
    return int(row["units"])


def _usage(
    connection: sqlite3.Connection, *, month: str | None, owner: str | None
) -> list[UsageTotal]:
    rows = connection.execute(SQL["usage_totals"], {"month": month, "owner": owner})
    return [UsageTotal(**dict(row)) for row in rows]


def _forget_calls(connection: sqlite3.Connection, *, before: datetime) -> int:
    return connection.execute(SQL["forget_calls"], {"before": timestamp(before)}).rowcount


def _values(key: AccessKey) -> dict[str, str | int | None]:
    return {
        "key_hash": key.key_hash,
        "owner": key.owner,
        "hint": key.hint,
        "name": key.name,
        "scopes": json.dumps(sorted(key.scopes)),
        "toolsets": None if key.toolsets is None else json.dumps(sorted(key.toolsets)),
        "project": key.project,
        "monthly_units": key.monthly_units,
        "created_at": timestamp(key.created_at),
        "expires_at": _timestamp_or_none(key.expires_at),
        "revoked_at": _timestamp_or_none(key.revoked_at),
    }


def _key(row: sqlite3.Row) -> AccessKey:
    return AccessKey(
        key_hash=row["key_hash"],
        owner=row["owner"],
        hint=row["hint"],
        name=row["name"],
        scopes=frozenset(json.loads(row["scopes"])),
        toolsets=None if row["toolsets"] is None else frozenset(json.loads(row["toolsets"])),
        project=row["project"],
        monthly_units=row["monthly_units"],
        created_at=datetime.fromisoformat(row["created_at"]),
        expires_at=_time_or_none(row["expires_at"]),
        revoked_at=_time_or_none(row["revoked_at"]),
    )


def _timestamp_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else timestamp(moment)


def _time_or_none(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
