"""What a host tells each time it has read its counters."""

from dataclasses import dataclass

from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.samples import Sample


@dataclass(frozen=True)
class Reading:
    """A sample of each pool since the last reading; `facts` are those that were read anew, mostly none."""

    samples: tuple[Sample, ...] = ()
    facts: tuple[PoolFacts, ...] = ()
