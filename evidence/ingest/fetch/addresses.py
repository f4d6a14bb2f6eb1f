"""Which addresses of the network are fetched from: public ones, and those that the site allows."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# What `is_global` of Python 3.11 lets through: protocol assignments, relays to IPv6, and ranges that later RFCs took.
NOT_PUBLIC = tuple(
    map(
        ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16", "3fff::/20", "2001:db8::/32")
    )
)
# Everything public in IPv6 is in here; what carries an IPv4 address inside (mapped, compatible, NAT64) is not.
PUBLIC_IPV6 = ipaddress.ip_network("2000::/3")


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet: reached from anywhere, and meaning the same everywhere."""
    if not address.is_global or address.is_multicast or address.is_reserved:
        return False
    if address.version == 6 and address not in PUBLIC_IPV6:
        return False
    return not any(address in network for network in NOT_PUBLIC if network.version == address.version)


@dataclass(frozen=True)
class Allowed:
    """What may be fetched besides the public internet: host names, names below a domain (".intra.example"), networks."""

    hosts: frozenset[str] = frozenset()
    domains: tuple[str, ...] = ()
    networks: tuple[Network, ...] = field(default=())

    @classmethod
    def read(cls, entries: Iterable[str]) -> Allowed:
        """From the entries of SPIRE_FETCH_ALLOW. ValueError names one that is neither a host nor a network."""
        hosts, domains, networks = set(), [], []
        for entry in (entry.strip().lower() for entry in entries):
            try:
                networks.append(ipaddress.ip_network(entry, strict=False))
                continue
            except ValueError:
                pass
            if not entry.replace("-", "").replace(".", "").isalnum() or not entry.isascii():
                raise ValueError(f"{entry!r} is neither a host name nor a network such as 10.0.0.0/8")
            if entry.startswith("."):
                domains.append(entry)
            else:
                hosts.add(entry.removesuffix("."))
        return cls(frozenset(hosts), tuple(domains), tuple(networks))

    def host(self, name: str) -> bool:
        """Whether the site allows this host by its name, wherever it leads."""
        return name in self.hosts or name.endswith(self.domains)

    def address(self, address: Address) -> bool:
        """Whether an address lies in an allowed network. One of IPv4 that is written in IPv6 is what it stands for."""
        meant = getattr(address, "ipv4_mapped", None) or address
        return any(meant in network for network in self.networks if network.version == meant.version)
