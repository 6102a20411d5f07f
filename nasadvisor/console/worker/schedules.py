"""What the clock asks for and how often, and the pages on which administrators change it; in django-celery-beat."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.passwords import ask_again, is_confirmed_by
from nasadvisor.console.accounts.roles import admin_required
from nasadvisor.domain.units import HOUR_S

EVERY_S: Final = {
    "console.refresh_inventories": 60,
    "console.follow_runs": 10,
    "console.take_samples": 10,
    "console.roll_up_samples": 60,
    "console.watch": 60,
    "console.deliver": 30,
    "console.publish_for_home_assistant": 60,
    "console.send_reports": 300,
    "console.sweep": 6 * HOUR_S,
    "console.prune": 24 * HOUR_S,
    "console.clear_sessions": 24 * HOUR_S,
}
"""Seconds between two runs of a task."""


@dataclass(frozen=True)
class CalendarTask:
    """A task at a time of the day, on certain days; numbers as in crontab(5). Off unless somebody switches it on."""

    minute: str
    hour: str
    day_of_month: str = "*"
    day_of_week: str = "*"
    is_enabled: bool = True


BY_CALENDAR: Final = {
    "console.monthly_report": CalendarTask("0", "7", day_of_month="1"),
    "console.short_self_tests": CalendarTask("30", "1", day_of_week="6", is_enabled=False),
    "console.long_self_tests": CalendarTask("30", "2", day_of_month="15", is_enabled=False),
}

EXPIRES_AT_MOST_S: Final = HOUR_S
"""A run that nobody took up by then is dropped: the next one comes anyway."""


def create_schedules() -> None:
    """Make the schedules that are missing; one that was changed by hand stays as it is."""
    for task, seconds in EVERY_S.items():
        interval, _ = IntervalSchedule.objects.get_or_create(every=seconds, period=IntervalSchedule.SECONDS)
        expires = min(seconds, EXPIRES_AT_MOST_S)
        PeriodicTask.objects.get_or_create(
            name=task, defaults={"task": task, "interval": interval, "expire_seconds": expires}
        )
    for task, when in BY_CALENDAR.items():
        crontab, _ = CrontabSchedule.objects.get_or_create(
            minute=when.minute,
            hour=when.hour,
            day_of_month=when.day_of_month,
            day_of_week=when.day_of_week,
            month_of_year="*",
            timezone=settings.TIME_ZONE,
        )
        PeriodicTask.objects.get_or_create(
            name=task,
            defaults={
                "task": task,
                "crontab": crontab,
                "enabled": when.is_enabled,
                "expire_seconds": EXPIRES_AT_MOST_S,
            },
        )


NAMES: Final[dict[str, str | Promise]] = {
    "console.sweep": gettext_lazy("Check the health of all disks"),
    "console.short_self_tests": gettext_lazy("Short self-tests of all disks"),
    "console.long_self_tests": gettext_lazy("Long self-tests of all disks"),
    "console.monthly_report": gettext_lazy("Send the monthly report"),
    "console.refresh_inventories": gettext_lazy("Read disks and pools"),
    "console.watch": gettext_lazy("Check for alerts"),
    "console.deliver": gettext_lazy("Send messages"),
    "console.publish_for_home_assistant": gettext_lazy("Update Home Assistant"),
    "console.send_reports": gettext_lazy("Send pending reports"),
    "console.follow_runs": gettext_lazy("Track runs"),
    "console.prune": gettext_lazy("Thin out old readings"),
    "console.clear_sessions": gettext_lazy("Delete expired sessions"),
}
"""In the order in which they are shown."""

EDITABLE: Final = ("console.sweep", "console.short_self_tests", "console.long_self_tests", "console.monthly_report")
"""The others keep pages and alerts going; whoever changes them changes what the pages promise."""

MONTHS_LONGEST: Final = 28
WEEKDAYS: Final = (
    ("*", gettext_lazy("every day")),
    ("1", gettext_lazy("Monday")),
    ("2", gettext_lazy("Tuesday")),
    ("3", gettext_lazy("Wednesday")),
    ("4", gettext_lazy("Thursday")),
    ("5", gettext_lazy("Friday")),
    ("6", gettext_lazy("Saturday")),
    ("0", gettext_lazy("Sunday")),
)
MONTHLY: Final = "month"
"""In the place of a weekday: on one day of each month."""


@dataclass(frozen=True)
class ScheduleRow:
    """One schedule: its name, how often, when last and when next; `next_at` is None while it is switched off."""

    task: PeriodicTask
    name: str
    when: str
    last_at: datetime | None
    next_at: datetime | None
    is_editable: bool


class IntervalForm(forms.Form):
    """Every so many hours, or not at all."""

    hours = forms.IntegerField(label=gettext_lazy("Interval (hours)"), min_value=1, max_value=168)
    is_enabled = forms.BooleanField(label=gettext_lazy("Enabled"), required=False)


class CalendarForm(forms.Form):
    """At a time of the day, on a day of the week or of the month, or not at all."""

    day_of_week = forms.ChoiceField(
        label=gettext_lazy("How often"), choices=(*WEEKDAYS, (MONTHLY, gettext_lazy("once a month")))
    )
    day_of_month = forms.IntegerField(
        label=gettext_lazy("Day of the month"), min_value=1, max_value=MONTHS_LONGEST, required=False
    )
    at = forms.TimeField(label=gettext_lazy("At"), widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"))
    is_enabled = forms.BooleanField(label=gettext_lazy("Enabled"), required=False)

    def clean(self) -> dict[str, Any]:
        """A day of the month counts only where that was chosen: the page hides it elsewhere."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("day_of_week") != MONTHLY:
            return {**cleaned, "day_of_month": None}
        if not cleaned.get("day_of_month") and "day_of_month" not in self.errors:
            self.add_error("day_of_month", _("Enter a day from 1 to 28; later days are missing in some months."))
        return {**cleaned, "day_of_week": "*"}


