"""AccessStore: what a database must promise of keys and of the calls made with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from citewell.core.identity import AccessKey, CallRecord, UsageTotal


SECRET_BYTES = 32


class AccessStore(Protocol):
    """Keys by the hash of their tokens, and every call by the owner of its key.

    Every method may raise StoreError. A month is written 2026-03 and is one of UTC.
    """

    async def put_key(self, key: AccessKey) -> bool:
        """Write a new key; return False, and write nothing, if a live one has its name."""

    async def find_key(self, key_hash: str) -> AccessKey | None:
        """Return the key with this hash, also one that is revoked or expired."""

    async def server_secret(self) -> bytes:
        """Return the SECRET_BYTES random bytes that all processes of this database share."""

    async def list_keys(self) -> list[AccessKey]:
        """Return every key there ever was, oldest first."""

    async def has_keys(self) -> bool:
        """Tell whether there ever was a key: a server whose keys are all revoked is not open."""

    async def replace_key(self, key: AccessKey, *, old_until: datetime) -> bool:
        """Write a new token of the live key of the same name, in one transaction.

        The tokens it had end at `old_until` at the latest. Return False, and write nothing, if no
        live key has that name.
        """

    async def revoke_keys(self, name: str, *, at: datetime) -> int:
        """Revoke every live token of the key called `name`; return how many there were."""

    async def record_calls(self, calls: Sequence[CallRecord]) -> None:
        """Add calls in one transaction."""

    async def units_used(self, owner: str, *, month: str) -> int:
        """Return what the calls of `owner` cost in a month."""

    async def usage(
        self, *, month: str | None = None, owner: str | None = None
    ) -> list[UsageTotal]:
        """Return the totals, of one month or one owner where given; by month, name and tool."""

    async def forget_calls(self, *, before: datetime) -> int:
        """Drop calls made before a time; return how many there were."""
