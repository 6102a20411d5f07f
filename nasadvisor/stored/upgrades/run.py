"""Runs, as a host publishes them and the console keeps them."""

from typing import Final

from nasadvisor.stored.upgrades import Document, Upgrade
from nasadvisor.stored.upgrades.plan import without_a_cache_out_of_service


def without_skipped_steps(document: Document) -> Document:
    """1 to 2: a step that was left out is `skipped`; it was called `done` before, with a note, and stays so."""
    return document


def with_second_plan(document: Document) -> Document:
    """2 to 3: a run holds a plan of the second form."""
    return {**document, "plan": without_a_cache_out_of_service(document["plan"])}


UPGRADES: Final[tuple[Upgrade, ...]] = (without_skipped_steps, with_second_plan)