def schedules(request: HttpRequest) -> HttpResponse:
    """All schedules with their last and next run."""
    tasks = {task.name: task for task in PeriodicTask.objects.select_related("interval", "crontab")}
    rows = [_row(tasks[name]) for name in NAMES if name in tasks]
    editable, others = [row for row in rows if row.is_editable], [row for row in rows if not row.is_editable]
    return render(request, "worker/schedules.html", {"editable": editable, "others": others, "section": "settings"})


@admin_required
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Another time for one of those that may be changed."""
    task = get_object_or_404(PeriodicTask.objects.select_related("interval", "crontab"), pk=pk)
    if task.name not in EDITABLE:
        raise Http404
    form = _form_of(task, request.POST if request.method == "POST" else None)
    if is_confirmed_by(request, ask_again(request, form)):
        _save(task, form.cleaned_data)
        audit.record(request, Act.SCHEDULE_CHANGED, task.name)
        messages.success(request, _("The schedule was changed."))
        return redirect("schedules")
    return render(
        request, "worker/schedule.html", {"form": form, "title": str(NAMES[task.name]), "section": "settings"}
    )


def _row(task: PeriodicTask) -> ScheduleRow:
    return ScheduleRow(task, str(NAMES[task.name]), _when(task), task.last_run_at, _next(task), task.name in EDITABLE)


def _when(task: PeriodicTask) -> str:
    """How often, in words."""
    if task.interval:
        every = timedelta(**{task.interval.period: task.interval.every})
        seconds = int(every.total_seconds())
        for unit, once, template in (
            (3600, _("every hour"), _("every %(count)d h")),
            (60, _("every minute"), _("every %(count)d min")),
        ):
            if seconds % unit == 0:
                return once if seconds == unit else template % {"count": seconds // unit}
        return _("every %(count)d s") % {"count": seconds}
    crontab = task.crontab
    at = f"{int(crontab.hour):02d}:{int(crontab.minute):02d}"
    if crontab.day_of_month != "*":
        return _("on day %(day)s of each month at %(time)s") % {"day": crontab.day_of_month, "time": at}
    day = dict(WEEKDAYS).get(crontab.day_of_week, crontab.day_of_week)
    return _("%(day)s at %(time)s") % {"day": day, "time": at}


def _next(task: PeriodicTask) -> datetime | None:
    """When it is due; one that is overdue runs as soon as the clock looks."""
    if not task.enabled:
        return None
    now = timezone.now()
    remaining: timedelta = task.schedule.remaining_estimate(task.last_run_at or task.date_changed or now)
    return now + max(remaining, timedelta(0))


def _form_of(task: PeriodicTask, data: Any) -> IntervalForm | CalendarForm:
    if task.interval:
        every = timedelta(**{task.interval.period: task.interval.every})
        hours = max(1, round(every.total_seconds() / 3600))
        return IntervalForm(data, initial={"hours": hours, "is_enabled": task.enabled})
    crontab = task.crontab
    initial = {
        "at": f"{int(crontab.hour):02d}:{int(crontab.minute):02d}",
        "day_of_week": crontab.day_of_week if crontab.day_of_month == "*" else MONTHLY,
        "day_of_month": crontab.day_of_month if crontab.day_of_month != "*" else None,
        "is_enabled": task.enabled,
    }
    return CalendarForm(data, initial=initial)


def _save(task: PeriodicTask, cleaned: dict[str, Any]) -> None:
    """A schedule object is shared between tasks, so another one is taken instead of changing it."""
    with transaction.atomic():
        if "hours" in cleaned:
            task.interval = IntervalSchedule.objects.get_or_create(
                every=cleaned["hours"] * 3600, period=IntervalSchedule.SECONDS
            )[0]
        else:
            task.crontab = CrontabSchedule.objects.get_or_create(
                minute=str(cleaned["at"].minute),
                hour=str(cleaned["at"].hour),
                day_of_week=cleaned["day_of_week"],
                day_of_month=str(cleaned["day_of_month"] or "*"),
                month_of_year="*",
                timezone=task.crontab.timezone,
            )[0]
        task.enabled = cleaned["is_enabled"]
        task.save()
