"""One host at one moment."""

from typing import Final

from nasadvisor.stored.upgrades import Document, Upgrade


def to_second(document: Document) -> Document:
    """Where disks stand was not read yet."""
    return {**document, "disks": [{**each, "slot": None} for each in document["disks"]]}


def to_third(document: Document) -> Document:
    """How fragmented the free space of pools is was not read yet."""
    return {**document, "pools": [{**each, "fragmentation_percent": None} for each in document["pools"]]}


UPGRADES: Final[tuple[Upgrade, ...]] = (to_second, to_third)
