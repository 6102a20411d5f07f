"""Random histories of a cache that is taken out of service and put back, while somebody else works on the machine.

The product itself made the cache in an earlier run, which is undone at some moment too. What the checker of all
histories holds is held here as well, and: out of service is said only of a cache that is, and undone of none that is.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import pytest

from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.runs import Run, RunState
from nasadvisor.domain.units import MIB
from nasadvisor.host.change.runs import apply_plan, show_run, undo_run
from tests.unit.histories.foreign import Foreigner
from tests.unit.histories.test_histories import ENDED, History, histories
from tests.unit.histories.world import ONE, TWO
from tests.unit.machines import TANK

CACHES = PlanRequest(TANK, (), 0, (ONE, TWO), 512 * MIB)


@dataclass
class Switcher(Foreigner):
    """Somebody who also works on the caches by hand; `plan` is the one that made them."""

    def more(self) -> tuple[Callable[[], None], ...]:
        return (self.make_filesystem_on_cache, self.switch_autoexpand, self.put_back_by_hand, self.remove_caches)

    def heal(self) -> None:
        super().heal()
        self.world.expands = False

    def make_filesystem_on_cache(self) -> None:
        """On one that nothing holds; it leaves the two labels at the end of the slice as they are."""
        found = self._idle_slice()
        if found:
            each, part = found
            place = part.start_bytes // MIB
            each.content[place] = "ext4"
            self._claim_content(each, place)

    def switch_autoexpand(self) -> None:
        self.world.expands = not self.world.expands

    def put_back_by_hand(self) -> None:
        if self.world.pools and not any(each.content for each in self.world.ssds):
            self.world.offline.clear()

    def remove_caches(self) -> None:
        self.world.pools = [pool if pool.checkpoint else replace(pool, caches=()) for pool in self.world.pools]


@dataclass
class Switching(History):
    """A history of two runs: one that made the caches, and the one that is told, which takes one out of service."""

    def begin(self) -> None:
        self.adding = self.planned(CACHES, "adding")
        assert apply_plan(self.host, self.adding, "root", self._watch).state is RunState.APPLIED
        (pool,) = self.world.pools
        cache = self.chance.choice(pool.caches)
        self.cache, self.partuuid = cache.guid, cache.path.rpartition("/")[2]
        self.plan = self.planned(PlanRequest(TANK, offline_cache=self.cache), "run")
        self.somebody = Switcher(self.world, self.adding, self.chance)

    def run(self) -> RunState:
        """After the end the run that made the caches is undone; then a cache of which nothing is left ends as well."""
        super().run()
        for plan in (self.adding, self.plan):
            if show_run(self.host, plan.id).state not in ENDED:
                self._stretch(partial(undo_run, self.host, plan.id, "root", self._watch), quiet=True)
        last = show_run(self.host, self.adding.id).state
        assert last in ENDED or self.has_no_way_out(), f"the caches cannot be taken out, {last}: {self.story}"
        return self._state()

    def _go_on(self) -> None:
        if self.chance.random() < 0.1:
            self._stretch(lambda: undo_run(self.host, self.adding.id, "root", self._watch))
        super()._go_on()

    def has_no_way_out(self) -> bool:
        """Something of theirs is in a slice; or the pool looks like one that is away and its cache is there: they
        destroyed it, or gave it a new guid and took the cache out by which it could be known."""
        pools = (*self.world.pools, *self.world.away)
        is_known = any(top.guid == self.cache for pool in pools for top in pool.caches)
        is_away = not pools or ("reguid" in self.somebody.did and not is_known)
        return is_away or self.somebody.sits_on({piece.partuuid for piece in self.adding.slices})

    def _check_undone(self, ended: Run) -> None:
        if ended.id == self.plan.id:
            self._check_put_back({finding.code for finding in ended.findings})
            return
        if not ended.refusals:  # an undo that is asked for once more, when an SSD is back, may find what is theirs
            plan, self.plan = self.plan, self.adding
            super()._check_undone(ended)
            self.plan = plan

    def _check_put_back(self, codes: set[str]) -> None:
        """It is in service; or it cannot be, and that is said."""
        path = f"/dev/disk/by-partuuid/{self.partuuid}"
        if self._is_out():
            is_gone = not self.world.find(self.partuuid) and path not in self.world.used_paths()
            assert is_gone, f"still out of service: {self.story}"
            assert "cache-away" in codes, f"not told that it is out of service: {self.story}"
            return
        shown = [top for pool in self.world.inventory().pools for top in pool.caches if top.guid == self.cache]
        if shown and shown[0].state != "ONLINE":
            assert "cache-back-broken" in codes, f"not told that it is broken: {self.story}"

    def _check_applied(self) -> None:
        if show_run(self.host, self.plan.id).state is RunState.APPLIED:
            assert self._is_out(), f"not out of service: {self.story}"

    def _is_out(self) -> bool:
        pools = (*self.world.pools, *self.world.away)
        return any(top.guid in self.world.offline for pool in pools for top in pool.caches if top.guid == self.cache)


@pytest.mark.slow
def test_whatever_happens_a_cache_is_called_out_of_service_only_while_it_is_and_nothing_on_it_is_lost() -> None:
    ends = histories(1, 100, Switching)
    print(dict(ends))
    assert ends[RunState.UNDONE] > 30


@pytest.mark.long
def test_a_thousand_histories_of_a_cache_that_comes_and_goes() -> None:
    print(dict(histories(1000, 1000, Switching)))
