"""How far a measurement is."""

from typing import Final

from nasadvisor.stored.upgrades import Document, Upgrade


def to_second(document: Document) -> Document:
    """There is one more stage than in the first form; the old ones are as they were."""
    return document


UPGRADES: Final[tuple[Upgrade, ...]] = (to_second,)
