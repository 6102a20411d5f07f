"""The warranty's clock: what data sheets promise, as somebody entered it, against what was written."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django import forms
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils.translation import gettext as _

from nasadvisor.console.health.models import RatedEndurance, StoredDisk
from nasadvisor.domain.health.wear.forecast import LONGEST_DAYS, Spread, WarrantyClock, erase_clock, tbw_clock


@dataclass(frozen=True)
class RatedClock:
    """One clock with its dates; they are None where the writing is unknown or it takes longer than ten years."""

    name: str
    rated_bytes: int
    used_percent: float
    earliest: datetime | None
    expected: datetime | None
    latest: datetime | None


class RatingForm(forms.ModelForm):  # type: ignore[type-arg]
    """What the data sheet of a model promises."""

    class Meta:
        model = RatedEndurance
        fields: ClassVar = ["terabytes", "erases", "write_amplification"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["terabytes"].widget.attrs |= {"min": "0.1", "step": "any"}
        self.fields["write_amplification"].widget.attrs |= {"min": "0.1", "step": "any"}

    def clean(self) -> dict[str, Any]:
        """Only numbers above zero are ratings."""
        cleaned = super().clean() or {}
        for name in self.fields:
            value = cleaned.get(name)
            if value is not None and value <= 0:
                self.add_error(name, _("A number above zero."))
        return cleaned


def with_ratings(disks: QuerySet[StoredDisk]) -> QuerySet[Any]:
    """The same disks, each with `rated_terabytes`, None where nobody has entered it."""
    rating = RatedEndurance.objects.filter(model=OuterRef("model"), size_bytes=OuterRef("size_bytes"))
    return disks.annotate(rated_terabytes=Subquery(rating.values("terabytes")[:1]))


def rating_of(disk: StoredDisk) -> RatedEndurance | None:
    """What was entered for a disk's model."""
    return RatedEndurance.objects.filter(model=disk.model, size_bytes=disk.size_bytes).first()


def clocks_of(
    disk: StoredDisk, rating: RatedEndurance | None, per_day: Spread | None, now: datetime
) -> list[RatedClock]:
    """The clocks that can be told of one disk."""
    if rating is None or disk.bytes_written is None:
        return []
    found = []
    if rating.terabytes:
        clock = tbw_clock(rating.terabytes, disk.bytes_written, per_day)
        found.append(_clock(_("Terabytes written (TBW)"), clock, now))
    if rating.erases:
        clock = erase_clock(disk.size_bytes, rating.erases, rating.write_amplification, disk.bytes_written, per_day)
        found.append(_clock(_("Program/erase cycles"), clock, now))
    return found


def _clock(name: str, clock: WarrantyClock, now: datetime) -> RatedClock:
    days = clock.days_left
    ends = (days.low, days.middle, days.high) if days else (None, None, None)
    earliest, expected, latest = (_date(now, each) for each in ends)
    return RatedClock(name, clock.rated_bytes, clock.used_percent, earliest, expected, latest)


def _date(now: datetime, days: float | None) -> datetime | None:
    return None if days is None or days > LONGEST_DAYS else now + timedelta(days=days)
