"""What this machine is called, for the settings of the console."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

LOCAL: Final = "localhost"
_HOSTS_FILE: Final = Path("/etc/hosts")
_RESOLVER_FILE: Final = Path("/etc/resolv.conf")


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
