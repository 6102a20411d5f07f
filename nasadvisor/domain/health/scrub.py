"""What a host tells when a pool has begun a scrub that was asked for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ScrubStart:
    """A pool of a host reads every copy of every block; how far it is stands in the inventory."""

    node: str
    pool_guid: str
