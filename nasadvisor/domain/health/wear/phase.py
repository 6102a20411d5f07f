"""How much of the present whole percent is used already, from the readings before it.

A display of whole percents rounds down: at a reading of 3 % the true wear was from 3 up to 4. If wear follows the
bytes written, every reading bounds the wear per byte, and all of them together bound the wear now.
"""

from dataclasses import dataclass

from nasadvisor.domain.health.wear.history import History


@dataclass(frozen=True)
class Phase:
    """The least and the most of the present percent that is used, each from 0 to 1."""

    least: float
    most: float

    @property
    def middle(self) -> float:
        """Half way between."""
        return (self.least + self.most) / 2


UNKNOWN = Phase(0.0, 1.0)


def phase_of(history: History) -> Phase:
    """From a finer indicator where there is one, else from the bounds that the readings set; (0, 1) if they differ."""
    last = history.last
    if last is None or last.percent is None or not last.bytes_written:
        return UNKNOWN
    if last.exact_percent is not None:
        return Phase(last.exact_percent - last.percent, last.exact_percent - last.percent)
    known = [point for point in history.points if point.percent is not None and point.bytes_written]
    least = max((point.percent or 0.0) / (point.bytes_written or 1) for point in known) * last.bytes_written
    most = min(((point.percent or 0.0) + 1.0) / (point.bytes_written or 1) for point in known) * last.bytes_written
    found = Phase(max(least - last.percent, 0.0), min(most - last.percent, 1.0))
    return found if found.least < found.most else UNKNOWN
