"""Whole disks as log and cache by TrueNAS itself; against a stand-in. One test for each hazard."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nasadvisor.domain.change.actions import Role
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.change.journal import JournalUnwritable
from nasadvisor.host.errors import RulesForbid
from plugins.truenas.api.access import TrueNasAccess
from plugins.truenas.api.connection import session_with
from plugins.truenas.api.errors import (
    CallRefused,
    ConnectionLost,
    EndNotSeen,
    JobFailed,
    JobOutOfSight,
    NoAnswer,
    VersionOutside,
)
from plugins.truenas.api.jobs import ATTEMPTS, RETRY_S, JobProgress
from plugins.truenas.api.reading import read_picture
from plugins.truenas.api.records import AddedVdev, RecordState
from plugins.truenas.api.whole_disks import WholeDisks, add, shown
from tests.unit.truenas.conftest import Office
from tests.unit.truenas.standin import SSD_BYTES, StandIn, disk, identifier, partition

MIRROR_AND_CACHE = WholeDisks("tank", (identifier("SSD1"), identifier("SSD2")), (identifier("SSD3"),))
SINGLE = WholeDisks("tank", (identifier("SSD1"),))


def codes_of(wish: WholeDisks, office: Office) -> set[str]:
    """Why it is refused; nothing may have been asked of TrueNAS then."""
    with pytest.raises(RulesForbid) as refused:
        add(wish, "r1", office.desk)
    assert office.desk.records.all() == ()
    return {refusal.code for refusal in refused.value.refusals}


def test_truenas_is_asked_once_with_the_kernel_names_of_the_moment(truenas: StandIn, office: Office) -> None:
    record = add(MIRROR_AND_CACHE, "r1", office.desk)
    topology = {"log": [{"type": "MIRROR", "disks": ["sdb", "sdc"]}], "cache": [{"type": "STRIPE", "disks": ["sdd"]}]}
    assert truenas.called("pool.update") == [[3, {"topology": topology}]]
    assert record.added == (AddedVdev(Role.CACHE, "203", ("203",)), AddedVdev(Role.LOG, "9201", ("201", "202")))
    assert record.pool_vdevs == ("101",)
    assert office.desk.records.read("r1") == record


def test_a_disk_that_moved_is_named_as_it_is_called_now(truenas: StandIn, office: Office) -> None:
    truenas.disk("sdb")["name"] = "sdz"
    add(SINGLE, "r1", office.desk)
    assert truenas.called("pool.update")[0][1] == {"topology": {"log": [{"type": "STRIPE", "disks": ["sdz"]}]}}


def test_the_progress_of_the_job_is_told_as_it_changes(truenas: StandIn, office: Office) -> None:
    add(SINGLE, "r1", office.desk)
    assert [(each.state, each.percent) for each in office.seen] == [("RUNNING", 33), ("RUNNING", 66), ("SUCCESS", 100)]


def test_the_call_is_shown_before(truenas: StandIn, office: Office) -> None:
    with office.desk.sessions() as session:
        text = shown(SINGLE, read_picture(session))
    assert text == """midclt call --job pool.update 3 '{"topology": {"log": [{"type": "STRIPE", "disks": ["sdb"]}]}}'"""


@pytest.mark.parametrize("version", ["25.04.2", "24.10", "27.0.0", "28.1"])
def test_a_version_outside_the_range_can_be_read_but_not_changed(
    truenas: StandIn, office: Office, version: str
) -> None:
    truenas.version = version
    with office.desk.sessions() as session:
        assert read_picture(session).inventory.pools[0].name == "tank"
    with pytest.raises(VersionOutside, match=f"version {version}.*can still read"):
        add(SINGLE, "r1", office.desk)
    assert truenas.called("pool.update") == []


@pytest.mark.parametrize("version", ["25.10", "25.10.6", "26.0.0", "26.0.0-BETA.3", "26.4"])
def test_versions_in_the_range_may_be_changed(truenas: StandIn, office: Office, version: str) -> None:
    truenas.version = version
    assert add(SINGLE, "r1", office.desk).state is RecordState.ADDED


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"imported_zpool": "other"}, "disk-pool"),
        ({"exported_zpool": "backup"}, "disk-exported-pool"),
        ({"imported_zpool": "boot-pool"}, "disk-boot"),
        ({"duplicate_serial": ["sdx"]}, "disk-duplicate"),
        ({"dif": True}, "protection-information"),
        ({"sectorsize": 8192}, "sector-too-large"),
        ({"partitions": [partition("sdb", 1, MIB, GIB, "x")]}, "disk-not-blank"),
        ({"size": SSD_BYTES + MIB}, "disks-differ"),
        ({"serial": "SSD2"}, "same-disk"),
        ({"identifier": "{serial_lunid}other"}, "disk-gone"),
    ],
)
def test_a_disk_that_holds_something_or_does_not_fit_is_refused(
    truenas: StandIn, office: Office, change: dict[str, Any], code: str
) -> None:
    truenas.disk("sdb").update(change)
    assert codes_of(MIRROR_AND_CACHE, office) == {code}
    assert truenas.called("pool.update") == []


@pytest.mark.parametrize("status", ["DEGRADED", "FAULTED", "SUSPENDED"])
def test_a_pool_that_is_not_in_order_is_refused(truenas: StandIn, office: Office, status: str) -> None:
    truenas.pools[0]["status"] = status
    assert codes_of(SINGLE, office) <= {"pool-not-online", "pool-suspended"}


def test_a_wish_that_makes_no_sense_is_refused(truenas: StandIn, office: Office) -> None:
    ssd = identifier("SSD1")
    assert codes_of(WholeDisks("tank"), office) == {"nothing-to-do"}
    assert codes_of(WholeDisks("other", (ssd,)), office) == {"pool-gone"}
    assert codes_of(WholeDisks("tank", (ssd,), (ssd,)), office) == {"role-twice"}
    assert codes_of(WholeDisks("tank", (ssd, ssd)), office) == {"disk-twice", "same-disk"}


def test_nothing_is_asked_without_a_durable_record(truenas: StandIn, office: Office) -> None:
    office.desk.records.directory.write_text("in the way", encoding="ascii")
    with pytest.raises(JournalUnwritable):
        add(SINGLE, "r1", office.desk)
    assert truenas.called("pool.update") == []


def test_truenas_may_refuse(truenas: StandIn, office: Office) -> None:
    extra = [["pool_update.topology", "The following disks were not found: sdb.", 22]]
    truenas.refused["pool.update"] = {"code": -32602, "message": "Invalid params", "data": {"extra": extra}}
    with pytest.raises(CallRefused, match=r"not found: sdb\. The operation may already have changed something"):
        add(SINGLE, "r1", office.desk)
    assert office.desk.records.read("r1").state is RecordState.ASKED


def test_a_job_that_fails_is_said_with_its_reason_and_not_tried_again(truenas: StandIn, office: Office) -> None:
    truenas.job_error = "[EFAULT] Partitioning of sdb failed"
    with pytest.raises(JobFailed, match=r"job 1234 \(pool.update\) ended as FAILED: .EFAULT. Partitioning of sdb"):
        add(SINGLE, "r1", office.desk)
    assert len(truenas.called("pool.update")) == 1
    assert office.desk.records.read("r1").state is RecordState.ASKED


def test_a_connection_lost_in_the_middle_of_a_job_is_opened_again(truenas: StandIn, office: Office) -> None:
    truenas.cut_at += ["core.get_jobs", "core.get_jobs"]
    record = add(SINGLE, "r1", office.desk)
    assert record.state is RecordState.ADDED
    assert office.waited.count(RETRY_S) == 2
    assert len(truenas.called("pool.update")) == 1, "the job runs on: it is looked up, never started again"


def test_a_truenas_that_does_not_come_back_leaves_the_job_out_of_sight(truenas: StandIn, office: Office) -> None:
    truenas.cut_at += ["core.get_jobs"] * ATTEMPTS
    with pytest.raises(JobOutOfSight, match=r"job 1234 .* may still be running.*Check the job under Jobs"):
        add(SINGLE, "r1", office.desk)
    assert office.desk.records.read("r1").state is RecordState.ASKED


def test_a_key_that_expires_in_the_middle_of_a_job_leaves_it_out_of_sight(truenas: StandIn, office: Office) -> None:
    def expire(_: JobProgress) -> None:
        truenas.login_answer = {"response_type": "EXPIRED"}
        truenas.cut_at.append("core.get_jobs")

    with pytest.raises(JobOutOfSight, match="expired or was revoked"):
        add(SINGLE, "r1", replace(office.desk, observe=expire))
    assert len(truenas.called("pool.update")) == 1


@pytest.mark.parametrize("jobs", [[], [{"id": 1}], [{"id": 1234, "state": "LATER"}], "gone", [[]]])
def test_a_job_of_another_shape_is_out_of_sight(truenas: StandIn, office: Office, jobs: Any) -> None:
    truenas.results["core.get_jobs"] = jobs or [{}]
    with pytest.raises(JobOutOfSight, match="may still be running"):
        add(SINGLE, "r1", office.desk)


@pytest.mark.parametrize(("trouble", "error"), [("silent", NoAnswer), ("cut_at", ConnectionLost)])
def test_when_nobody_knows_whether_it_began_that_is_said(
    truenas: StandIn, access: TrueNasAccess, office: Office, trouble: str, error: type[Exception]
) -> None:
    desk = replace(office.desk, sessions=lambda: session_with(access, timeout_s=2))
    {"silent": truenas.silent.add, "cut_at": truenas.cut_at.append}[trouble]("pool.update")
    with pytest.raises(error, match="The operation may already have changed something"):
        add(SINGLE, "r1", desk)
    assert office.desk.records.read("r1").state is RecordState.ASKED


NOT_AS_ASKED = "ended as SUCCESS: pool tank does not show exactly the requested SSDs"


def test_what_is_said_to_be_done_but_is_not_there_is_a_failure(truenas: StandIn, office: Office) -> None:
    truenas._extend = lambda *_: None  # type: ignore[method-assign]
    with pytest.raises(JobFailed, match=NOT_AS_ASKED):
        add(SINGLE, "r1", office.desk)
    assert office.desk.records.read("r1").state is RecordState.ASKED


def _lose_a_cache(truenas: StandIn) -> None:
    truenas.pools[0]["topology"]["cache"].pop()


def _take_the_mirror_apart(truenas: StandIn) -> None:
    topology = truenas.pools[0]["topology"]
    topology["log"] = topology["log"][0]["children"]


def _break_a_side(truenas: StandIn) -> None:
    truenas.pools[0]["topology"]["log"][0]["children"][1]["status"] = "UNAVAIL"


def _put_it_on_another_disk(truenas: StandIn) -> None:
    truenas.disks.append(disk("sdf", "OTHER", imported_zpool="tank", partitions=truenas.disk("sdd")["partitions"]))
    truenas.disk("sdd").update(partitions=[], imported_zpool=None)


def _add_them_as_special(truenas: StandIn) -> None:
    topology = truenas.pools[0]["topology"]
    topology["special"], topology["log"] = topology["log"], []


@pytest.mark.parametrize(
    "foul", [_lose_a_cache, _take_the_mirror_apart, _break_a_side, _put_it_on_another_disk, _add_them_as_special]
)
def test_what_came_of_it_otherwise_than_asked_is_never_called_added(
    truenas: StandIn, office: Office, foul: Callable[[StandIn], None]
) -> None:
    extend = truenas._extend
    truenas._extend = lambda *args: (extend(*args), foul(truenas))[0]  # type: ignore[method-assign, func-returns-value]
    with pytest.raises(JobFailed, match=NOT_AS_ASKED):
        add(MIRROR_AND_CACHE, "r1", office.desk)
    record = office.desk.records.read("r1")
    assert record.state is RecordState.ASKED
    assert record.guids, "the guids that were seen are kept, so that the undo finds them again"


def test_a_pool_that_goes_offline_before_the_end_was_seen_is_never_called_added(
    truenas: StandIn, office: Office
) -> None:
    extend = truenas._extend
    truenas._extend = lambda *args: (extend(*args), truenas.take_offline())[0]  # type: ignore[method-assign, func-returns-value]
    with pytest.raises(EndNotSeen, match=r"job 1234 .* has ended.*does not currently show the devices of pool tank"):
        add(SINGLE, "r1", office.desk)
    assert office.desk.records.read("r1").state is RecordState.ASKED


def test_a_connection_lost_before_the_end_was_seen_leaves_it_open(truenas: StandIn, office: Office) -> None:
    def cut(progress: JobProgress) -> None:
        truenas.cut_at += ["pool.query"] if progress.state == "SUCCESS" else []

    with pytest.raises(EndNotSeen, match="could not be verified and recorded"):
        add(SINGLE, "r1", replace(office.desk, observe=cut))
    assert office.desk.records.read("r1").state is RecordState.ASKED


def test_an_end_that_cannot_be_recorded_is_not_said_to_have_changed_nothing(truenas: StandIn, office: Office) -> None:
    def fill(progress: JobProgress) -> None:
        if progress.state == "SUCCESS":
            directory = office.desk.records.directory
            directory.rename(directory.with_name("away"))
            directory.touch()

    with pytest.raises(EndNotSeen, match="Check the pool in TrueNAS"):
        add(SINGLE, "r1", replace(office.desk, observe=fill))
