"""Proof by switching, on the host: begun, carried out by its own clock, and always ended with the cache in service.

The plan of the coins and what was counted stand in a record (`switch_records`); each switch is a run with a journal of
its own (`switch_steps`). Nothing is concluded from what was done before: at each look the host is told by its records
and journals what is out of service, and puts back what is not meant to be. So it does not matter what ended the worker.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Protocol

from nasadvisor.domain.change import refusals as no
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.switch_words import TAKEN_BACK, stopped_by
from nasadvisor.domain.evidence.switched import MOST_CACHES, CacheSwitching, SwitchedCache, SwitchOrder
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory, Pool
from nasadvisor.host.change.gate import Gate
from nasadvisor.host.change.journal import JournalUnreadable, RunUnknown
from nasadvisor.host.change.lock import HostBusy, host_lock
from nasadvisor.host.change.logbook import Observer
from nasadvisor.host.change.runs import LOCK_WAIT_S, RunHost, check_asker, show_run
from nasadvisor.host.errors import HostError, RulesForbid
from nasadvisor.host.evidence.switch_records import SwitchRecords
from nasadvisor.host.evidence.switch_steps import SwitchRuns, against_switching, ids_of

log = logging.getLogger(__name__)

DIRECTORY: Final = "switchings"
"""Beside the journals."""


class CounterReader(Protocol):
    """Tells what happened between two calls: `Sampler`."""

    def sample(self) -> Reading:
        """Read the counters."""
        ...


class NothingRead:
    """A host whose counters are not read."""

    def sample(self) -> Reading:
        """See `CounterReader`."""
        return Reading()


class NoCacheToSwitch(HostError):  # noqa: N818 - named for what happened
    """The pool has no cache."""

    def __init__(self, pool: Pool) -> None:
        template = _("Pool {pool} has no cache to test. Nothing was changed. Add one on trial.")
        super().__init__(template, pool=pool.name)


class SwitchingUnderWay(HostError):  # noqa: N818
    """One at a time: the caches of all pools share the memory of the host."""

    def __init__(self, other: CacheSwitching) -> None:
        template = _(
            "A cache test of pool {pool} is already running, and two at once would invalidate each other: they share "
            "the memory of this host. Nothing was changed. Wait until it ends, or stop it: nasadvisor switching "
            "{pool} --stop"
        )
        super().__init__(template, pool=other.pool_name)


class NoSwitchingLength(HostError):  # noqa: N818
    """A plan that ends never, or tells nothing."""

    def __init__(self) -> None:
        template = _(
            "A cache test takes 8 to 240 pairs of periods. Each period lasts from one minute to one day, of which at "
            "most half is left out after a switch. Nothing was changed."
        )
        super().__init__(template)


class NothingSwitched(HostError):  # noqa: N818
    """There is nothing to stop."""

    def __init__(self, pool: str) -> None:
        super().__init__(_("No cache test of pool {pool} is running. Nothing was changed."), pool=pool)


@dataclass(frozen=True)
class SwitchHost:
    """Where caches are switched: the runs and the records of a host, and how its counters are read anew."""

    runs: RunHost
    counters: Callable[[], CounterReader] = NothingRead

    @property
    def records(self) -> SwitchRecords:
        """What is switched, and was."""
        return SwitchRecords(self.runs.journals.parent / DIRECTORY)

    def now_s(self) -> float:
        """The host's clock, in seconds since 1970."""
        return self.runs.clock().timestamp()

    def look(self) -> Inventory:
        """The host as it is now.

        Raises:
            HostError
        """
        return Gate(self.runs.executor(())).inventory()


def start_switching(host: SwitchHost, order: SwitchOrder, by: str) -> CacheSwitching:
    """Begin to switch the caches of a pool: the first switch is made by the worker, at its next look.

    Raises:
        NobodyAsks, NoSwitchingLength, SwitchingUnderWay, NoCacheToSwitch, RulesForbid, HostBusy, JournalUnwritable:
            nothing was changed.
    """
    check_asker(by)
    if not order.is_possible:
        raise NoSwitchingLength
    with host_lock(host.runs.locks, LOCK_WAIT_S) as descriptors:
        known = {each.id: each for each in host.records.all()}
        if order.id in known:
            return known[order.id]
        other = next((each for each in known.values() if not each.ended_at), None)
        if other:
            raise SwitchingUnderWay(other)
        gate = Gate(host.runs.executor(descriptors))
        inventory = gate.inventory()
        pool = inventory.pool(order.pool_guid)
        if pool is None:
            raise RulesForbid((no.NoPool(order.pool_guid),))
        caches = tuple(SwitchedCache(top.guid, top.path) for top in pool.caches)
        if not 0 < len(caches) <= MOST_CACHES:
            raise NoCacheToSwitch(pool)
        refusals = tuple(against_switching(gate, host.runs, pool.guid, caches, inventory))
        if refusals:
            raise RulesForbid(refusals)
        plan = order.plan(int(host.now_s()))
        record = CacheSwitching(order.id, host.runs.node, pool.guid, pool.name, caches, by, plan)
        host.records.create(record)
        return record


def stop_switching(host: SwitchHost, pool_guid: str, by: str, observe: Observer) -> CacheSwitching:
    """Take the caches of a pool out no more, and put back what is out. Also tries again where that failed before.

    Where another run is under way what is out is put back by the worker, once that has ended.

    Raises:
        NobodyAsks, NothingSwitched: nothing was changed.
        JournalUnwritable, SwitchingUnreadable
    """
    check_asker(by)
    record = host.records.open_of(pool_guid)
    if record is None:
        pool = host.look().pool(pool_guid)
        raise NothingSwitched(pool.name if pool else pool_guid)
    return _end(host, record, stopped_by(by), observe)


def end_before_undo(host: SwitchHost, run_id: str, observe: Observer) -> CacheSwitching | None:
    """A run that added a cache is about to be taken back: what switches it ends first. None where nothing does.

    Raises:
        HostError: it could not be ended.
    """
    try:
        run = show_run(host.runs, run_id)
    except (RunUnknown, JournalUnreadable):  # the undo itself says so
        return None
    if not run.plan.request.cache_disks:
        return None
    record = host.records.open_of(run.plan.request.pool_guid)
    return _end(host, record, TAKEN_BACK, observe) if record else None


def settle(host: SwitchHost, record: CacheSwitching, runs: SwitchRuns) -> CacheSwitching:
    """Put back what is out of service by a record, and note what keeps it from that, or that it has ended.

    Raises:
        HostError: the record cannot be read or written.
    """
    try:
        problem = runs.put_back(ids_of(record), record.by)
    except HostBusy as error:
        log.info("switching of %s waits: %s", record.pool_name, error)
        return record
    at = _now(host)

    def settled(now: CacheSwitching) -> CacheSwitching:
        is_at_end = problem is None and not now.is_under_way and not now.ended_at
        return replace(now, problem=problem, ended_at=at if is_at_end else now.ended_at)

    return host.records.change(record.id, settled)


def over(host: SwitchHost, record: CacheSwitching, why: Statement) -> CacheSwitching:
    """From now on nothing is taken out any more.

    Raises:
        HostError: that could not be written.
    """
    at = _now(host)
    return host.records.change(record.id, lambda now: now.over(at, why))


def _end(host: SwitchHost, record: CacheSwitching, why: Statement, observe: Observer) -> CacheSwitching:
    return settle(host, over(host, record, why), SwitchRuns(host.runs, observe, set()))


def _now(host: SwitchHost) -> str:
    return host.runs.clock().isoformat(timespec="milliseconds")
