"""The rate limits of keys and addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio.to_thread

from citewell.access.rate_limit import IN_FILE, IN_MEMORY, RateLimiter

if TYPE_CHECKING:
    from citewell.core.records import Caller

_WINDOW_SECONDS = 60


class Rates:
    """The limits of one server, in requests a minute; 0 means none.

    Raises:
        SettingsError: `storage_uri` names nothing that can count.
    """

    def __init__(
        self, *, per_key: int = 0, per_address: int = 0, storage_uri: str = IN_MEMORY
    ) -> None:
        self._waits = not storage_uri.startswith((IN_MEMORY, IN_FILE))
        self._keys = _limiter(per_key, storage_uri)
        self._addresses = _limiter(per_address, storage_uri)

    async def check_key(self, caller: Caller) -> float | None:
        """Count a request of a key; return the seconds to wait when it is one too many."""
        if self._keys is None or caller.key_hash is None:
            return None
        return await self._check(self._keys, f"key {caller.key_hash}")

    async def check_address(self, address: str) -> float | None:
        """Count a request from an address; return the seconds to wait when it is one too many."""
        if self._addresses is None:
            return None
        return await self._check(self._addresses, f"address {address}")

    async def _check(self, limiter: RateLimiter, identity: str) -> float | None:
        if not self._waits:
            return limiter.check(identity)
        return await anyio.to_thread.run_sync(limiter.check, identity)


def _limiter(per_minute: int, storage_uri: str) -> RateLimiter | None:
    return RateLimiter(per_minute, _WINDOW_SECONDS, storage_uri) if per_minute else None
