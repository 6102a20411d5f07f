"""What is kept of a blank SSD that is tested, until its slice is taken back."""

from typing import Final

from nasadvisor.stored.upgrades import Document, Upgrade


def to_second(document: Document) -> Document:
    """There are more kinds of actions than in the first form; the old ones are as they were."""
    return document


UPGRADES: Final[tuple[Upgrade, ...]] = (to_second,)
