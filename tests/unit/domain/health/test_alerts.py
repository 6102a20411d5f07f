"""Alerts: what is told, what is not, and that nothing is told twice or never."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.health.alerts import (
    RECOVERED_AFTER,
    SLOW_GROWTH_AFTER,
    Alert,
    AlertChange,
    AlertKey,
    AlertState,
    EventKind,
    Observation,
    acknowledge,
    escalate,
    present,
    reconcile,
    wake,
)
from nasadvisor.domain.statements import RANK, Level

START = datetime(2026, 8, 25, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
KEY = AlertKey("inventory/nas", "device-errors", "1")
SOURCES = frozenset({KEY.source})
HOURS_ON_CALL = timedelta(hours=4)


def seen(measure: int = 1, level: Level = Level.WARNING) -> Observation:
    return Observation(KEY, level, measure)


class Watch:
    """One alert through time; `told` are the events so far."""

    def __init__(self) -> None:
        self.alert: Alert | None = None
        self.now = START
        self.told: list[EventKind] = []

    def look(self, *found: Observation, after: timedelta = MINUTE, sources: frozenset[str] = SOURCES) -> None:
        self.now += after
        alerts = {KEY: self.alert} if self.alert else {}
        for step in reconcile(alerts, found, sources, self.now):
            self.alert = step.alert
            if step.event:
                self.told.append(step.event)

    def escalate(self, after: timedelta) -> None:
        self.now += after
        assert self.alert
        step = escalate(self.alert, HOURS_ON_CALL, self.now)
        self.alert = step.alert
        if step.event:
            self.told.append(step.event)


def test_the_same_finding_a_hundred_times_is_told_once() -> None:
    watch = Watch()
    for _ in range(100):
        watch.look(seen())
    assert watch.told == [EventKind.NEW]


def test_a_finding_that_stays_away_is_over_and_that_is_told_once() -> None:
    watch = Watch()
    watch.look(seen())
    for _ in range(100):
        watch.look()
    assert watch.told == [EventKind.NEW, EventKind.RECOVERED]


def test_a_finding_that_flickers_is_one_alert() -> None:
    watch = Watch()
    for _ in range(50):
        watch.look(seen())
        watch.look()
    assert watch.told == [EventKind.NEW]


def test_a_finding_that_comes_back_after_it_was_over_is_new_again() -> None:
    watch = Watch()
    watch.look(seen())
    watch.look()
    watch.look(after=RECOVERED_AFTER)
    watch.look(seen())
    assert watch.told == [EventKind.NEW, EventKind.RECOVERED, EventKind.NEW]


def test_twice_as_much_is_told_at_once_and_a_little_more_is_not() -> None:
    watch = Watch()
    for measure in (10, 11, 15, 19, 20, 25, 39, 40):
        watch.look(seen(measure))
    assert watch.told == [EventKind.NEW, EventKind.WORSE, EventKind.WORSE]


def test_slow_growth_is_told_after_a_day() -> None:
    watch = Watch()
    watch.look(seen(10))
    watch.look(seen(11), after=SLOW_GROWTH_AFTER)
    assert watch.told == [EventKind.NEW, EventKind.WORSE]


def test_less_than_was_told_is_never_told() -> None:
    watch = Watch()
    watch.look(seen(10))
    watch.look(seen(3), after=SLOW_GROWTH_AFTER)
    watch.look(seen(9), after=SLOW_GROWTH_AFTER)
    assert watch.told == [EventKind.NEW]


def test_a_higher_level_is_told_and_a_lower_one_is_not() -> None:
    watch = Watch()
    watch.look(seen())
    watch.look(seen(level=Level.CRITICAL))
    watch.look(seen())
    watch.look(seen(level=Level.CRITICAL))
    assert watch.told == [EventKind.NEW, EventKind.WORSE]


def test_what_was_acknowledged_is_quiet_until_it_grows() -> None:
    watch = Watch()
    watch.look(seen(5))
    assert watch.alert
    watch.alert = acknowledge(watch.alert)
    watch.look(seen(5))
    watch.escalate(timedelta(days=7))
    assert watch.told == [EventKind.NEW]
    watch.look(seen(50))
    assert watch.told == [EventKind.NEW, EventKind.WORSE]
    assert watch.alert.state is AlertState.NEW


def test_a_silent_source_ends_nothing() -> None:
    watch = Watch()
    watch.look(seen())
    for _ in range(100):
        watch.look(sources=frozenset({"inventory/other"}))
    assert watch.told == [EventKind.NEW]


def test_a_critical_alert_that_nobody_takes_up_is_escalated_once() -> None:
    watch = Watch()
    watch.look(seen(level=Level.CRITICAL))
    watch.escalate(HOURS_ON_CALL - MINUTE)
    watch.escalate(MINUTE)
    watch.escalate(HOURS_ON_CALL)
    assert watch.told == [EventKind.NEW, EventKind.ESCALATED]


def test_a_warning_is_never_escalated() -> None:
    watch = Watch()
    watch.look(seen())
    watch.escalate(10 * HOURS_ON_CALL)
    assert watch.told == [EventKind.NEW]


def test_what_was_acknowledged_until_a_moment_wakes_then_and_only_while_the_finding_is_there() -> None:
    watch = Watch()
    watch.look(seen(3))
    assert watch.alert is not None
    until = watch.now + timedelta(days=1)
    snoozed = acknowledge(watch.alert, until)
    assert wake(snoozed, until - MINUTE) == AlertChange(snoozed)
    woken = wake(snoozed, until)
    assert woken.event is EventKind.AGAIN
    assert (woken.alert.state, woken.alert.snoozed_until, woken.alert.told_at) == (AlertState.NEW, None, until)
    missed = replace(snoozed, away_since=until - MINUTE)
    assert wake(missed, until) == AlertChange(missed)
    for_good = acknowledge(watch.alert)
    assert wake(for_good, until) == AlertChange(for_good)
    assert wake(watch.alert, until) == AlertChange(watch.alert)


def test_what_is_over_cannot_be_acknowledged() -> None:
    watch = Watch()
    watch.look(seen())
    watch.look()
    watch.look(after=RECOVERED_AFTER)
    assert watch.alert
    assert acknowledge(watch.alert) == watch.alert


LOOKS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.tuples(st.integers(0, 100), st.sampled_from([Level.WARNING, Level.CRITICAL]))),
        st.sampled_from([timedelta(seconds=10), MINUTE, RECOVERED_AFTER, timedelta(hours=6), timedelta(days=2)]),
        st.booleans(),
    ),
    max_size=60,
)


@given(LOOKS)
def test_over_any_time_new_and_over_alternate(looks: list[tuple[tuple[int, Level] | None, timedelta, bool]]) -> None:
    watch = Watch()
    for found, after, acknowledged in looks:
        watch.look(*([seen(*found)] if found else []), after=after)
        if acknowledged and watch.alert:
            watch.alert = acknowledge(watch.alert)
    turns = [event for event in watch.told if event in (EventKind.NEW, EventKind.RECOVERED)]
    assert turns == [(EventKind.NEW, EventKind.RECOVERED)[index % 2] for index in range(len(turns))]


@given(LOOKS)
def test_over_any_time_whatever_is_there_was_told(
    looks: list[tuple[tuple[int, Level] | None, timedelta, bool]],
) -> None:
    watch = Watch()
    for found, after, _ in looks:
        watch.look(*([seen(*found)] if found else []), after=after)
        if found:
            assert watch.alert is not None
            assert watch.alert.is_open
            assert RANK[watch.alert.told_level] >= RANK[found[1]]
            assert found[0] <= 2 * watch.alert.told_measure


@given(LOOKS)
def test_over_any_time_being_told_worse_means_growth(
    looks: list[tuple[tuple[int, Level] | None, timedelta, bool]],
) -> None:
    watch = Watch()
    for found, after, _ in looks:
        before, count = watch.alert, len(watch.told)
        watch.look(*([seen(*found)] if found else []), after=after)
        if watch.told[count:] == [EventKind.WORSE]:
            assert before is not None
            assert found is not None
            assert found[0] > before.told_measure or RANK[found[1]] > RANK[before.told_level]


@given(LOOKS, st.integers(1, 5))
def test_a_look_that_is_repeated_changes_nothing(
    looks: list[tuple[tuple[int, Level] | None, timedelta, bool]], times: int
) -> None:
    watch = Watch()
    for found, after, _ in looks:
        watch.look(*([seen(*found)] if found else []), after=after)
        once, told = watch.alert, list(watch.told)
        for _ in range(times):
            watch.look(*([seen(*found)] if found else []), after=timedelta(0))
        assert (watch.alert, watch.told) == (once, told)


def test_two_subjects_are_two_alerts() -> None:
    other = Observation(replace(KEY, subject="2"), Level.WARNING)
    steps = list(reconcile({}, [seen(), other], SOURCES, START))
    assert [step.event for step in steps] == [EventKind.NEW, EventKind.NEW]


def test_the_first_sight_is_as_told() -> None:
    step = present(None, seen(7, Level.CRITICAL), START)
    assert (step.alert.told_measure, step.alert.told_level, step.alert.began_at) == (7, Level.CRITICAL, START)
