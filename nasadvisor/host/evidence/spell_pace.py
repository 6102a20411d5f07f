"""When the next spell begins: at random, and never more often than the budget allows by what they really cost.

The clock of a pace runs at full speed while commits are seen and slowly while none are. It is cut into blocks, each as
long as its spell's cost takes to be half a percent of it, and in each block one spell begins at a moment drawn by
chance. So spells are spread evenly, chance decides when, and what all of them cost is never more than the budget of
the time.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from nasadvisor.domain.evidence.spells import Stratum

BUDGET: Final = 0.005
"""[policy] The share of one processor that spells may take."""

QUIET: Final = 8
"""[policy] So many times as seldom where no commits are seen."""

BUSY_COMMITS_PER_S: Final = 0.3
"""[policy] From here on commits are seen: one writer that waits two and a half seconds for each makes 0.4 a second."""

FIRST_BLOCK_S: Final = 900.0
"""[policy] Before anything is known of the cost, and after each start: this pays for 4.5 s of a processor."""

FAILED_COST_S: Final = 18.0
"""[policy] What a failure counts for, so that it is tried again once an hour: its cost is not told."""

NEW_SHARE: Final = 0.2
"""[policy] How much the newest cost counts in the mean."""

_RANDOM: Final = random.SystemRandom()


@dataclass
class Pace:
    """The moments of one host. `draw` gives a number from 0 to 1 by chance."""

    draw: Callable[[], float] = _RANDOM.random
    mean_cost_s: float = 0.0
    _clock_s: float = 0.0
    _block_s: float = 0.0
    _length_s: float = FIRST_BLOCK_S
    _due_s: float = field(init=False)

    def __post_init__(self) -> None:
        self._due_s = self.draw() * FIRST_BLOCK_S

    @property
    def is_due(self) -> bool:
        """Whether a spell may begin."""
        return self._clock_s >= self._due_s

    def go_on(self, seconds: float, stratum: Stratum) -> None:
        """So much time has passed."""
        self._clock_s += seconds if stratum is Stratum.BUSY else seconds / QUIET

    def pay(self, cost_s: float) -> None:
        """A spell has cost so much of a processor: the next block begins when that is paid."""
        mean = self.mean_cost_s
        self.mean_cost_s = mean + NEW_SHARE * (cost_s - mean) if mean else cost_s
        self._block_s = max(self._block_s + max(self._length_s, cost_s / BUDGET), self._clock_s)
        self._length_s = self.mean_cost_s / BUDGET
        self._due_s = self._block_s + self.draw() * self._length_s
