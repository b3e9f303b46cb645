"""Refuses private addresses: a name is resolved once, the connection goes to what was checked."""

from __future__ import annotations

import re
import socket
from collections.abc import Awaitable, Callable, Collection, Iterable
from copy import copy
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import TYPE_CHECKING

import anyio
import httpcore2
from typing_extensions import override

from citewell.core.errors import AddressRefused, HostUnreachable, SettingsError
from citewell.core.frozen import frozen
from citewell.web.asked_for import was_asked_for
from citewell.web.paced_stream import PacedStream

if TYPE_CHECKING:
    from httpcore2 import SOCKET_OPTION

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolve = Callable[[str, int], Awaitable[Collection[str]]]
"""Host name and port to the addresses the name has, best first."""

# Of the IANA special-purpose registries, all that is not reachable on the public internet.
_SPECIAL_IPV4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",  # Azure's host agent answers here from inside a virtual machine
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_GLOBAL_IPV6 = IPv6Network("2000::/3")
_SPECIAL_IPV6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # Teredo, benchmarking, ORCHID
        "2001:db8::/32",
        "2002::/16",  # 6to4: an IPv4 address in disguise, and out of use
        "3fff::/20",
    )
)
_HOST = re.compile(r"[\w.-]+|\[[0-9a-fA-F:.]+\]")
_NAT64 = IPv6Network("64:ff9b::/96")

# Where a host has several addresses, a dead one must not use up the whole time limit.
_SECONDS_PER_ADDRESS = 4.0

_LED_TO = "A page may not lead to private hosts of other sites; use another page."


def is_public(address: Address) -> bool:
    """Return whether `address` belongs to the public internet.

    An IPv6 address that stands for an IPv4 one (mapped, NAT64) is judged by the latter.
    """
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _SPECIAL_IPV4)
    embedded = _embedded_ipv4(address)
    if embedded is not None:
        return is_public(embedded)
    return address in _GLOBAL_IPV6 and not any(address in network for network in _SPECIAL_IPV6)


@frozen
class _Exception:
    """A private place that may be reached: a host name or a network, on one port or any."""

    name: str | None = None
    network: Network | None = None
    port: int | None = None

    def covers(self, host: str, address: Address, port: int) -> bool:
        if self.port not in (None, port):
            return False
        if self.network is None:
            return self.name == host
        return (_embedded_ipv4(address) or address) in self.network or address in self.network


