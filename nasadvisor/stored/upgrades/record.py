"""Records of a journal. A journal is never rewritten: each of its lines says which form it has."""

from typing import Final

from nasadvisor.stored.upgrades import Upgrade

UPGRADES: Final[tuple[Upgrade, ...]] = ()
