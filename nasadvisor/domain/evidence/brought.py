"""What the log and the cache that a pool has take away of its waiting, in seconds a day."""

from nasadvisor.domain.evidence.cache_verdict import CACHES
from nasadvisor.domain.evidence.commits import log_in_use
from nasadvisor.domain.evidence.options import Known, Option
from nasadvisor.domain.evidence.verdict import Answer
from nasadvisor.domain.evidence.waited import Wait
from nasadvisor.domain.evidence.workload import LOGS, reads_of
from nasadvisor.domain.units import DAY_S


def brought_by_devices(known: Known) -> dict[Option, Wait]:
    """By log and cache; only those that the pool has, whose verdict is given, and that are faster than the disks."""
    found = {Option.LOG: _by_log(known), Option.CACHE: _by_cache(known)}
    return {option: wait for option, wait in found.items() if wait and wait.high_s > 0}


def _by_log(known: Known) -> Wait | None:
    is_judged = known.facts.leaves_of(*LOGS) and known.log.answer is not Answer.CANNOT_TELL
    return log_in_use(known.workload, known.facts).saved if is_judged else None


def _by_cache(known: Known) -> Wait | None:
    """Reads that programs waited for and that it served, each by what the data disks take longer for one."""
    caches, workload = known.facts.leaves_of(*CACHES), known.workload
    arc = workload.sample.arc
    if not caches or known.cache.answer is Answer.CANNOT_TELL or not arc.misses:
        return None
    own = reads_of(workload.sample, caches)
    a_day = arc.l2_hits * workload.misses_share * arc.demand_misses / arc.misses / _days(known)
    low, likely, high = (
        workload.quantile_of_reads_ns(of_disks) - own.quantile_ns(of_cache)
        for of_disks, of_cache in ((0.25, 0.75), (0.5, 0.5), (0.75, 0.25))
    )
    return _saved(a_day, low, likely, high)


def _saved(a_day: float, *each_ns: float) -> Wait:
    low, likely, high = (a_day * max(each, 0.0) / 1e9 for each in each_ns)
    return Wait(low, likely, high)


def _days(known: Known) -> float:
    return max(known.workload.seconds, 1e-9) / DAY_S
