"""What was measured by writing."""

from typing import Final

from nasadvisor.stored.upgrades import Document, Upgrade


def to_second(document: Document) -> Document:
    """Traced commits are replayed on the SSD; before, nothing was."""
    candidate = document["candidate"]
    return document if candidate is None else {**document, "candidate": {**candidate, "replayed": None}}


UPGRADES: Final[tuple[Upgrade, ...]] = (to_second,)
