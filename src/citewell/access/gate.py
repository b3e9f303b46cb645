"""Identify callers by the bearer token of their requests."""

from __future__ import annotations

import hmac
import logging
import time
from collections import OrderedDict
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from citewell.access.bearer import hint_of, parse_bearer
from citewell.core.errors import AccessRefused, BillingDown, GrantTooNarrow, TokenMissing
from citewell.core.frozen import frozen
from citewell.core.identity import ALL_SCOPES
from citewell.core.ids import content_hash
from citewell.core.records import Caller

if TYPE_CHECKING:
    from citewell.access.oauth import Grant, TokenVerifier
    from citewell.core.identity import Credentials
    from citewell.store.access import AccessStore
    from citewell.web.billing import BillingService

logger = logging.getLogger(__name__)

_DEFAULT_IDENTITY = "default"
_MOST_REMEMBERED = 10_000
# How long a token that the billing service accepted is trusted while the service is down.
_KNOWN_SECONDS = 24 * 3600.0


class _Remembered(NamedTuple):
    caller: Caller | None
    """None for a header that was refused."""
    until: float


@frozen
class AnonymousAccess:
    """What callers without a token can do."""

    project: str = "default"
    local_scopes: frozenset[str] = ALL_SCOPES
    """Of callers on this machine, when no token is required."""
    remote_scopes: frozenset[str] = frozenset()
    """Of all others, when no token is required; empty means that they need one."""
    visitor_toolsets: frozenset[str] = frozenset()
    """What anyone can read without a token, even when one is required."""


