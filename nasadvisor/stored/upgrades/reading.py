"""What a host tells of its pools every few seconds: samples, and facts where they were read again."""

from typing import Final

from nasadvisor.stored.upgrades import Document, Upgrade, pool_facts

_ARC: Final = {"metadata_misses": 0, "evicted_ineligible_bytes": 0}
_BUSY: Final = {"peak_log_bytes": 0}


def to_second(document: Document) -> Document:
    """What was not counted yet is nothing."""
    samples = [
        {**each, "arc": {**each["arc"], **_ARC}, "busy": {**each["busy"], **_BUSY}} for each in document["samples"]
    ]
    return {"samples": samples, "facts": [pool_facts.to_second(each) for each in document["facts"]]}


UPGRADES: Final[tuple[Upgrade, ...]] = (to_second,)
