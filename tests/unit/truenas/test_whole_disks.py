"""Whole disks as log and cache by TrueNAS itself, and back; against a stand-in. One test for each hazard."""

from dataclasses import replace
from typing import Any

import pytest

from nasadvisor.domain.actions import Role
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.errors import RulesForbid
from nasadvisor.host.journal import JournalUnwritable
from plugins.truenas.api.access import Access
from plugins.truenas.api.errors import CallRefused, ConnectionLost, JobFailed, JobOutOfSight, NoAnswer, VersionOutside
from plugins.truenas.api.jobs import ATTEMPTS, RETRY_S, Progress
from plugins.truenas.api.reading import read_picture
from plugins.truenas.api.records import AddedVdev, Record, RecordState, RecordUnknown
from plugins.truenas.api.session import session_with
from plugins.truenas.api.whole_disks import Wish, add, added_by, shown, take_back
from tests.unit.truenas.conftest import Office
from tests.unit.truenas.standin import SSD_BYTES, StandIn, disk, identifier, leaf, partition, stats

MIRROR_AND_CACHE = Wish("tank", (identifier("SSD1"), identifier("SSD2")), (identifier("SSD3"),))
SINGLE = Wish("tank", (identifier("SSD1"),))


def codes_of(wish: Wish, office: Office) -> set[str]:
    """Why it is refused; nothing may have been asked of TrueNAS then."""
    with pytest.raises(RulesForbid) as refused:
        add(wish, "r1", office.desk)
    assert office.desk.records.all() == ()
    return {refusal.code for refusal in refused.value.refusals}


def test_truenas_is_asked_once_with_the_kernel_names_of_the_moment(truenas: StandIn, office: Office) -> None:
    record = add(MIRROR_AND_CACHE, "r1", office.desk)
    topology = {"log": [{"type": "MIRROR", "disks": ["sdb", "sdc"]}], "cache": [{"type": "STRIPE", "disks": ["sdd"]}]}
    assert truenas.called("pool.update") == [[3, {"topology": topology}]]
    assert record.added == (AddedVdev(Role.CACHE, "203"), AddedVdev(Role.LOG, "9201"))
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
    assert codes_of(Wish("tank"), office) == {"nothing-to-do"}
    assert codes_of(Wish("other", (ssd,)), office) == {"pool-gone"}
    assert codes_of(Wish("tank", (ssd,), (ssd,)), office) == {"role-twice"}
    assert codes_of(Wish("tank", (ssd, ssd)), office) == {"disk-twice", "same-disk"}


def test_nothing_is_asked_without_a_durable_record(truenas: StandIn, office: Office) -> None:
    office.desk.records.directory.write_text("in the way", encoding="ascii")
    with pytest.raises(JournalUnwritable):
        add(SINGLE, "r1", office.desk)
    assert truenas.called("pool.update") == []


def test_truenas_may_refuse(truenas: StandIn, office: Office) -> None:
    extra = [["pool_update.topology", "The following disks were not found: sdb.", 22]]
    truenas.refused["pool.update"] = {"code": -32602, "message": "Invalid params", "data": {"extra": extra}}
    with pytest.raises(CallRefused, match=r"not found: sdb\. It may have changed something"):
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
    with pytest.raises(JobOutOfSight, match=r"job 1234 .* may still be running.*Look it up under Jobs"):
        add(SINGLE, "r1", office.desk)
    assert office.desk.records.read("r1").state is RecordState.ASKED


def test_a_key_that_expires_in_the_middle_of_a_job_leaves_it_out_of_sight(truenas: StandIn, office: Office) -> None:
    def expire(_: Progress) -> None:
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


