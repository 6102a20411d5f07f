"""The bill of an SSD that holds a pool's data: from hours of samples to lines, advice, the page and the interface."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from nasadvisor.console.accounts.models import ApiToken
from nasadvisor.console.evidence import series
from nasadvisor.console.evidence.models import Resolution, SampledPool
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health import bytes_by_role
from nasadvisor.console.health.bytes_by_role import LINES_A_DAY, LINES_KEPT, written_by_role, written_by_whom
from nasadvisor.console.health.models import RatedEndurance, StoredDisk, WrittenDay
from nasadvisor.console.health.wear_bill import DiskBill, bill_of_disk
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.evidence.pool_facts import DatasetFacts, LeafFacts, PoolFacts
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import DatasetActivity, DiskActivity, Sample, VdevActivity
from nasadvisor.domain.fleet.platforms import Guest, PlatformReport
from nasadvisor.domain.health.wear.forecast import Forecast, Spread
from nasadvisor.domain.storage.inventory import Hold, HoldKind, Inventory, VdevClass
from nasadvisor.domain.units import GIB, KIB, MIB
from nasadvisor.stored.documents import to_document
from tests.unit.console.health.test_bytes_by_role import NOW, seen_at, ssd
from tests.unit.console.test_pages import page
from tests.unit.machines import NVME1, TANK, home_server, leaf_on, partition, with_partitions, with_pool

DATA = "61"
NAMES = ("tank/vm-100-disk-0", "tank/vm-100-disk-1", "tank/db", *(f"tank/home{number}" for number in range(4)))
REPORT = "/reports/now/"
PER_YEAR = Spread(8.0, 10.0, 14.0)
WORN = Forecast(0.0, 40.0, None, Spread(1e9, 2e9, 3e9), PER_YEAR, (), enough_history=True, findings=())


def machine() -> Inventory:
    """The home server with a pool on one SSD, and a slice beside it."""
    inventory = home_server()
    disk = inventory.disk(NVME1)
    assert disk
    disk = with_partitions(disk, partition(disk, 1, MIB, 400 * GIB, Hold(HoldKind.POOL, "tank")))
    changed = replace(inventory, disks=tuple(disk if each.key == NVME1 else each for each in inventory.disks))
    return with_pool(changed, data=(replace(leaf_on(disk, DATA, 1), ashift=12),))


def facts() -> PoolFacts:
    datasets = [DatasetFacts(name, False, "standard", "latency", 128 * KIB) for name in NAMES]
    leaf = LeafFacts(DATA, VdevClass.NORMAL, "data", "nvme0n1", False)
    return PoolFacts(TANK, "tank", "", tuple(datasets), (leaf,))


def hours(count: int) -> list[Sample]:
    """In each, two disks of a guest write 2 GiB, a database 256 MiB in small blocks, others little; 5 GiB arrive."""
    active = [DatasetActivity(name, writes=8, written_bytes=8 * MIB) for name in NAMES[3:]]
    active += [DatasetActivity(name, writes=1024, written_bytes=GIB) for name in NAMES[:2]]
    active += [DatasetActivity("tank/db", writes=16384, written_bytes=256 * MIB)]
    vdevs, disks = (VdevActivity(DATA, written_bytes=4 * GIB),), (DiskActivity("nvme0n1", written_bytes=5 * GIB),)
    ends = [int((NOW - timedelta(hours=age)).timestamp()) for age in range(count - 1, -1, -1)]
    return [Sample(TANK, "tank", at, 3600.0, tuple(active), vdevs, disks) for at in ends]


@pytest.fixture
def watched() -> None:
    seen_at(machine(), NOW - timedelta(days=9))
    seen_at(machine(), NOW)
    take_answer("nas", "reading", to_document(Reading((), (facts(),))))
    guests = tuple(Guest(name, "VM 100 (mail)") for name in NAMES[:2])
    Node.objects.update(platform_document=to_document(PlatformReport("nas", "", guests=guests)))
    series.save_samples(SampledPool.objects.get(), Resolution.HOUR, hours(48))
    bytes_by_role.add_up()


def bill(rating: RatedEndurance | None = None) -> DiskBill:
    found = bill_of_disk(ssd(), WORN, rating, NOW)
    assert found
    return found


@pytest.mark.usefixtures("watched")
def test_each_writer_has_its_line_and_the_sum_is_what_the_kernel_counted() -> None:
    found = bill()
    lines = {row.line.name or row.line.kind.value: row.line.device_bytes / 48 for row in found.rows}
    assert list(lines)[:3] == ["VM 100 (mail)", "tank/db", "others"]
    assert lines["VM 100 (mail)"] == 2 * GIB
    assert lines["others"] == GIB
    assert sum(lines.values()) == 5 * GIB
    assert found.written.bill.bytes_of("data") == written_by_role([ssd()], NOW)[ssd().pk].bill.bytes_of("data")
    assert len(found.first) == 5
    assert len(found.folded) == len(found.rows) - 5


@pytest.mark.usefixtures("watched")
def test_it_says_how_long_the_ssd_lasts_without_each_what_each_costs_and_what_to_do() -> None:
    found = bill(RatedEndurance(price=200))
    assert found.cost == 20.0
    top = found.rows[0]
    assert top.percent_per_year
    assert top.years_without
    assert top.percent_per_year.middle == pytest.approx(10 * top.share)
    assert top.years_without.middle == pytest.approx(6 / (1 - top.share))
    assert sum(row.cost or 0 for row in found.rows) == pytest.approx(20)
    [advice] = found.advice
    assert "`zfs set recordsize=16K tank/db`" in str(advice.statement)
    assert advice.months
    assert advice.bytes_per_day == pytest.approx(1.72 * GIB * 24, rel=0.01)


@pytest.mark.usefixtures("watched")
def test_lines_are_kept_as_long_as_a_bill_looks_back_and_the_rest_is_still_in_its_role() -> None:
    later = NOW + LINES_KEPT + timedelta(days=3)
    bytes_by_role.forget(later)
    assert not any(day.lines for day in WrittenDay.objects.all())
    [written] = written_by_whom([ssd()], NOW).values()
    assert {line.kind.value for line in written.bill.lines} == {"undivided", "others"}
    assert written.bill.total == 48 * 5 * GIB


@pytest.mark.usefixtures("watched")
def test_of_many_writers_the_largest_are_named_and_nothing_is_lost() -> None:
    WrittenDay.objects.update(lines=[])
    many = tuple(DatasetActivity(f"tank/d{n}", writes=n, written_bytes=n * MIB) for n in range(1, 90))
    later = NOW + timedelta(hours=1)
    [sample] = hours(1)
    series.save_samples(
        SampledPool.objects.get(), Resolution.HOUR, [replace(sample, at=int(later.timestamp()), datasets=many)]
    )
    bytes_by_role.add_up()
    assert max(len(day.lines) for day in WrittenDay.objects.all()) == LINES_A_DAY
    [written] = written_by_whom([ssd()], NOW).values()
    assert written.bill.total == 49 * 5 * GIB


@pytest.mark.usefixtures("watched")
def test_the_page_shows_five_writers_and_folds_the_rest(viewer: Client) -> None:
    text = page(viewer, f"/disks/{ssd().key}/")
    assert "VM 100 (mail)" in text
    assert "2 more writers" in text
    assert "Write amplification of ZFS" in text
    assert "zfs set recordsize=16K tank/db" in text


@pytest.mark.usefixtures("watched")
def test_a_price_is_entered_beside_the_rating(operator: Client) -> None:
    rated = {"terabytes": "600", "erases": "", "write_amplification": "2", "price": "120"}
    operator.post(f"/wear/{ssd().pk}/rating/", rated)
    assert RatedEndurance.objects.get().price == 120


@pytest.mark.usefixtures("watched")
def test_the_interface_has_the_bill(client: Client) -> None:
    maker = User.objects.create_user("maker", is_superuser=True)
    ApiToken.objects.create(name="t", digest=ApiToken.digest_of("t"), created_by=maker)
    heads = {"Authorization": "Bearer t"}
    found = client.get(f"/api/v1/disks/{ssd().pk}/wear", headers=heads).json()
    assert found["bytes_per_day"] == 24 * 5 * GIB
    assert sum(line["bytes_per_day"] for line in found["lines"]) == pytest.approx(24 * 5 * GIB, abs=9)
    assert {line["kind"] for line in found["lines"]} == {"guest", "dataset", "others"}
    assert found["advice"][0]["code"] == "wear-records"
    other = StoredDisk.objects.get(serial="N2")
    assert client.get(f"/api/v1/disks/{other.pk}/wear", headers=heads).status_code == 404


@pytest.mark.usefixtures("watched")
def test_the_report_names_the_largest_writers(viewer: Client) -> None:
    StoredDisk.objects.filter(serial="N1").update(read_at=NOW, outcome="read")
    text = page(viewer, REPORT)
    assert "tank/db 39 %" in text.replace("\xa0", " ")
    assert "VM 100 (mail)" in text


@pytest.mark.usefixtures("watched")
def test_the_report_says_of_an_ssd_that_is_in_no_pool_who_does_not_write_it(viewer: Client) -> None:
    written = {"read_at": NOW, "outcome": "read", "bytes_per_day": 4e11}
    StoredDisk.objects.filter(serial="N2").update(pool_name="", **written)
    row = page(viewer, REPORT).partition("N2")[2].partition("</tr>")[0]
    assert "Outside of pools" in row
    StoredDisk.objects.filter(serial="N2").update(pool_name="other")
    row = page(viewer, REPORT).partition("N2")[2].partition("</tr>")[0]
    assert "Outside of pools" not in row, "of another pool nobody has counted yet"
