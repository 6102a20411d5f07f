"""The history of a pool's counters in the database."""

import zlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nasadvisor.console.evidence import series
from nasadvisor.console.evidence.models import Resolution, SampledPool, StoredSample
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.console.worker.tasks import roll_up_samples, take_samples
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import Sample, merge
from nasadvisor.stored.documents import to_document
from tests.unit.console.conftest import Sent
from tests.unit.domain.evidence.pools import facts, sync_writers

START = 1_790_000_000 // 3600 * 3600


def sample(number: int) -> Sample:
    """The sample that ends 10, 20, 30 … seconds after the start."""
    return replace(sync_writers(seconds=10), at=START + 10 * number)


def store(*numbers: int) -> SampledPool:
    for number in numbers:
        take_answer("nas", "reading", to_document(Reading((sample(number),), (facts(),))))
    return SampledPool.objects.get()


def stored(pool: SampledPool, resolution: Resolution) -> list[Sample]:
    return list(series.samples_of(pool, resolution, 0, START * 2))


def test_a_sample_comes_back_as_it_came() -> None:
    pool = store(1)
    [found] = stored(pool, Resolution.RAW)
    assert found == replace(sample(1), vdevs=())
    [(at, seconds, vdevs)] = series.latencies_of(pool, Resolution.RAW, 0, START * 2)
    assert (at, seconds, vdevs) == (START + 10, 10.0, sample(1).vdevs)


@pytest.mark.parametrize("damage", [b"", b"no", zlib.compress(b"[]"), b"\xff" * 50])
def test_a_damaged_sample_is_a_gap_and_hides_no_other(damage: bytes) -> None:
    pool = store(1, 2, 3)
    StoredSample.objects.filter(at=START + 20).update(activity=damage, latency=damage)
    assert [found.at for found in stored(pool, Resolution.RAW)] == [START + 10, START + 30]
    whole = series.whole_samples_of(pool, Resolution.RAW, 0, START * 2)
    assert [found.at for found in whole] == [START + 10, START + 30]
    latencies = series.latencies_of(pool, Resolution.RAW, 0, START * 2)
    assert [at for at, _, _ in latencies] == [START + 10, START + 30]
    series.roll_up(datetime.fromtimestamp(START + 90, UTC))
    assert [minute.seconds for minute in stored(pool, Resolution.MINUTE)] == [20.0]


def test_a_sample_that_arrives_twice_counts_once() -> None:
    store(1, 1)
    assert StoredSample.objects.count() == 1


def test_it_keeps_the_properties_of_the_pool() -> None:
    assert store(1).facts == facts()
    SampledPool.objects.update(facts_document={"of": "another release"})
    assert SampledPool.objects.get().facts.datasets == ()


def test_minutes_and_hours_are_the_sum_of_their_parts() -> None:
    pool = store(*range(1, 361))
    series.roll_up(datetime.fromtimestamp(START + 3600 + 30, UTC))
    minutes, hours = stored(pool, Resolution.MINUTE), stored(pool, Resolution.HOUR)
    assert [minute.at for minute in minutes] == [START + 60 * number for number in range(1, 61)]
    assert [hour.at for hour in hours] == [START + 3600]
    everything = merge([sample(number) for number in range(1, 361)])
    assert hours[0] == replace(everything, vdevs=())
    [(_, _, vdevs)] = series.latencies_of(pool, Resolution.HOUR, 0, START * 2)
    assert vdevs == everything.vdevs


def test_a_minute_is_made_once_and_only_when_it_is_over() -> None:
    pool = store(*range(1, 8))
    series.roll_up(datetime.fromtimestamp(START + 70, UTC))
    assert stored(pool, Resolution.MINUTE) == []
    for seconds in (85, 90):
        series.roll_up(datetime.fromtimestamp(START + seconds, UTC))
        assert [minute.seconds for minute in stored(pool, Resolution.MINUTE)] == [60.0]


def test_a_minute_with_missed_samples_tells_how_much_of_it_was_seen() -> None:
    pool = store(1, 2, 6)
    series.roll_up(datetime.fromtimestamp(START + 100, UTC))
    assert [minute.seconds for minute in stored(pool, Resolution.MINUTE)] == [30.0]


def test_what_is_old_is_forgotten_but_not_its_minutes() -> None:
    pool = store(*range(1, 7))
    series.roll_up(datetime.fromtimestamp(START + 90, UTC))
    series.forget(datetime.fromtimestamp(START, UTC) + timedelta(days=2))
    assert stored(pool, Resolution.RAW) == []
    assert len(stored(pool, Resolution.MINUTE)) == 1


def test_beat_asks_every_host_and_rolls_up(sent: list[Sent]) -> None:
    Node.objects.create(name="nas")
    take_samples()
    roll_up_samples()
    assert [(each.task, each.queue) for each in sent] == [("host.sample", "host.nas")]
    assert sent[0].expires < 10