def test_an_update_that_nobody_saw_the_end_of_can_be_taken_back(truenas: StandIn, office: Office) -> None:
    truenas.cut_at += ["core.get_jobs"] * ATTEMPTS
    with pytest.raises(JobOutOfSight):
        add(MIRROR_AND_CACHE, "r1", office.desk)
    truenas.polls_of_a_job = 0
    truenas._look_at_job(1234)
    record, notes = take_back(office.desk.records.read("r1"), office.desk)
    assert (record.state, notes) == (RecordState.TAKEN_BACK, ())
    assert truenas.pools[0]["topology"]["log"] == truenas.pools[0]["topology"]["cache"] == []


@pytest.mark.parametrize(("trouble", "error"), [("silent", NoAnswer), ("cut_at", ConnectionLost)])
def test_when_nobody_knows_whether_it_began_that_is_said(
    truenas: StandIn, access: Access, office: Office, trouble: str, error: type[Exception]
) -> None:
    desk = replace(office.desk, sessions=lambda: session_with(access, timeout_s=10))
    {"silent": truenas.silent.add, "cut_at": truenas.cut_at.append}[trouble]("pool.update")
    with pytest.raises(error, match="It may have changed something"):
        add(SINGLE, "r1", desk)
    assert office.desk.records.read("r1").state is RecordState.ASKED


def test_what_is_said_to_be_done_but_is_not_there_is_a_failure(truenas: StandIn, office: Office) -> None:
    truenas._extend = lambda *_: None  # type: ignore[method-assign]
    with pytest.raises(JobFailed, match="does not show the new devices"):
        add(SINGLE, "r1", office.desk)


# Taking back: pool.remove wipes the parent disks.


def added(office: Office, wish: Wish = MIRROR_AND_CACHE) -> Record:
    return add(wish, "r1", office.desk)


def refusals_of_taking_back(record: Record, office: Office) -> set[str]:
    with pytest.raises(RulesForbid) as refused:
        take_back(record, office.desk)
    return {refusal.code for refusal in refused.value.refusals}


def test_whole_disks_come_out_by_guid_the_cache_first(truenas: StandIn, office: Office) -> None:
    record, notes = take_back(added(office), office.desk)
    assert truenas.called("pool.remove") == [[3, {"label": "203"}], [3, {"label": "9201"}]]
    assert sorted(truenas.wiped) == ["sdb", "sdc", "sdd"]
    assert (record.state, notes) == (RecordState.TAKEN_BACK, ())
    assert office.desk.records.read("r1").state is RecordState.TAKEN_BACK


