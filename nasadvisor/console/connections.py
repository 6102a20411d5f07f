"""Connections of bounded time and number: `uvicorn --http nasadvisor.console.connections:BoundedConnections`.

uvicorn has no limit for how long somebody may take to send a request (Kludex/uvicorn issue 157), and no middleware sees
one before its headers are whole. Its setting `http` takes a class; this one ends a connection that is too slow, and
those beyond what one network needs. See docs/decisions/0014-bounds-in-the-web-service.md.
"""

import asyncio
from collections import Counter
from ipaddress import IPv6Address, ip_address
from typing import ClassVar, Final

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

HEADERS_WITHIN_S: Final = 10.0
"""From the connection, or from the first byte of a further request, until its headers are whole."""

MOST_OF_ONE_NETWORK: Final = 200
"""A tenth of all (`--limit-concurrency` in the unit). A browser opens six to one server."""

NETWORK_BITS: Final = 64
"""Of an IPv6 address: who has one has all of its /64 (RFC 6177)."""

PROXIES_HERE: Final = frozenset({"127.0.0.1", "::"})
"""This machine, as `network_of` calls it: a proxy on it has the connections of all."""


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


class BoundedConnections(H11Protocol):
    """uvicorn's own protocol, ended where somebody takes too long or too many."""

    of_network: ClassVar[Counter[str]] = Counter()
    headers_within_s: ClassVar[float] = HEADERS_WITHIN_S
    _network = ""
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count it, and begin to wait."""
        super().connection_made(transport)
        self._network = network_of(self.client[0] if self.client else "") or ""
        self.of_network[self._network] += 1
        if self._network not in PROXIES_HERE and self.of_network[self._network] > MOST_OF_ONE_NETWORK:
            transport.abort()
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        """A part of a request, or several."""
        before: RequestResponseCycle | None = self.cycle
        if before is not None and before.response_complete and self._deadline is None:
            self._wait()  # a further request begins
        super().data_received(data)
        if self.cycle is not before:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._stop_waiting()
        self.of_network[self._network] -= 1
        if self.of_network[self._network] <= 0:
            del self.of_network[self._network]
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(self.headers_within_s, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
