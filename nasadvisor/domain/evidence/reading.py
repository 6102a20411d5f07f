"""What a host tells each time it has read its counters."""

from dataclasses import dataclass

from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.evidence.spells import PoolSpells


@dataclass(frozen=True)
class Reading:
    """A sample of each pool since the last reading; `facts` are those that were read anew, mostly none.

    `spells` are the sums of each hour that has changed since, all of its spells so far.
    """

    samples: tuple[Sample, ...] = ()
    facts: tuple[PoolFacts, ...] = ()
    spells: tuple[PoolSpells, ...] = ()
