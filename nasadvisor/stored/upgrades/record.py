"""Records of a journal. A journal is never rewritten: each of its lines says which form it has."""

from typing import Final

from nasadvisor.stored.upgrades import Document, Upgrade
from nasadvisor.stored.upgrades.plan import without_a_cache_out_of_service


def to_second(document: Document) -> Document:
    """There are more kinds of records than in the first form; the old ones are as they were."""
    return document


def to_third(document: Document) -> Document:
    """Journals keep what their steps left of a partition table (`table-left`); earlier ones did not."""
    return document


def to_fourth(document: Document) -> Document:
    """The record that begins a run holds a plan of the second form."""
    if "plan" not in document:
        return document
    return {**document, "plan": without_a_cache_out_of_service(document["plan"])}


UPGRADES: Final[tuple[Upgrade, ...]] = (to_second, to_third, to_fourth)