class AddressGuard:
    """Decides which addresses a host may be reached at.

    `allowed_ports` limits public hosts; `allowed_private_hosts` holds host[:port] or CIDR
    entries, which are free of both limits where they were `asked_for`.

    Raises:
        SettingsError: an entry cannot be read.
    """

    def __init__(
        self,
        *,
        allowed_ports: Iterable[str],
        allowed_private_hosts: Iterable[str] = (),
        resolve: Resolve | None = None,
    ) -> None:
        self._ports = frozenset(
            _parse_port(port, "CITEWELL_WEB_ALLOWED_PORTS") for port in allowed_ports
        )
        self._exceptions = [_parse_exception(entry) for entry in allowed_private_hosts]
        self._resolve = resolve or resolve_by_system
        self._place: tuple[str, int] | None = None

    def for_page(self, host: str, port: int) -> AddressGuard:
        """Return a guard for one page and all that it loads.

        Exceptions hold for the host and port that were asked for, not for others that the page
        calls: a page from anywhere could name them.
        """
        guard = copy(self)
        guard._place = (_bare_name(host), port)
        return guard

    async def checked_addresses(self, host: str, port: int) -> list[str]:
        """Return the addresses of `host` that may be connected to, best first.

        Raises:
            AddressRefused: the host has addresses, but none that is allowed.
            HostUnreachable: the host has no address.
        """
        name = host.strip("[]").lower()
        literal = _as_address(name)
        addresses = [literal] if literal else await self._addresses_of(name, port)
        allowed = [str(address) for address in addresses if self._allows(name, address, port)]
        if allowed:
            return allowed
        if any(is_public(address) for address in addresses):
            raise AddressRefused(
                f"port {port} of {host} is not one that may be fetched",
                suggestion="Use the usual address, or add the port to CITEWELL_WEB_ALLOWED_PORTS.",
                host=host,
                port=port,
            )
        is_led_to = self._place is None and not was_asked_for(host, port)
        raise AddressRefused(
            f"{host} is a private or reserved address",
            suggestion=_LED_TO
            if is_led_to
            else "Only public http and https addresses are fetched. To allow this one, set "
            f"CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS={host}:{port}",
            host=host,
            port=port,
        )

    async def check_led_to(self, host: str, port: int) -> None:
        """Refuse a private host that nobody asked for, also where a connection to it is open.

        Raises:
            AddressRefused: a page led there, and only an exception would allow it.
            HostUnreachable: the host has no address.
        """
        if self._exceptions and not was_asked_for(host, port):
            await self.checked_addresses(host, port)

    def _allows(self, name: str, address: Address, port: int) -> bool:
        if is_public(address) and port in self._ports:
            return True
        bare_name = _bare_name(name)
        place = (bare_name, port)
        if not (was_asked_for(*place) if self._place is None else self._place == place):
            return False
        return any(exception.covers(bare_name, address, port) for exception in self._exceptions)

    async def _addresses_of(self, name: str, port: int) -> list[Address]:
        try:
            resolved = await self._resolve(name, port)
        except socket.gaierror as error:
            if error.errno == socket.EAI_AGAIN:
                raise HostUnreachable(
                    f"the name {name} cannot be looked up: no name server answers",
                    suggestion="This machine seems to be offline: check its network connection.",
                    host=name,
                ) from error
            raise HostUnreachable(f"{name} could not be resolved", host=name) from error
        except (OSError, UnicodeError) as error:
            raise HostUnreachable(f"{name} could not be resolved", host=name) from error
        addresses = [address for text in resolved if (address := _as_address(text)) is not None]
        if not addresses:
            raise HostUnreachable(f"{name} could not be resolved", host=name)
        return addresses


class GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """Opens connections only to addresses that the guard has checked.

    TLS and the Host header keep the name: they are made from the request, not from here.
    """

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        self._network = httpcore2.AnyIOBackend()
        self.check_led_to = guard.check_led_to

    @override
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        addresses = await self._guard.checked_addresses(host, port)
        for address in addresses[:-1]:
            try:
                return PacedStream(
                    await self._network.connect_tcp(
                        address, port, _SECONDS_PER_ADDRESS, local_address, socket_options
                    )
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return PacedStream(
            await self._network.connect_tcp(
                addresses[-1], port, timeout, local_address, socket_options
            )
        )

    @override
    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise AddressRefused("sockets of this machine are not fetched")

    @override
    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


async def resolve_by_system(name: str, port: int) -> list[str]:
    """Return the addresses the operating system gives for `name`."""
    entries = await anyio.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in entries]


def _bare_name(host: str) -> str:
    return host.strip("[]").lower().removesuffix(".")


def _embedded_ipv4(address: Address) -> IPv4Address | None:
    if isinstance(address, IPv4Address):
        return None
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped


def _as_address(text: str) -> Address | None:
    try:
        return ip_address(text.partition("%")[0])
    except ValueError:
        return None


def _parse_exception(entry: str) -> _Exception:
    try:
        return _Exception(network=ip_network(entry.strip("[]"), strict=False))
    except ValueError:
        host, colon, port_text = entry.rpartition(":")
    if colon:
        port = _parse_port(port_text, "CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS")
    else:
        host, port = entry, None
    if not _HOST.fullmatch(host):
        raise SettingsError(
            f"CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS: {entry!r} is not host[:port] or CIDR"
        )
    address = _as_address(host.strip("[]"))
    if address is not None:
        return _Exception(network=ip_network(address), port=port)
    return _Exception(name=host.lower().removesuffix("."), port=port)


def _parse_port(text: str, setting: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        raise SettingsError(f"{setting}: {text!r} is not a port")
    return int(text)
