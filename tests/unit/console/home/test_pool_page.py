"""The pages of a pool: what is known of its scrubs, how full it was, and its commits on Home."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.utils import timezone

from nasadvisor.console.change.models import StoredRun, StoredRunState
from nasadvisor.console.change.runs.history import entries_of
from nasadvisor.console.evidence import series
from nasadvisor.console.evidence.models import Resolution, SampledPool
from nasadvisor.console.evidence.sparks import sparks_of
from nasadvisor.console.evidence.watch import keep_answers
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.inventory import growth_on
from nasadvisor.console.health.models import PoolDay, StoredDisk
from nasadvisor.console.storage.disks import is_free
from nasadvisor.domain.evidence.samples import DatasetActivity, Sample
from nasadvisor.domain.evidence.switched import run_id
from nasadvisor.domain.statements import Level
from nasadvisor.domain.storage.inventory import Scan
from nasadvisor.domain.units import TIB
from nasadvisor.stored.documents import to_document
from tests.fixtures.machines.build import typical
from tests.unit.console.change.test_wizard import LAYOUT
from tests.unit.console.conftest import Clock
from tests.unit.console.evidence.sampled import fill
from tests.unit.console.health.health_data import watched
from tests.unit.console.home.test_overview import failing, on_host
from tests.unit.console.test_pages import load, page
from tests.unit.machines import NVME1, TANK, home_server, with_cache, with_pool

POOL = typical().pools[0]
TYPICAL = f"/pools/{POOL.guid}/"


def commits(hours: int, *, ended_hours_ago: int = 0) -> SampledPool:
    """A pool of which so many hours were watched; in each more commits than in the one before."""
    node = Node.objects.get()
    pool = SampledPool.objects.create(node=node, guid=POOL.guid, name=POOL.name)
    end = int(timezone.now().timestamp()) // 3600 * 3600 - ended_hours_ago * 3600
    samples = [
        Sample(
            POOL.guid, POOL.name, end - age * 3600, 3600, (DatasetActivity("tank/db", commits=(hours - age) * 3600),)
        )
        for age in range(hours)
    ]
    series.save_samples(pool, Resolution.HOUR, samples)
    return pool


@pytest.mark.parametrize(
    ("scan", "last", "words"),
    [
        ("", Scan("scrub", "2026-08-09T04:10:00+00:00", 0), "scrub, ended"),
        ("", None, "None recorded."),
        ("scrub 41 %", None, "OpenZFS keeps a record of only one."),
    ],
)
def test_a_pool_says_what_is_known_of_its_scrubs(viewer: Client, scan: str, last: Scan | None, words: str) -> None:
    load(with_pool(home_server(), scan=scan, last_scan=last))
    text = page(viewer, f"/pools/{TANK}/")
    assert words in text
    assert "Unknown: scrubs are scheduled outside OpenZFS." in text
    assert (scan or "none running") in text


def test_a_cache_is_named_by_what_is_printed_on_its_ssd(viewer: Client) -> None:
    load(with_cache())
    text = page(viewer, f"/pools/{TANK}/")
    caches = text[text.index(">Caches<") :]
    disk = with_cache().disk(NVME1)
    assert disk
    assert disk.label in caches.partition("</ul>")[0]


def test_fragmentation_is_said_to_be_of_free_space_and_is_left_out_where_no_pool_tells(viewer: Client) -> None:
    load(with_pool(home_server(), fragmentation_percent=14))
    text = page(viewer, f"/pools/{TANK}/")
    assert "Free-space fragmentation: 14 %." in text
    assert "This is not the fragmentation of files." in text
    load(with_pool(home_server(), fragmentation_percent=None))
    assert "Free-space fragmentation" not in page(viewer, f"/pools/{TANK}/")


def test_how_full_a_pool_is_is_kept_once_a_day_and_drawn_from_the_second_on(viewer: Client) -> None:
    load(typical())
    load(typical())
    assert PoolDay.objects.filter(guid=POOL.guid).count() == 1
    assert "from the second day of monitoring" in page(viewer, TYPICAL)
    day = timezone.localtime().date() - timedelta(days=10)
    PoolDay.objects.create(
        node=Node.objects.get(), guid=POOL.guid, day=day, allocated_bytes=POOL.allocated_bytes - TIB, size_bytes=1
    )
    text = page(viewer, TYPICAL)
    assert "1 TiB more than on" in text
    assert 'class="line line-0"' in text


def test_what_was_freed_is_less_and_not_more(viewer: Client) -> None:
    load(typical())
    day = timezone.localtime().date() - timedelta(days=10)
    node = Node.objects.get()
    PoolDay.objects.create(node=node, guid=POOL.guid, day=day, allocated_bytes=POOL.allocated_bytes + TIB, size_bytes=1)
    assert "1 TiB less than on" in page(viewer, TYPICAL)


@pytest.mark.parametrize(("watched", "is_told"), [(6, False), (7, True), (8, True)])
def test_the_growth_of_a_pool_that_was_watched_for_a_week_tells_when_it_is_full(
    viewer: Client, watched: int, is_told: bool
) -> None:
    load(typical())
    node = Node.objects.get()
    now = timezone.now()
    before = timezone.localtime(now).date() - timedelta(days=watched)
    used = POOL.allocated_bytes - watched * TIB
    PoolDay.objects.create(node=node, guid=POOL.guid, day=before, allocated_bytes=used, size_bytes=1)
    assert growth_on(node, now) == ({POOL.guid: TIB} if is_told else {})


@pytest.mark.parametrize("of_the_hour", [timedelta(), timedelta(minutes=30), timedelta(minutes=59, seconds=35)])
def test_home_draws_the_commits_of_the_last_day(viewer: Client, clock: Clock, of_the_hour: timedelta) -> None:
    """The same hours are the last day's in every minute of an hour, its last one included."""
    clock.now = clock.now.replace(minute=0, second=0, microsecond=0) + of_the_hour
    load(typical())
    commits(30)
    text = page(viewer, "/")
    assert 'class="spark-line"' in text
    assert "Commits in the last 23 h:" in text
    assert "30.000/s" in text


