"""Records of a journal. A journal is never rewritten: each of its lines says which form it has."""

from typing import Final

from nasadvisor.stored.upgrades import Document, Upgrade


def to_second(document: Document) -> Document:
    """There are more kinds of records than in the first form; the old ones are as they were."""
    return document


def to_third(document: Document) -> Document:
    """Journals keep what their steps left of a partition table (`table-left`); earlier ones did not."""
    return document


UPGRADES: Final[tuple[Upgrade, ...]] = (to_second, to_third)
