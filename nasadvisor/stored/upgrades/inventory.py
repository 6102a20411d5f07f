"""One host at one moment."""

from typing import Final

from nasadvisor.stored.upgrades import Document, Upgrade


def to_second(document: Document) -> Document:
    """Where disks stand was not read yet."""
    return {**document, "disks": [{**each, "slot": None} for each in document["disks"]]}


UPGRADES: Final[tuple[Upgrade, ...]] = (to_second,)
