"""What the wizard ticks by itself: only what the pool's samples say helps, on SSDs that are well, at its size."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from django.core.cache import cache as memory
from django.test import Client
from django.utils import timezone

from nasadvisor.console.change.models import StoredPlan
from nasadvisor.console.change.wizard import advice
from nasadvisor.console.evidence.models import SampledPool, StoredAnswer
from nasadvisor.console.evidence.watch import Watched, watched
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.domain.evidence.options import known_of
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.recommendation import Recommendation
from nasadvisor.domain.evidence.thresholds import HISTORY
from nasadvisor.domain.evidence.verdict import Answer, Device, Verdict
from nasadvisor.domain.evidence.workload import workload_of
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Bus, Inventory
from nasadvisor.domain.units import GIB, TIB
from nasadvisor.host.simulated.evidence import simulated_curve
from nasadvisor.stored.documents import to_document
from tests.simulated_host import SimulatedHost, simulated_host
from tests.unit.console.change.test_wizard import LAYOUT, choose, kept, press_on, show, text
from tests.unit.console.evidence.sampled import fill
from tests.unit.console.health.health_data import watched as swept
from tests.unit.domain.builders import mirrored_log
from tests.unit.domain.evidence.pools import sync_writers
from tests.unit.machines import (
    ARCHIVE,
    NVME1,
    NVME1_WWN,
    NVME2,
    TANK,
    home_server,
    ssd,
    with_disk,
    with_pool,
    with_single_log,
)

DEVICES = f"/wizard/{TANK}/devices/"
SATA = ssd("0x5002538e40a6ff01", "Samsung SSD 860 EVO", "A1", 500 * GIB, Bus.SATA, "sdy")
WAITS = Statement("slow-commits", "Programs wait.")
TOO_EARLY = Statement("too-early", "Too little was seen so far.")

Says = Callable[[Answer, Answer], None]


@pytest.fixture(autouse=True)
def host(tmp_path: Path) -> SimulatedHost:
    return simulated_host(tmp_path, home_server())


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> Says:
    """Lets the samples of the pool say whether a log and a cache help; their sizes are 2 GiB and 75 GiB."""

    def say(log: Answer, cache: Answer) -> None:
        facts = PoolFacts(TANK, "tank", "")
        verdicts = {
            device: Verdict(device, answer, WAITS if answer is Answer.HELPS else TOO_EARLY, (), 60.0)
            for device, answer in ((Device.LOG, log), (Device.CACHE, cache))
        }
        known = replace(
            known_of(workload_of(sync_writers(), facts), facts, HISTORY),
            log=verdicts[Device.LOG],
            cache=verdicts[Device.CACHE],
            log_size=Recommendation(2 * GIB, WAITS, is_measured=True),
            cache_size=Recommendation(75 * GIB, WAITS, is_measured=True),
        )
        told = Watched(known, first_at=0, last_at=60)
        monkeypatch.setattr(advice, "watched", lambda _series, _now: told)
        memory.clear()  # a minute later

    return say


def ticked(client: Client, role: str, inventory: Inventory) -> set[str]:
    """The keys of the disks that the page has ticked for a role."""
    page = text(client.get(DEVICES))
    names = {disk.kernel_name: disk.key for disk in inventory.disks}
    return {key for name, key in names.items() if f'id="{role}-{name}" autocomplete="off" checked' in page}


def with_ssds(*more: object) -> Inventory:
    inventory = home_server()
    return replace(inventory, disks=(*more, *inventory.disks))  # type: ignore[arg-type]


class TestWhatIsTicked:
    def test_a_log_and_a_cache_that_help_are_ticked_and_it_says_why(self, operator: Client, says: Says) -> None:
        says(Answer.HELPS, Answer.HELPS)
        assert ticked(operator, "log", home_server()) == ticked(operator, "cache", home_server()) == {NVME1, NVME2}
        page = text(operator.get(DEVICES))
        assert "Proposed" in page
        assert "Programs wait." in page

    def test_the_size_of_the_cache_is_that_of_the_curve_where_reads_were_followed(
        self, operator: Client, says: Says
    ) -> None:
        says(Answer.HELPS, Answer.HELPS)
        node = Node.objects.get()
        assert advice.Advice(node, home_server(), home_server().pools[0]).known.wanted.cache.size_bytes == 75 * GIB
        at = timezone.now()
        curve = to_document(simulated_curve(TANK, "tank", at.isoformat(timespec="seconds"), 3600, is_done=True))
        StoredAnswer.objects.create(
            form="cache-curve", node=node, pool_guid=TANK, asked_at=at, seconds=3600, document=curve
        )
        assert advice.Advice(node, home_server(), home_server().pools[0]).known.wanted.cache.size_bytes == 200 * GIB
        assert "200 GiB</span></summary> because a larger one gains less per GiB, by the cache curve." in text(
            operator.get(DEVICES)
        ).replace("\xa0", " ")

    def test_two_identical_nvme_ssds_and_not_a_sata_one_make_the_mirror(
        self, operator: Client, host: SimulatedHost, says: Says
    ) -> None:
        says(Answer.HELPS, Answer.NO)
        inventory = with_ssds(SATA)
        show(host, inventory)
        assert ticked(operator, "log", inventory) == {NVME1, NVME2}
        assert "Not proposed: The proposed SSDs are a better fit or are enough." in text(operator.get(DEVICES))

    def test_a_worn_ssd_with_media_errors_is_not_ticked_and_says_why(
        self, operator: Client, host: SimulatedHost, says: Says
    ) -> None:
        """The first NVMe SSD stands at 92 % and has media errors."""
        says(Answer.HELPS, Answer.HELPS)
        other = ssd("eui.0025385c2140105f", "Samsung SSD 960 EVO 500GB", "N3", 500 * 10**9, kernel="nvme2n1")
        inventory = with_ssds(other)
        show(host, inventory)
        swept(inventory, days=20)
        worn = StoredDisk.objects.get(serial="N3")
        assert (worn.percent_used or 0) > 80
        assert ticked(operator, "log", inventory) == {NVME1, NVME2}
        assert other.key not in ticked(operator, "cache", inventory)
        assert "Not proposed: The disk Samsung SSD 960 EVO 500GB (N3)" in text(operator.get(DEVICES))

    def test_an_ssd_that_failed_smart_is_not_ticked_and_says_why(
        self, operator: Client, host: SimulatedHost, says: Says
    ) -> None:
        says(Answer.HELPS, Answer.HELPS)
        swept(with_ssds(SATA), days=1)
        show(host, with_ssds(SATA))
        failing = {
            "version": 1,
            "code": "disk-failing",
            "template": "The disk {disk} reports that it is failing.",
            "values": {"disk": "Samsung SSD 860 EVO (A1)"},
            "level": "critical",
            "explanation": "",
            "subject": "",
            "measure": 0,
            "step": None,
            "place": "",
        }
        StoredDisk.objects.update(percent_used=1, media_errors=0, finding_documents=[])
        StoredDisk.objects.filter(serial="A1").update(finding_documents=[failing])
        assert SATA.key not in ticked(operator, "log", with_ssds(SATA)) | ticked(operator, "cache", with_ssds(SATA))
        page = text(operator.get(DEVICES))
        assert "Not proposed: The disk Samsung SSD 860 EVO (A1) reports that it is failing." in page

    def test_nothing_is_ticked_where_nothing_helps_and_the_evidence_says_why(
        self, operator: Client, says: Says
    ) -> None:
        says(Answer.CANNOT_TELL, Answer.NO)
        assert not ticked(operator, "log", home_server()) | ticked(operator, "cache", home_server())
        page = text(operator.get(DEVICES))
        assert "Nothing to add" in page
        assert "Too little was seen so far." in page

    def test_nothing_is_ticked_on_a_pool_that_nobody_has_watched(self, operator: Client) -> None:
        assert not ticked(operator, "log", home_server())
        page = text(operator.get(DEVICES))
        assert "has not been recorded yet" in page
        assert "Nothing to add" not in page, "nobody knows"

    def test_what_does_not_help_can_be_added_anyway(self, operator: Client, says: Says) -> None:
        says(Answer.NO, Answer.NO)
        assert "Add anyway" in text(operator.get(DEVICES))
        operator.post(DEVICES, {"anyway": "yes"})
        assert ticked(operator, "log", home_server()) == {NVME1, NVME2}
        assert kept(operator).cache_size == "37G"
        assert "Add anyway" not in text(operator.get(DEVICES)), "it is ticked now"

    def test_on_a_pool_with_a_mirrored_log_none_is_ticked(
        self, operator: Client, host: SimulatedHost, says: Says
    ) -> None:
        says(Answer.HELPS, Answer.NO)
        inventory, _ = mirrored_log()
        inventory = replace(inventory, disks=(SATA, *inventory.disks))
        show(host, inventory)
        assert not ticked(operator, "log", inventory)
        assert "Pool tank already has a log." in text(operator.get(DEVICES))

    def test_beside_a_single_log_none_is_ticked_and_its_mirror_is_offered(
        self, operator: Client, host: SimulatedHost, says: Says
    ) -> None:
        says(Answer.HELPS, Answer.NO)
        show(host, with_single_log())
        operator.post(f"/wizard/{TANK}/", {"goal": "add"})
        assert not ticked(operator, "log", with_single_log())
        assert "?goal=mirror" in text(operator.get(DEVICES))

    def test_the_second_side_that_was_asked_for_is_ticked_without_evidence(
        self, operator: Client, host: SimulatedHost
    ) -> None:
        show(host, with_single_log())
        operator.post(f"/wizard/{TANK}/", {"goal": "mirror"})
        assert ticked(operator, "log", with_single_log()) == {NVME2}
        assert not ticked(operator, "cache", with_single_log())

    def test_what_is_proposed_follows_the_evidence_until_somebody_chooses(self, operator: Client, says: Says) -> None:
        says(Answer.NO, Answer.NO)
        operator.post(f"/wizard/{TANK}/", {"goal": "add"})
        assert not ticked(operator, "log", home_server())
        says(Answer.HELPS, Answer.NO)
        assert ticked(operator, "log", home_server()) == {NVME1, NVME2}
        choose(operator, [], [NVME1])
        assert not ticked(operator, "log", home_server())


class TestSizes:
    def test_a_cache_has_the_recommended_size_however_it_came_to_be_ticked(self, operator: Client, says: Says) -> None:
        """A cache as large as fits once stood under the line "Recommended: 75G"."""
        says(Answer.NO, Answer.CANNOT_TELL)
        choose(operator, [], [NVME1])
        assert kept(operator).cache_size == "75G"
        choose(operator, [], [NVME1, NVME2])
        assert kept(operator).cache_size == "37G"
        page = text(operator.get(DEVICES))
        assert 'value="37G"' in page
        assert "75" in page

    def test_a_size_that_was_typed_stays(self, operator: Client, says: Says) -> None:
        says(Answer.NO, Answer.NO)
        choose(operator, [], [NVME1])
        choose(operator, [], [NVME1], **{**LAYOUT, "cache_size": "20G"})
        choose(operator, [], [NVME1, NVME2])
        assert kept(operator).cache_size == "20G"

    def test_a_recommended_size_that_was_looked_at_still_follows_the_number_of_ssds(
        self, operator: Client, says: Says
    ) -> None:
        says(Answer.NO, Answer.NO)
        choose(operator, [], [NVME1])
        choose(operator, [], [NVME1], **{**LAYOUT, "cache_size": "75G"})
        choose(operator, [], [NVME1, NVME2])
        assert kept(operator).cache_size == "37G"

    def test_without_evidence_a_cache_is_as_large_as_fits_but_for_its_headers(
        self, operator: Client, host: SimulatedHost
    ) -> None:
        choose(operator, [], [NVME1])
        assert kept(operator).cache_size == "", "all remaining space"
        huge = ssd(NVME1_WWN, "Samsung SSD 960 EVO 500GB", "N1", 4 * TIB)
        show(host, with_disk(home_server(), NVME1, identity=huge.identity, usable_end_bytes=huge.usable_end_bytes))
        choose(operator, [], [NVME1])
        assert kept(operator).cache_size == "2184G"
        assert "A full cache of" not in text(operator.get(DEVICES))

    def test_continuing_with_what_is_proposed_makes_a_plan_that_nobody_is_warned_of(
        self, operator: Client, says: Says
    ) -> None:
        says(Answer.HELPS, Answer.HELPS)
        choose(operator, [NVME1, NVME2], [NVME1, NVME2])
        draft = kept(operator)
        answers = {**LAYOUT, "log_size": draft.log_size, "cache_size": draft.cache_size}
        press_on(operator, [NVME1, NVME2], [NVME1, NVME2], **answers)
        request = StoredPlan.objects.get().plan.request
        assert (request.log_size_bytes, request.cache_size_bytes) == (2 * GIB, 37 * GIB)


class TestSameRulesAsTheDomain:
    def test_a_namespace_of_the_ssd_of_a_log_is_the_same_ssd_however_its_serial_is_written(
        self, operator: Client, host: SimulatedHost
    ) -> None:
        inventory = with_single_log()
        disk = inventory.disk(NVME2)
        assert disk
        identity = replace(disk.identity, serial=" n1")
        show(host, with_disk(inventory, NVME2, identity=identity))
        operator.post(f"/wizard/{TANK}/", {"goal": "mirror"})
        assert press_on(operator, [identity.key], []).status_code == 200
        assert kept(operator).log_disks == ()

    def test_a_disk_with_room_only_where_the_platform_keeps_its_own_says_so(
        self, operator: Client, host: SimulatedHost
    ) -> None:
        small = ssd("eui.00000000000000ff", "Tiny", "T1", 2 * GIB, kernel="nvme7n1")
        inventory = with_ssds(small)
        show(host, replace(inventory, host=replace(inventory.host, tail_bytes=2 * GIB)))
        assert press_on(operator, [], [small.key]).status_code == 200, "there is no room, so it is not offered"
        assert "nvme7n1" not in text(operator.get("/disks/")).partition("In pool")[0]


class TestOnePool:
    def test_with_one_pool_nothing_is_asked_about_pools(self, operator: Client, host: SimulatedHost) -> None:
        inventory = home_server()
        show(host, replace(inventory, pools=tuple(pool for pool in inventory.pools if pool.guid != ARCHIVE)))
        assert operator.get("/wizard/").headers["Location"] == DEVICES
        assert operator.get(f"/wizard/{TANK}/").headers["Location"] == DEVICES
        assert f'href="/pools/{TANK}/"' in text(operator.get(DEVICES))

    def test_one_pool_with_a_single_log_is_asked_what_to_do(self, operator: Client, host: SimulatedHost) -> None:
        inventory = with_single_log()
        show(host, replace(inventory, pools=tuple(pool for pool in inventory.pools if pool.guid != ARCHIVE)))
        assert "Mirror its single log" in text(operator.get("/wizard/"))

    def test_one_pool_that_cannot_be_used_says_why(self, operator: Client, host: SimulatedHost) -> None:
        inventory = with_pool(home_server(), checkpoint="1G")
        show(host, replace(inventory, pools=inventory.pools[:1]))
        assert "checkpoint" in text(operator.get("/wizard/"))


class TestButtons:
    def say(self, log: str, cache: str = "no") -> None:
        SampledPool.objects.create(node=Node.objects.get(), guid=TANK, name="tank", log_answer=log, cache_answer=cache)

    def is_primary(self, client: Client) -> bool:
        paths = ("/", f"/pools/{TANK}/", f"/pools/{TANK}/evidence/", "/storage/")
        pages = [text(client.get(path)) for path in paths]
        buttons = [re.search(rf'class="(btn [a-z0-9 -]*)" href="/wizard/(?:{TANK}/)?"', page) for page in pages]
        assert all(buttons[1:]), "Home has one only where an SSD is free"
        found = {"btn-primary" in button[1] for button in buttons if button}
        assert len(found) == 1, "all pages say the same"
        return found.pop()

    def test_it_is_the_main_button_where_something_would_help(self, operator: Client) -> None:
        self.say("helps")
        assert self.is_primary(operator)

    @pytest.mark.parametrize("answer", ["no", "little", "cannot-tell", ""])
    def test_it_is_quiet_where_nothing_would_or_nobody_knows(self, operator: Client, answer: str) -> None:
        self.say(answer)
        assert not self.is_primary(operator)

    def test_it_is_quiet_on_a_pool_whose_mirrored_log_helps_already(
        self, operator: Client, host: SimulatedHost
    ) -> None:
        self.say("helps")
        show(host, mirrored_log()[0])
        assert not self.is_primary(operator)

    def test_a_cache_that_would_help_makes_it_the_main_one_again(self, operator: Client, host: SimulatedHost) -> None:
        self.say("helps", "helps")
        show(host, mirrored_log()[0])
        assert self.is_primary(operator)


def test_the_evidence_of_a_week_is_gone_through_once_while_somebody_chooses(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, looks = fill(1), []

    def looked(series: SampledPool | None, now: datetime) -> Watched | None:
        looks.append(series)
        return watched(series, now)

    monkeypatch.setattr(advice, "watched", looked)
    memory.clear()
    for _again in range(3):
        choose(operator, [NVME1], [])
        operator.get(DEVICES)
    assert looks == [found]
