"""What the clients of the matrix meet: a site, servers, and an authorization server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from tests.clients.authority import Authority, running_authority
from tests.clients.conftest import PAGES, SETTINGS
from tests.e2e.processes import http_server, make_key, stdio_parameters
from tests.site import running_site

Outcomes = dict[str, str | None]
"""By feature: ok, the reason of a failure, or None for what a client does not offer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where everything is; every client has a home folder of its own."""

    home: Path
    page: str
    slow_page: str
    changing_page: str
    url: str
    key: str
    authority: Authority

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def home_of(self, client: str) -> Path:
        """Return an empty folder."""
        folder = self.home / client
        folder.mkdir()
        return folder

    def stdio_server(self, client: str) -> dict[str, Any]:
        """Return how a client starts a server of its own, as hosts write it down."""
        folder = self.home / f"{client}-server"
        folder.mkdir()
        return stdio_parameters(folder, **SETTINGS).model_dump(mode="json")

    def tasks(self, client: str) -> dict[str, dict[str, Any]]:
        """Return what a probe is given, by transport."""
        pages = {"page": self.page, "changing_page": self.changing_page}
        server = self.stdio_server(client)
        command = {
            "command": server["command"],
            "arguments": server["args"],
            "env": server["env"],
        }
        return {
            "stdio": {**pages, **command},
            "HTTP": {**pages, "url": self.url, "headers": self.headers},
        }


class Client(Protocol):
    """A client of the matrix."""

    @property
    def label(self) -> str:
        """What the table calls it."""

    def run(self, around: Surroundings) -> tuple[str, Outcomes]:
        """Return the version and what worked."""


@contextmanager
def surroundings() -> Iterator[Surroundings]:
    """Serve everything on loopback."""
    with TemporaryDirectory() as folder, running_site(PAGES) as site:
        home = Path(folder)
        server_folder, authority_folder = home / "server", home / "authority"
        server_folder.mkdir()
        authority_folder.mkdir()
        key = make_key(server_folder, "matrix")
        with (
            http_server(server_folder, **SETTINGS) as server,
            running_authority(authority_folder) as authority,
        ):
            yield Surroundings(
                home=home,
                page=site.url("/heron"),
                slow_page=site.url("/slow"),
                changing_page=site.url("/changing"),
                url=f"{server.url}/mcp",
                key=key,
                authority=authority,
            )


def merge(by_transport: dict[str, Outcomes]) -> Outcomes:
    """Return one outcome for each feature; a failure says over which transport."""
    merged: Outcomes = {}
    for transport, outcomes in by_transport.items():
        for feature, outcome in outcomes.items():
            known = merged.get(feature)
            if outcome not in (None, "ok"):
                merged[feature] = f"{transport}: {outcome}"
            elif known is None:
                merged[feature] = outcome
    return merged