class Gate:
    """Turns an Authorization header into a caller, and caches the result for a moment.

    A token is compared with the configured one, then looked up among the keys of the store, at
    the OAuth issuer and at the billing service. Where none of the four exists, `anonymous` decides,
    and a token only separates one caller's data from another's.
    """

    def __init__(
        self,
        store: AccessStore,
        *,
        anonymous: AnonymousAccess,
        auth_token: str | None = None,
        verifier: TokenVerifier | None = None,
        billing: BillingService | None = None,
        allow_when_billing_is_down: bool = False,
        remember_seconds: float = 2.0,
    ) -> None:
        self._store = store
        self._anonymous_access = anonymous
        self.nobody = Caller(session="", project=anonymous.project, scopes=frozenset())
        """A caller without rights, in the project of everyone whose key names no other."""
        self._auth_token = None if auth_token is None else auth_token.encode()
        self._verifier = verifier
        self._billing = billing
        self._allow_when_billing_is_down = allow_when_billing_is_down
        self._remember_seconds = remember_seconds
        self._remembered: OrderedDict[str, _Remembered] = OrderedDict()
        self._known_to_billing: OrderedDict[str, float] = OrderedDict()

    async def is_guarded(self) -> bool:
        """Return whether a token is required; it still is after all keys were revoked."""
        if self._auth_token is not None or self._verifier is not None or self._billing is not None:
            return True
        return await self._store.has_keys()

    async def identify(self, header: str | None, *, is_local: bool) -> Caller:
        """Return the caller who sent the header; the transport sets `session`.

        `is_local` says whether the request comes from this machine.

        Raises:
            AccessRefused: a token is required, and there is none or no valid one.
            BillingDown, IssuerDown: the service that issued the token does not answer.
            StoreError: the keys cannot be read.
        """
        now = time.monotonic()
        place = content_hash(f"{is_local} {header or ''}")
        remembered = self._remembered.get(place)
        if remembered is None or remembered.until <= now:
            remembered = _Remembered(
                await self._look_up(header, is_local=is_local), now + self._remember_seconds
            )
            self._remembered[place] = remembered
            _shrink(self._remembered)
        if remembered.caller is None:
            # Parsed again only to distinguish a missing token from a wrong one.
            parse_bearer(header)
            raise AccessRefused("invalid authorization header")
        return remembered.caller

    def forget(self) -> None:
        """Look every caller up again: keys were made or ended here."""
        self._remembered.clear()

    async def _look_up(self, header: str | None, *, is_local: bool) -> Caller | None:
        guarded = await self.is_guarded()
        anonymous = self._anonymous(is_guarded=guarded, is_local=is_local)
        try:
            credentials = parse_bearer(header)
        except TokenMissing:
            return anonymous
        except AccessRefused:
            return None if guarded else anonymous
        if not guarded:
            return None if anonymous is None else self._known_by(credentials, anonymous)
        known = (
            self._configured(credentials, header)
            or await self._by_key(credentials)
            or await self._by_oauth(credentials)
            or await self._by_billing(credentials)
        )
        # Where no token is required, anyone can invent as many as they like.
        return None if known is None else replace(known, share=known.key_hash)

    def _anonymous(self, *, is_guarded: bool, is_local: bool) -> Caller | None:
        """Return the caller without a token; None if it is refused."""
        access = self._anonymous_access
        scopes = access.local_scopes if is_local else access.remote_scopes
        if scopes and not is_guarded:
            return replace(self.nobody, scopes=scopes, is_local=is_local)
        if access.visitor_toolsets:
            return replace(
                self.nobody,
                scopes=frozenset({"read"}),
                toolsets=access.visitor_toolsets,
                is_local=False,
            )
        return None

    def _configured(self, credentials: Credentials, header: str | None) -> Caller | None:
        if self._auth_token is None:
            return None
        # The configured token can contain an @, so it is also compared with the whole value.
        whole = (header or "").strip().partition(" ")[2].strip()
        if hmac.compare_digest(whole.encode(), self._auth_token):
            credentials = replace(credentials, token=whole, user=None, agent=None)
        elif not hmac.compare_digest(credentials.token.encode(), self._auth_token):
            return None
        return replace(self._known_by(credentials), scopes=ALL_SCOPES)

    async def _by_key(self, credentials: Credentials) -> Caller | None:
        key_hash = content_hash(credentials.token)
        key = await self._store.find_key(key_hash)
        # A lookup by hash does not reveal how close a guess was; this comparison is a second guard.
        if key is None or not hmac.compare_digest(key.key_hash, key_hash):
            return None
        if not key.is_live(datetime.now(UTC)):
            return None
        return replace(
            self._known_by(credentials),
            user=credentials.user or key.name,
            agent=credentials.agent or key.name,
            key_hash=key.owner,
            scopes=key.scopes,
            toolsets=key.toolsets,
            project=key.project or self.nobody.project,
            monthly_units=key.monthly_units,
            key_project=key.project,
            key_expires_at=key.expires_at,
        )

    async def _by_oauth(self, credentials: Credentials) -> Caller | None:
        if self._verifier is None:
            return None
        try:
            return self.admit(await self._verifier.verify(credentials.token))
        except GrantTooNarrow:
            raise
        except AccessRefused as error:
            logger.info("an OAuth token was refused: %s", error.message)
            return None

    def admit(self, grant: Grant) -> Caller:
        """Return the caller of an OAuth grant.

        Data belongs to the subject, so it outlives a renewed token. The token itself is dropped:
        it was issued for this server, and no other must see it.
        """
        return replace(
            self.nobody,
            user=grant.user,
            agent=grant.client,
            key_hash=content_hash(f"{grant.issuer}\n{grant.subject}"),
            key_hint=hint_of(grant.subject),
            scopes=grant.scopes,
        )

    async def _by_billing(self, credentials: Credentials) -> Caller | None:
        if self._billing is None or not await self._is_known_to(self._billing, credentials.token):
            return None
        scopes = ALL_SCOPES - {"admin"}
        return replace(self._known_by(credentials), scopes=scopes, pays_by_service=True)

    async def _is_known_to(self, billing: BillingService, token: str) -> bool:
        key_hash = content_hash(token)
        try:
            accepted = await billing.accepts(token)
        except BillingDown:
            known_until = self._known_to_billing.get(key_hash, 0.0)
            if not self._allow_when_billing_is_down or known_until < time.monotonic():
                raise
            logger.warning("the billing service is down: a token it knew lately is let in")
            return True
        if accepted:
            self._known_to_billing[key_hash] = time.monotonic() + _KNOWN_SECONDS
            self._known_to_billing.move_to_end(key_hash)
            _shrink(self._known_to_billing)
        else:
            self._known_to_billing.pop(key_hash, None)
        return accepted

    def _known_by(self, credentials: Credentials, base: Caller | None = None) -> Caller:
        return replace(
            base or self.nobody,
            user=credentials.user or _DEFAULT_IDENTITY,
            agent=credentials.agent or _DEFAULT_IDENTITY,
            key_hash=content_hash(credentials.token),
            key_hint=hint_of(credentials.token),
            token=credentials.token,
        )


def _shrink(held: OrderedDict[str, _Remembered] | OrderedDict[str, float]) -> None:
    while len(held) > _MOST_REMEMBERED:
        held.popitem(last=False)
