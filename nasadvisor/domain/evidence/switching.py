"""When a cache is in service and when not, so that neither the hour of the day nor what went before decides.

Time is cut into pairs of periods that follow each other; in one of each pair the cache is in service, and a coin says
in which (Cox, "Planning of Experiments", 1958: randomised blocks). The coin comes from a seed that is written down
before, so that nobody, we neither, can choose it afterwards. What the test then asks is which other coins could have
fallen, and nothing about how the load is spread (`switch_effect`).

This is the plan only: whoever carries it out switches through the gate, as every other write.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import Final

from nasadvisor.domain.units import HOUR_S

USUAL_PERIOD_S: Final = HOUR_S
USUAL_PAIRS: Final = 36
"""[policy] Three days. With half as many pairs, each twice as long, 30 % was missed in 3 of 20 made-up loads."""

USUAL_SETTLE_S: Final = HOUR_S // 3
"""[policy] After each switch so much does not count: what one period leaves to the next must be gone by then, for the
test knows of no such thing. The cache fills again, or the memory of its headers comes back."""


@dataclass(frozen=True)
class Period:
    """A time in which nothing is switched; seconds since 1970. What counts begins at `counts_from`."""

    pair: int
    start: int
    counts_from: int
    end: int
    in_service: bool


@dataclass(frozen=True)
class Switching:
    """A plan of switches that begins at `start`, in seconds since 1970.

    Raises:
        ValueError: it has no pairs, or nothing of a period would count.
    """

    seed: str
    start: int
    pairs: int = USUAL_PAIRS
    period_s: int = USUAL_PERIOD_S
    settle_s: int = USUAL_SETTLE_S

    def __post_init__(self) -> None:
        if self.pairs < 1 or not 0 <= self.settle_s < self.period_s:
            raise ValueError("a plan of switches needs pairs, and periods of which something counts")

    @property
    def end(self) -> int:
        """When it is over, and the cache is back in service for good."""
        return self.start + 2 * self.pairs * self.period_s

    def periods(self) -> Iterator[Period]:
        """All of them, in order."""
        coins = coins_of(self.seed, 1, self.pairs)[0]
        for number in range(2 * self.pairs):
            pair, second = divmod(number, 2)
            begin = self.start + number * self.period_s
            first_on = bool(coins >> pair & 1)
            yield Period(pair, begin, begin + self.settle_s, begin + self.period_s, first_on != bool(second))

    def in_service_at(self, moment: int) -> bool:
        """Whether the cache is in service at a moment; before and after the plan it is."""
        return all(each.in_service for each in self.periods() if each.start <= moment < each.end)

    @property
    def switches(self) -> int:
        """How often it is taken out or put back, the last time when the plan is over."""
        states = [True, *(each.in_service for each in self.periods()), True]
        return sum(before != after for before, after in pairwise(states))


def coins_of(seed: str, throws: int, pairs: int) -> tuple[int, ...]:
    """So many throws of a coin for each pair, as the bits of a number, the same for the same seed on every machine."""
    return tuple(_bits(f"{seed}/{throw}", pairs) for throw in range(throws))


def _bits(text: str, count: int) -> int:
    blocks = range(-(-count // 256))
    whole = b"".join(sha256(f"{text}/{block}".encode()).digest() for block in blocks)
    return int.from_bytes(whole) & ((1 << count) - 1)
