"""What the log and the cache that a pool has take away of its waiting, in seconds a day."""

from nasadvisor.domain.evidence.commits import log_in_use
from nasadvisor.domain.evidence.options import Known, Option
from nasadvisor.domain.evidence.reads import CACHES, cache_in_use
from nasadvisor.domain.evidence.verdict import Answer
from nasadvisor.domain.evidence.waited import Wait
from nasadvisor.domain.evidence.workload import LOGS


def brought_by_devices(known: Known) -> dict[Option, Wait]:
    """By log and cache; only those that the pool has, whose verdict is given, and that are faster than the disks."""
    workload, facts = known.workload, known.facts
    found = {
        Option.LOG: (known.log, LOGS, log_in_use(workload, facts).saved),
        Option.CACHE: (known.cache, CACHES, cache_in_use(workload, facts).saved),
    }
    return {
        option: saved
        for option, (verdict, classes, saved) in found.items()
        if saved.high_s and facts.leaves_of(*classes) and verdict.answer is not Answer.CANNOT_TELL
    }
