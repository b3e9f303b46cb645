"""Health, readiness and metrics, for an operator's monitoring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from citewell import __version__
from citewell.app.vitals import READY_NEEDS, VITALS_NEEDS, check_ready, take_vitals
from citewell.core.errors import AccessRefused, CitewellError
from citewell.core.frozen import frozen
from citewell.server.auth import Challenges, identify
from citewell.server.locality import is_local
from citewell.server.metrics import CONTENT_TYPE

if TYPE_CHECKING:
    from starlette.requests import Request

    from citewell.app.parts import OpensParts
    from citewell.server.draining import Draining
    from citewell.server.metrics import Metrics

HEALTH_PATHS = frozenset({"/healthz", "/readyz"})

_READY_SECONDS = 2.0


@frozen
class Operation:
    """The endpoints that describe the server itself."""

    app: OpensParts
    challenges: Challenges
    metrics: Metrics
    draining: Draining

    def routes(self) -> list[Route]:
        """Return their routes."""
        return [
            Route("/healthz", self._show_health, methods=["GET"]),
            Route("/readyz", self._show_readiness, methods=["GET"]),
            Route("/metrics", self._show_metrics, methods=["GET"]),
        ]

    async def _show_health(self, request: Request) -> Response:
        version = {"version": __version__} if is_local(request, self.app.settings) else {}
        return JSONResponse({"status": "ok", **version})

    async def _show_readiness(self, request: Request) -> Response:
        if self.draining.is_stopping:
            return JSONResponse({"status": "stopping"}, status_code=503)
        try:
            with anyio.fail_after(_READY_SECONDS):
                await check_ready(await self.app.open(*READY_NEEDS))
        except (CitewellError, TimeoutError):
            return JSONResponse({"status": "the store does not answer"}, status_code=503)
        return JSONResponse({"status": "ready"})

    async def _show_metrics(self, request: Request) -> Response:
        try:
            parts = await self.app.open(*VITALS_NEEDS)
            refusal = await self._refuse(request)
            if refusal is not None:
                return refusal
            body = self.metrics.render(await take_vitals(parts), self.draining)
        except CitewellError as error:
            return self.challenges.refuse(error)
        return Response(body, media_type=CONTENT_TYPE)

    async def _refuse(self, request: Request) -> Response | None:
        gate = (await self.app.open("access")).access.gate
        if is_local(request, self.app.settings) and not await gate.is_guarded():
            return None
        try:
            caller = await identify(request, self.app)
        except AccessRefused as error:
            return self.challenges.refuse(error)
        # The numbers are those of all projects.
        if "admin" in caller.scopes and caller.key_project is None:
            return None
        needed = "A key with the scope 'admin' that is not limited to a project is needed."
        body = {"error": "forbidden", "error_description": needed}
        headers = self.challenges.lacks_access("admin")
        return JSONResponse(body, status_code=403, headers=headers)
