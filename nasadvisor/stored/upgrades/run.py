"""Runs, as a host publishes them and the console keeps them."""

from typing import Final

from nasadvisor.stored.upgrades import Document, Upgrade


def without_skipped_steps(document: Document) -> Document:
    """1 to 2: a step that was left out is `skipped`; it was called `done` before, with a note, and stays so."""
    return document


UPGRADES: Final[tuple[Upgrade, ...]] = (without_skipped_steps,)
