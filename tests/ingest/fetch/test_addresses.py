from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.ingest.fetch.addresses import Allowed, is_public

V4 = st.ip_addresses(v=4)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "0.1.2.3"),
        *("224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "192.0.0.8", "192.0.2.1", "198.18.0.1"),
        *("198.51.100.1", "203.0.113.1", "192.88.99.1"),
        *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "ff0e::1"),
        *("::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1"),
        *("2002:7f00:1::", "2001::1", "2001:db8::1", "3fff::1", "5f00::1", "100::1", "4000::1"),
    ],
)
def test_an_address_that_is_not_public_is_known(address: str) -> None:
    """The metadata of a cloud, a router, this machine: read by whoever may add a source."""
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.215.14", "2606:4700::1111", "2a00:1450:4001::1"])
def test_a_public_address_is_known(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@given(V4)
def test_an_address_in_disguise_is_never_public(address: ipaddress.IPv4Address) -> None:
    """IPv4 addresses have at least five ways to be written as an IPv6 one."""
    number = int(address)
    prefixes = ("::", "::ffff:0:0", "::ffff:0:0:0", "64:ff9b::", "64:ff9b:1::")
    for prefix in prefixes:
        assert not is_public(ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) | number))
    assert not is_public(ipaddress.IPv6Address(int(ipaddress.IPv6Address("2002::")) | number << 80))


@given(st.ip_addresses())
def test_what_python_calls_private_is_never_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    odd = address.is_private or address.is_loopback or address.is_link_local or address.is_multicast
    assert not (is_public(address) and (odd or address.is_reserved or address.is_unspecified))


def test_hosts_domains_and_networks_are_allowed() -> None:
    allowed = Allowed.read([" Wiki.Intra ", ".corp.example", "10.0.0.0/8", "fd00::/8", "192.0.2.7"])
    assert allowed.host("wiki.intra")
    assert allowed.host("a.b.corp.example")
    assert not allowed.host("corp.example")
    assert not allowed.host("evilcorp.example")
    for address in ("10.9.8.7", "::ffff:10.9.8.7", "fd12::1", "192.0.2.7"):
        assert allowed.address(ipaddress.ip_address(address))
    assert not allowed.address(ipaddress.ip_address("192.0.2.8"))
    assert not allowed.address(ipaddress.ip_address("fe80::1"))


@pytest.mark.parametrize("entry", ["10.0.0.0/33", "http://wiki.intra", "wiki intra", "*.intra", ""])
def test_an_entry_that_is_no_host_is_named(entry: str) -> None:
    """A slip in the settings that opens nothing, or everything, and nobody is told."""
    with pytest.raises(ValueError, match="neither a host name nor a network"):
        Allowed.read([entry])