def test_home_says_that_there_are_no_samples(viewer: Client) -> None:
    load(typical())
    words = "this pool was monitored for less than two minutes in the last 24 h"
    assert words in page(viewer, "/")
    commits(5, ended_hours_ago=40)
    text = page(viewer, "/")
    assert words in text
    assert "spark-line" not in text


def test_a_pool_without_commits_says_none_and_not_zero_a_second() -> None:
    load(typical())
    pool = SampledPool.objects.create(node=Node.objects.get(), guid=POOL.guid, name=POOL.name)
    now = int(timezone.now().timestamp())
    series.save_samples(pool, Resolution.MINUTE, [Sample(POOL.guid, POOL.name, now - age, 60) for age in (120, 60)])
    assert sparks_of([pool], timezone.now())[POOL.guid].most == 0


def waited(*seconds: float) -> None:
    """So long programs waited in the last hours; until the one that ended half an hour ago."""
    now = int(timezone.now().timestamp()) - 1800
    hours = [(now - 3600 * age, each) for age, each in enumerate(reversed(seconds))]
    SampledPool.objects.update(waited_hours=sorted(hours))


def test_home_draws_how_long_programs_waited_in_each_hour(viewer: Client) -> None:
    load(typical())
    commits(5)
    waited(*(3.0,) * 20, 75.0, 2.0)
    text = " ".join(page(viewer, "/").split())
    assert text.count('class="spark-line"') == 1
    assert "Waiting in the last 21 h.</span> By hour: last 2 s, peak 75 s" in text
    assert "Commits in the last" not in text


def test_hours_without_waiting_are_hardly_any_and_hours_of_yesterday_no_picture(viewer: Client) -> None:
    load(typical())
    commits(5)
    waited(0.0, 0.2, 0.0)
    assert "hardly any" in page(viewer, "/")
    SampledPool.objects.update(waited_hours=[(1_700_000_000 + hour * 3600, 5.0) for hour in range(24)])
    assert "Commits in the last" in page(viewer, "/")


def test_the_hours_of_a_day_add_up_to_what_was_waited_in_it() -> None:
    fill(hours=4)
    keep_answers(timezone.now())
    kept = SampledPool.objects.get()
    assert kept.waiting
    assert [at % 3600 for at, _ in kept.waited_hours] == [0] * len(kept.waited_hours)
    assert len(kept.waited_hours) in (3, 4)
    by_hours = sum(seconds for _, seconds in kept.waited_hours) / len(kept.waited_hours) * 24
    assert by_hours == pytest.approx(kept.waiting.waits.total_s, rel=0.35)
    SampledPool.objects.update(waited_hours=[(at, 1.0) for at, _ in kept.waited_hours])
    keep_answers(timezone.now())  # a minute later no further hour is over
    assert {seconds for _, seconds in SampledPool.objects.get(guid=kept.guid).waited_hours} == {1.0}


def test_the_pictures_of_many_pools_are_asked_for_at_once(django_assert_max_num_queries: object) -> None:
    load(typical())
    node = Node.objects.get()
    pools = [SampledPool.objects.create(node=node, guid=str(number), name=f"p{number}") for number in range(20)]
    with django_assert_max_num_queries(2):  # type: ignore[operator]
        assert sparks_of(pools, timezone.now()) == {}


def test_the_history_of_a_pool_has_only_its_own_runs(viewer: Client) -> None:
    load(replace(home_server()))
    assert "NAS Advisor has not changed this pool." in page(viewer, f"/pools/{TANK}/history/")
    assert viewer.get("/pools/4711/history/").status_code == 404


