"""What this machine is called and where it is, for the settings of the console and for its certificate."""

import ipaddress
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

LOCAL: Final = "localhost"
_HOSTS_FILE: Final = Path("/etc/hosts")
_RESOLVER_FILE: Final = Path("/etc/resolv.conf")
_ROUTES_FILE: Final = Path("/proc/net/fib_trie")
_IPV6_FILE: Final = Path("/proc/net/if_inet6")
_LOCAL_ROUTE: Final = re.compile(r"\|-- (\S+)\n/32 host LOCAL")


def own_names(host_name: str, hosts: Path = _HOSTS_FILE, resolver: Path = _RESOLVER_FILE) -> Iterator[str]:
    """What this machine is called: by itself, in /etc/hosts, in its domains, and by mDNS (RFC 6762). No name server is
    asked: it would be asked before the first page, and may not answer.
    """
    name = host_name.casefold()
    short = name.partition(".")[0]
    yield from (LOCAL, name, short, f"{short}.local")
    for line in _lines(hosts):
        names = line.casefold().split()[1:]
        if {name, short} & set(names):
            yield from names
    for line in _lines(resolver):
        words = line.casefold().split()
        if words[:1] in (["search"], ["domain"]):
            yield from (f"{short}.{domain}" for domain in words[1:])


def full_name(host_name: str, hosts: Path = _HOSTS_FILE, resolver: Path = _RESOLVER_FILE) -> str:
    """How this machine names itself to others, with its domain where that is known here."""
    names = own_names(host_name, hosts, resolver)
    return next((name for name in names if "." in name and not name.endswith((".local", ".localdomain"))), host_name)


def own_addresses(routes: Path = _ROUTES_FILE, ipv6: Path = _IPV6_FILE) -> Iterator[str]:
    """The IP addresses of this machine, loopback included, but no link-local ones: those need a zone, which no
    certificate can name. From the kernel's tables (net/ipv4/fib_trie.c, net/ipv6/addrconf.c).
    """
    yield from dict.fromkeys(_LOCAL_ROUTE.findall("\n".join(_lines(routes))))
    for line in _lines(ipv6):
        address = ipaddress.IPv6Address(int(line.split()[0], 16))
        if not address.is_link_local:
            yield str(address)


def names_of_origins(origins: Iterable[str]) -> Iterator[str]:
    """Where forms may be sent from, pages may be asked for."""
    for origin in origins:
        yield (urlsplit(origin).hostname or "").replace("*.", ".")


def _lines(path: Path) -> Iterator[str]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        said = re.sub("#.*", "", line).strip()
        if said:
            yield said
