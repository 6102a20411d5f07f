"""Networks: what counts as one place on the way to the pages. Apart from `connections`, which loads the web server."""

from ipaddress import IPv6Address, ip_address
from typing import Final

NETWORK_BITS: Final = 64
"""Of an IPv6 address: who has one has all of its /64 (RFC 6177)."""


def network_of(address: str) -> str | None:
    """What counts as one place: an IPv4 address, or the /64 of an IPv6 one; None where it is no address."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped:
            return str(found.ipv4_mapped)
        host_bits = 128 - NETWORK_BITS
        return str(IPv6Address(int(found) >> host_bits << host_bits))
    return str(found)
