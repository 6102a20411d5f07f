"""What the simulated machine tells of itself is made up, and must not contradict itself."""

import pytest

from nasadvisor.domain.evidence.reads import ghost_share
from nasadvisor.host.simulated.evidence import ARC, simulated_curve, simulated_sample
from tests.fixtures.machines.build import typical

NOON = 1_790_078_400
APART = 0.05


def test_its_counters_and_its_curve_tell_the_same_of_as_much_memory_again() -> None:
    """What was dropped and missed again soon (ghost hits) is what twice the ARC would have held."""
    counted = ghost_share(simulated_sample(typical().pools[0], NOON).arc)
    curve = simulated_curve("1", "tank", "2026-09-22T12:00:00+00:00", 3600)
    memory = min(curve.memory, key=lambda point: abs(point.more_bytes - ARC))
    cache = min(curve.points, key=lambda point: abs(point.size_bytes - ARC))
    assert memory.served == pytest.approx(counted, abs=APART)
    assert cache.served == pytest.approx(counted, abs=APART)


def test_no_size_serves_what_was_read_for_the_first_time() -> None:
    curve = simulated_curve("1", "tank", "2026-09-22T12:00:00+00:00", 3600)
    served = [point.served for point in curve.points] + [point.served for point in curve.memory]
    assert max(served) < 1 - curve.first_share
