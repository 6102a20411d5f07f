"""Plans, as files and in runs."""

from typing import Final

from nasadvisor.stored.upgrades import Document, Upgrade


def without_a_cache_out_of_service(document: Document) -> Document:
    """1 to 2: a wish can name a cache to take out of service; none did before."""
    return {**document, "request": {**document["request"], "offline_cache": ""}}


UPGRADES: Final[tuple[Upgrade, ...]] = (without_a_cache_out_of_service,)
