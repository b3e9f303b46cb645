from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address

import pytest

from citewell.core.errors import AddressRefused, HostUnreachable, SettingsError
from citewell.web.address_guard import AddressGuard, is_public

pytestmark = pytest.mark.anyio


def guard(*private_hosts: str, names: dict[str, list[str]] | None = None) -> AddressGuard:
    async def resolve(name: str, port: int) -> Collection[str]:
        if name not in (names or {}):
            raise OSError("no such name")
        return (names or {})[name]

    return AddressGuard(
        allowed_ports=("80", "443"), allowed_private_hosts=private_hosts, resolve=resolve
    )


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255",
     "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.192",
     "198.18.0.1", "203.0.113.7", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16",
     "::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "100::1",
     "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::",
     "2001:0:7f00:1::", "2001:db8::1", "5f00::1"],
)  # fmt: skip
def test_private_and_reserved_addresses_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "93.184.215.14", "172.32.0.1", "100.128.0.1", "2606:4700::1111",
     "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808"],
)  # fmt: skip
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ip_address(address))


async def test_a_name_with_a_private_address_is_refused() -> None:
    with pytest.raises(AddressRefused):
        await guard(names={"inside.test": ["10.0.0.1"]}).checked_addresses("inside.test", 80)


async def test_of_mixed_addresses_only_the_public_ones_are_connected_to() -> None:
    mixed = guard(names={"mixed.test": ["10.0.0.1", "93.184.215.14", "::1"]})

    assert await mixed.checked_addresses("mixed.test", 80) == ["93.184.215.14"]


async def test_a_name_without_an_address_is_unreachable() -> None:
    with pytest.raises(HostUnreachable):
        await guard().checked_addresses("nowhere.test", 80)


async def test_a_port_that_is_not_listed_is_refused_on_a_public_host() -> None:
    with pytest.raises(AddressRefused, match="port 22"):
        await guard().checked_addresses("93.184.215.14", 22)


@pytest.mark.parametrize(
    ("entry", "host", "port"),
    [
        ("127.0.0.1", "127.0.0.1", 9999),
        ("127.0.0.1:9999", "127.0.0.1", 9999),
        ("127.0.0.0/8", "127.3.2.1", 22),
        ("10.0.0.0/8", "wiki.test", 80),
        ("wiki.test", "WIKI.test.", 8080),
        ("Wiki.test:8080", "wiki.test", 8080),
        ("[::1]:8080", "[::1]", 8080),
        ("::1", "[::1]", 80),
        ("127.0.0.1", "[::ffff:127.0.0.1]", 80),
    ],
)
async def test_a_named_exception_is_allowed(entry: str, host: str, port: int) -> None:
    names = {"wiki.test": ["10.0.0.9"], "wiki.test.": ["10.0.0.9"]}

    assert await guard(entry, names=names).checked_addresses(host, port)


@pytest.mark.parametrize(
    ("entry", "host", "port"),
    [
        ("127.0.0.1:9999", "127.0.0.1", 9998),
        ("wiki.test:8080", "wiki.test", 80),
        ("127.0.0.0/30", "127.0.0.4", 80),
        ("wiki.test", "other.test", 80),
        ("other.test", "10.0.0.9", 80),
    ],
)
async def test_an_exception_opens_nothing_beside_itself(entry: str, host: str, port: int) -> None:
    names = {"wiki.test": ["10.0.0.9"], "other.test": ["10.0.0.9"]}

    with pytest.raises(AddressRefused):
        await guard(entry, names=names).checked_addresses(host, port)


@pytest.mark.parametrize("entry", ["10.0.0.0/99", "host:port", "host:0", ":80", "a/b", "a host"])
def test_an_exception_that_cannot_be_read_stops_the_start(entry: str) -> None:
    with pytest.raises(SettingsError, match="CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS"):
        guard(entry)
