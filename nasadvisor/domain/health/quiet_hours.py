"""When a message may go out: quiet hours hold back what can wait until morning."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta

from nasadvisor.domain.statements import Level


@dataclass(frozen=True)
class QuietHours:
    """From `begin` to `end`, local time, over midnight where `end` is the earlier; none where both are equal."""

    begin: time
    end: time

    def holds(self, moment: datetime) -> bool:
        """Whether a local moment is within."""
        at = moment.time()
        if self.begin <= self.end:
            return self.begin <= at < self.end
        return at >= self.begin or at < self.end

    def ends_after(self, moment: datetime) -> datetime:
        """The next end, at or after a local moment."""
        end = moment.replace(hour=self.end.hour, minute=self.end.minute, second=self.end.second, microsecond=0)
        return end if end >= moment else end + timedelta(days=1)


def due_at(level: Level, quiet: QuietHours | None, now: datetime) -> datetime:
    """When a message of this level may go out; `now` is local. What is critical never waits."""
    if quiet is None or level is Level.CRITICAL or not quiet.holds(now):
        return now
    return quiet.ends_after(now)
