"""What is known of a pool beside its counters."""

from typing import Final

from nasadvisor.stored.upgrades import Document, Upgrade

_DATASET: Final = {"used_bytes": 0, "served": "no"}
_LEAF: Final = {"size_bytes": 0, "disk_bytes": 0}
_TUNABLES: Final = {
    "l2arc_feed_secs": 1,
    "l2arc_feed_min_ms": 200,
    "l2arc_feed_again": 1,
    "l2arc_dwpd_limit": None,
    "zil_special_is_slog": None,
}


def to_second(document: Document) -> Document:
    """What was not read yet is as OpenZFS has it by default, or not known."""
    return {
        **document,
        "datasets": [{**each, **_DATASET} for each in document["datasets"]],
        "leaves": [{**each, **_LEAF} for each in document["leaves"]],
        "tunables": {**document["tunables"], **_TUNABLES},
    }


UPGRADES: Final[tuple[Upgrade, ...]] = (to_second,)