def switched(record: UUID, number: int, state: StoredRunState = StoredRunState.UNDONE) -> StoredRun:
    """A run by which a proof took the cache out, and put it back."""
    return StoredRun.objects.create(
        id=UUID(run_id(str(record), number, 0)),
        node=Node.objects.get(),
        pool_guid=TANK,
        pool_name="tank",
        document={},
        state=state,
        requested_by="anna",
        requested_at=timezone.now() + timedelta(minutes=number),
    )


def test_the_runs_of_a_proof_are_one_line_of_a_pools_history(operator: Client) -> None:
    load(replace(home_server()))
    record = uuid4()
    for number in range(16):
        switched(record, number)
    somebody = switched(record, 16)
    StoredRun.objects.filter(pk=somebody.pk).update(id=uuid4())
    text = page(operator, f"/pools/{TANK}/history/")
    assert "Randomised cache test: 16 runs" in text
    assert text.count("run-row-sub") == 17


def test_a_run_of_a_proof_that_has_the_cache_out_or_failed_is_not_folded_away(operator: Client) -> None:
    load(replace(home_server()))
    record = uuid4()
    for number in range(4):
        switched(record, number)
    last = switched(record, 4, StoredRunState.APPLIED)
    entries, more = entries_of(StoredRun.objects.filter(pool_guid=TANK), 50)
    assert [(entry.is_proof, len(entry.rows)) for entry in entries] == [(False, 1), (True, 4)]
    assert entries[0].rows[0].stored == last
    assert more == 0
    assert entries_of(StoredRun.objects.filter(pool_guid=TANK), 1)[1] == 4


def test_beside_the_state_of_a_pool_stands_that_a_disk_of_it_fails(viewer: Client) -> None:
    """It stood there as ONLINE and nothing else."""
    watched(typical(), days=0)
    assert "Failing" not in page(viewer, "/storage/")
    failing()
    for path in ("/", "/storage/", TYPICAL, f"{TYPICAL}history/", f"{TYPICAL}evidence/"):
        assert "1 disk: Failing" in " ".join(page(viewer, path).split()), path


def test_the_page_of_a_pool_says_first_that_a_disk_of_it_fails(viewer: Client) -> None:
    watched(typical(), days=0)
    failing()
    page_of_pool = page(viewer, TYPICAL)
    assert "reports that it is failing" in page_of_pool.partition("No scrub of pool")[0]


def test_all_that_is_said_of_one_disk_stands_in_one_notice_under_its_name(viewer: Client) -> None:
    watched(typical(), days=0)
    disk = failing()
    [worst] = StoredDisk.objects.get(pk=disk.pk).findings
    unread = "The disk {disk} currently cannot read 18 of its sectors."
    pending = replace(worst, code="pending-sectors", template=unread, level=Level.WARNING)
    both = [to_document(pending), to_document(worst)]
    StoredDisk.objects.filter(pk=disk.pk).update(finding_documents=both)
    notices = page(viewer, TYPICAL).partition("<section>")[0].split('<div class="notice ')[1:]
    [notice] = [each for each in notices if f'href="/disks/{disk.key}/"' in each]
    assert notice.startswith("notice-critical")
    assert "reports that it is failing" in notice
    assert "cannot read 18 of its sectors" in notice
    assert notice.count(f"({disk.serial})") == 1


def test_who_adds_to_a_pool_of_which_a_disk_fails_is_told_so_before_and_at_the_review(operator: Client) -> None:
    """The wizard was silent of it."""
    watched(typical(), days=0)
    disk = failing()
    devices = f"/wizard/{POOL.guid}/devices/"
    assert "reports that it is failing" in page(operator, devices)
    free = [each.key for each in typical().disks if not each.rotational and is_free(each, typical().host)][:2]
    review = operator.post(devices, {"log": free, "cache": [], **LAYOUT})
    assert review.status_code == 302, review.content.decode()
    text = page(operator, review.headers["Location"])
    assert "reports that it is failing" in text
    assert f'href="/disks/{disk.key}/"' in text


@pytest.mark.parametrize("tab", ["", "history/", "evidence/"])
def test_a_link_that_names_no_host_leads_to_the_pool_of_whichever_has_it(viewer: Client, tab: str) -> None:
    """Messages and disks of other hosts link so."""
    load(typical())
    on_host("nas2", home_server())
    text = page(viewer, f"/pools/{TANK}/{tab}")
    assert "nas2" in text
    assert page(viewer, f"{TYPICAL}{tab}").count("nas2") < text.count("nas2")


def test_a_pool_that_no_host_has_is_not_found(viewer: Client) -> None:
    load(typical())
    on_host("nas2", home_server())
    assert viewer.get("/pools/77/").status_code == 404