def test_a_vdev_beside_which_something_else_is_on_the_disk_is_never_removed(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    truenas.disk("sdb")["partitions"].append(partition("sdb", 2, SSD_BYTES - 2 * GIB, SSD_BYTES - GIB, "other"))
    assert refusals_of_taking_back(record, office) == {"remove-wipes-more"}
    assert (truenas.called("pool.remove"), truenas.wiped) == ([], [])


def test_a_slice_is_never_removed_by_truenas(truenas: StandIn, office: Office) -> None:
    """Even one that is alone on an SSD that a record names: it ends before where TrueNAS's own partition ends."""
    truenas.job_error = "[EFAULT] no"
    with pytest.raises(JobFailed):
        add(SINGLE, "r1", office.desk)
    truenas.job_error = ""
    end = (SSD_BYTES - 2 * GIB - MIB) // MIB * MIB  # the longest slice that Host.tail_bytes allows
    truenas.disk("sdb").update(imported_zpool="tank", partitions=[partition("sdb", 1, MIB, end, "f00d")])
    truenas.pools[0]["topology"]["log"] = [leaf("301", "sdb", "sdb1", "f00d")]
    assert refusals_of_taking_back(office.desk.records.read("r1"), office) == {"remove-wipes-more"}
    assert (truenas.called("pool.remove"), truenas.wiped) == ([], [])


def test_a_vdev_on_another_disk_than_the_recorded_one_is_never_removed(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    truenas.disks.append(disk("sdf", "NEW", imported_zpool="tank"))
    moved = truenas.disk("sdb")["partitions"][0]
    truenas.disk("sdb")["partitions"] = []
    truenas.disk("sdf")["partitions"] = [{**moved, "name": "sdf1"}]
    assert refusals_of_taking_back(record, office) == {"vdev-changed"}
    assert truenas.called("pool.remove") == []


def test_a_vdev_whose_disk_is_not_shown_is_never_removed(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    truenas.pools[0]["topology"]["log"][0]["path"] = None
    assert refusals_of_taking_back(record, office) == {"leaf-unknown"}


def test_a_log_with_errors_is_never_removed(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    truenas.pools[0]["topology"]["log"][0]["stats"] = stats(write_errors=1)
    assert refusals_of_taking_back(record, office) == {"log-has-errors"}


def test_a_guid_that_is_of_another_class_now_is_never_removed(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    topology = truenas.pools[0]["topology"]
    topology["special"], topology["log"] = topology["log"], []
    assert refusals_of_taking_back(record, office) == {"vdev-gone"}
    assert truenas.called("pool.remove") == []


def test_a_pool_that_does_not_serve_is_left_alone(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    truenas.pools[0]["status"] = "SUSPENDED"
    assert refusals_of_taking_back(record, office) == {"pool-not-online"}


def test_taking_back_on_a_version_outside_the_range_is_refused(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    truenas.version = "27.0.0"
    with pytest.raises(VersionOutside):
        take_back(record, office.desk)
    assert truenas.called("pool.remove") == []


def test_what_somebody_took_out_already_is_passed_over(truenas: StandIn, office: Office) -> None:
    record = added(office)
    truenas.pools[0]["topology"]["cache"] = []
    assert take_back(record, office.desk)[0].state is RecordState.TAKEN_BACK
    assert truenas.called("pool.remove") == [[3, {"label": "9201"}]]


def test_a_removal_that_failed_at_wiping_only_is_done_and_says_so(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    truenas.job_error = "[EBUSY] sdb: Device or resource busy"
    taken, notes = take_back(record, office.desk)
    assert taken.state is RecordState.TAKEN_BACK
    assert "Device or resource busy" in str(notes[0])


def test_a_removal_that_failed_is_a_failure_and_can_be_asked_for_again(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    truenas.job_error, remove = "[EZFS_NOREPLICAS] no valid replicas", truenas._remove
    truenas._remove = lambda *_: None  # type: ignore[method-assign]
    with pytest.raises(JobFailed, match="no valid replicas"):
        take_back(record, office.desk)
    truenas.job_error, truenas._remove = "", remove  # type: ignore[method-assign]
    assert take_back(office.desk.records.read("r1"), office.desk)[0].state is RecordState.TAKEN_BACK


def test_only_what_came_since_and_lies_on_the_recorded_disks_is_ours(truenas: StandIn, office: Office) -> None:
    truenas.pools[0]["topology"]["cache"] = [leaf("77", "sda", "sda1", "aaaaaaaa-0000-4000-8000-000000000001")]
    record = added(office, SINGLE)
    with office.desk.sessions() as session:
        picture = read_picture(session)
    assert added_by(record, picture) == (AddedVdev(Role.LOG, "201"),)
    truenas.disks.append(disk("sdf", "NEW"))
    add(Wish("tank", (), (identifier("NEW"),)), "r2", office.desk)
    with office.desk.sessions() as session:
        assert added_by(record, read_picture(session)) == (AddedVdev(Role.LOG, "201"),)


def test_a_record_that_is_unknown_or_damaged_is_said_so(office: Office) -> None:
    records = office.desk.records
    with pytest.raises(RecordUnknown, match="no such file"):
        records.read("r1")
    records.directory.mkdir()
    (records.directory / "r1.whole-disks.json").write_text("{", encoding="ascii")
    with pytest.raises(RecordUnknown, match="not JSON"):
        records.read("r1")
    with pytest.raises(RecordUnknown, match="no such file"):
        records.read("../r1")
