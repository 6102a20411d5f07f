"""Whole disks taken out again by TrueNAS itself, which wipes them, and what is said of it; against a stand-in.

The states of pools and leaves are those of the middleware's code: pool_/pool.py (`pool_normalize_info`),
pool_/topology.py (`transform_topology`), pool_/pool_disk_operations.py (`remove`), disk_/availability.py.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.errors import HostError, RulesForbid
from plugins.truenas.api.errors import EndNotSeen, JobFailed, JobOutOfSight, TakenBackInPart
from plugins.truenas.api.jobs import ATTEMPTS, JobProgress
from plugins.truenas.api.reading import read_picture
from plugins.truenas.api.records import Record, RecordState
from plugins.truenas.api.remains import remnants
from plugins.truenas.api.taking_back import take_back
from plugins.truenas.api.whole_disks import WholeDisks, add
from tests.unit.truenas.conftest import Office
from tests.unit.truenas.standin import (
    SSD_BYTES,
    Json,
    StandIn,
    disk,
    identifier,
    leaf,
    lost,
    mirror,
    missing,
    partition,
    stats,
)

MIRROR_AND_CACHE = WholeDisks("tank", (identifier("SSD1"), identifier("SSD2")), (identifier("SSD3"),))
MIRROR = WholeDisks("tank", (identifier("SSD1"), identifier("SSD2")))
SINGLE = WholeDisks("tank", (identifier("SSD1"),))

Shown = Callable[[Json, Json | None], Json]


def added(office: Office, wish: WholeDisks = MIRROR_AND_CACHE) -> Record:
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


@pytest.mark.parametrize("version", ["27.0.0", "25.04.2"])
def test_on_a_version_outside_the_range_it_is_taken_back_with_a_warning(
    truenas: StandIn, office: Office, version: str
) -> None:
    """An update of TrueNAS must not lock in what was added before it."""
    record = added(office, SINGLE)
    truenas.version = version
    record, notes = take_back(record, office.desk)
    assert record.state is RecordState.TAKEN_BACK
    assert truenas.pools[0]["topology"]["log"] == []
    assert [note.code for note in notes] == ["undo-on-untested-platform"]
    assert f"TrueNAS {version}, which this release of NAS Advisor does not support" in str(notes[0])


def test_on_a_version_in_the_range_there_is_no_warning(truenas: StandIn, office: Office) -> None:
    assert take_back(added(office), office.desk)[1] == ()


def test_what_somebody_took_out_already_is_passed_over(truenas: StandIn, office: Office) -> None:
    record = added(office)
    truenas._remove(3, {"label": "203"})
    assert take_back(record, office.desk)[0].state is RecordState.TAKEN_BACK
    assert truenas.called("pool.remove") == [[3, {"label": "9201"}]]


def test_a_removal_that_failed_at_wiping_only_is_done_and_says_so(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    truenas.job_error = "[EBUSY] sdb: Device or resource busy"
    taken, notes = take_back(record, office.desk)
    assert taken.state is RecordState.TAKEN_BACK
    assert str(notes[0]).startswith(
        "The device was removed from the pool, but TrueNAS could not wipe its SSD: job 1235"
    )
    assert "Device or resource busy" in str(notes[0])


def test_a_removal_that_failed_is_a_failure_and_can_be_asked_for_again(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    truenas.job_error, remove = "[EZFS_NOREPLICAS] no valid replicas", truenas._remove
    truenas._remove = lambda *_: None  # type: ignore[method-assign]
    with pytest.raises(JobFailed, match="no valid replicas"):
        take_back(record, office.desk)
    truenas.job_error, truenas._remove = "", remove  # type: ignore[method-assign]
    assert take_back(office.desk.records.read("r1"), office.desk)[0].state is RecordState.TAKEN_BACK


def test_an_update_that_nobody_saw_the_end_of_can_be_taken_back(truenas: StandIn, office: Office) -> None:
    truenas.cut_at += ["core.get_jobs"] * ATTEMPTS
    with pytest.raises(JobOutOfSight):
        add(MIRROR_AND_CACHE, "r1", office.desk)
    truenas.polls_of_a_job = 0
    truenas._look_at_job(1234)
    record, notes = take_back(office.desk.records.read("r1"), office.desk)
    assert (record.state, notes) == (RecordState.TAKEN_BACK, ())
    assert truenas.pools[0]["topology"]["log"] == truenas.pools[0]["topology"]["cache"] == []


def test_only_what_came_since_and_lies_on_the_recorded_disks_is_ours(truenas: StandIn, office: Office) -> None:
    truenas.pools[0]["topology"]["cache"] = [leaf("77", "sda", "sda1", "aaaaaaaa-0000-4000-8000-000000000001")]
    record = added(office, SINGLE)
    with office.desk.sessions() as session:
        picture = read_picture(session)
    assert [each.top.guid for each in remnants(record, picture)] == ["201"]
    truenas.disks.append(disk("sdf", "NEW"))
    add(WholeDisks("tank", (), (identifier("NEW"),)), "r2", office.desk)
    with office.desk.sessions() as session:
        assert [each.top.guid for each in remnants(record, read_picture(session))] == ["201"]


# "Taken back" is only said when it is so.


def without_guids(record: Record, office: Office) -> Record:
    """The record of an addition of which nobody saw the end."""
    return office.desk.records.write(replace(record, state=RecordState.ASKED, added=()))


def without_sides(record: Record, office: Office) -> Record:
    """A record that lacks the guids of a mirror's sides and of the data."""
    added = tuple(replace(vdev, leaves=() if len(vdev.leaves) > 1 else vdev.leaves) for vdev in record.added)
    return office.desk.records.write(replace(record, added=added, pool_vdevs=()))


def as_added(record: Record, office: Office) -> Record:
    return record


def pull(truenas: StandIn, name: str, *, remembered: bool = False, shown: Shown = missing) -> None:
    """Pull an SSD: it is no longer among the disks, and its leaf is shown as a release shows it."""
    gone = truenas.disk(name)
    truenas.disks.remove(gone)
    for pool in truenas.pools:
        for tops in pool["topology"].values():
            for row in (tops, *(top["children"] for top in tops)):
                for number, each in enumerate(row):
                    if each.get("disk") == name:
                        row[number] = shown(each, gone if remembered else None)


def refuses_to_say_it(record: Record, office: Office, truenas: StandIn) -> set[str]:
    """It is refused, nothing is asked of TrueNAS, and the record stays open."""
    codes = refusals_of_taking_back(record, office)
    assert truenas.called("pool.remove") == []
    assert office.desk.records.read(record.id).state is not RecordState.TAKEN_BACK
    return codes


RECORDS = [as_added, without_guids, without_sides]


@pytest.mark.parametrize("kind", RECORDS)
@pytest.mark.parametrize("remembered", [True, False])
@pytest.mark.parametrize("shown", [lost, missing])
def test_a_log_whose_ssd_is_not_shown_is_never_said_to_be_taken_back(
    truenas: StandIn, office: Office, kind: Callable[[Record, Office], Record], remembered: bool, shown: Shown
) -> None:
    """26 shows a leaf whose disk is missing without a path, 25.10 with one that leads nowhere."""
    record = kind(added(office, SINGLE), office)
    pull(truenas, "sdb", remembered=remembered, shown=shown)
    assert refuses_to_say_it(record, office, truenas) & {"leaf-unknown", "vdev-unclear"}


@pytest.mark.parametrize("kind", RECORDS)
@pytest.mark.parametrize("pulled", [("sdb",), ("sdb", "sdc"), ("sdc",)])
def test_a_mirrored_log_with_sides_that_are_not_shown_is_never_said_to_be_taken_back(
    truenas: StandIn, office: Office, kind: Callable[[Record, Office], Record], pulled: tuple[str, ...]
) -> None:
    record = kind(added(office, MIRROR), office)
    for name in pulled:
        pull(truenas, name)
    assert refuses_to_say_it(record, office, truenas) & {"leaf-unknown", "vdev-unclear"}


@pytest.mark.parametrize("kind", RECORDS)
def test_of_a_pool_that_is_offline_nothing_is_said_to_be_taken_back(
    truenas: StandIn, office: Office, kind: Callable[[Record, Office], Record]
) -> None:
    record = kind(added(office), office)
    truenas.take_offline()
    with pytest.raises(RulesForbid, match=r"tank is OFFLINE in TrueNAS and its devices are not shown.*Import the pool"):
        take_back(record, office.desk)
    assert refuses_to_say_it(record, office, truenas) == {"pool-not-seen", "disk-still-held"}


@pytest.mark.parametrize("kind", RECORDS)
def test_of_a_pool_that_truenas_does_not_list_nothing_is_said_to_be_taken_back(
    truenas: StandIn, office: Office, kind: Callable[[Record, Office], Record]
) -> None:
    """Exported in TrueNAS: the SSDs of its log count as those of an exported pool, those of its cache as free."""
    record = kind(added(office), office)
    truenas.pools.clear()
    for name in ("sdb", "sdc"):
        truenas.disk(name).update(imported_zpool=None, exported_zpool="tank")
    truenas.disk("sdd").update(imported_zpool=None)
    assert refuses_to_say_it(record, office, truenas) == {"pool-not-listed", "disk-still-held"}


def test_a_pool_that_is_gone_is_closed_once_its_ssds_are_there_and_blank(truenas: StandIn, office: Office) -> None:
    record = added(office)
    truenas.pools.clear()
    for name in ("sdb", "sdc", "sdd"):
        truenas.disk(name).update(imported_zpool=None, partitions=[])
    assert take_back(record, office.desk)[0].state is RecordState.TAKEN_BACK


def test_a_pool_that_is_gone_is_not_closed_while_an_ssd_of_it_is_not_there(truenas: StandIn, office: Office) -> None:
    """The pool and that SSD may be imported elsewhere, or here again."""
    record = added(office)
    truenas.pools.clear()
    for name in ("sdb", "sdc"):
        truenas.disk(name).update(imported_zpool=None, partitions=[])
    truenas.disks.remove(truenas.disk("sdd"))
    assert refuses_to_say_it(record, office, truenas) == {"pool-not-listed"}


def test_what_somebody_made_of_the_ssd_in_another_pool_is_not_ours(truenas: StandIn, office: Office) -> None:
    record = without_guids(added(office, SINGLE), office)
    truenas._remove(3, {"label": "201"})
    theirs = {**truenas._format("sdb", "fish"), "guid": "888"}
    topology = {**truenas.pools[0]["topology"], "data": [leaf("102", "sda", "sda2", "y")], "log": [theirs]}
    truenas.pools.append({**truenas.pools[0], "id": 4, "name": "fish", "guid": "99", "topology": topology})
    record, notes = take_back(record, office.desk)
    assert (record.state, [note.code for note in notes]) == (RecordState.TAKEN_BACK, ["disk-used-anew"])
    assert truenas.called("pool.remove") == []


def test_another_pool_of_the_same_name_says_nothing_of_ours(truenas: StandIn, office: Office) -> None:
    """TrueNAS shows the guid from its database, and the devices of whatever pool has that name."""
    record = added(office, WholeDisks("tank", (), (identifier("SSD3"),)))
    truenas.pools[0]["topology"].update(data=[leaf("666", "sda", "sda1", "x")], cache=[])
    truenas.disk("sdd").update(imported_zpool=None)
    assert refuses_to_say_it(record, office, truenas) == {"other-pool-of-that-name"}


def test_a_pool_imported_under_another_name_and_guid_is_found_by_the_guids_of_ours(
    truenas: StandIn, office: Office
) -> None:
    record = added(office)
    truenas.pools[0].update(name="fish", guid="99", id=8)
    for name in ("sdb", "sdc", "sdd"):
        truenas.disk(name).update(imported_zpool="fish")
    assert take_back(record, office.desk)[0].state is RecordState.TAKEN_BACK
    assert truenas.called("pool.remove") == [[8, {"label": "203"}], [8, {"label": "9201"}]]


def test_the_side_that_is_left_of_a_mirror_is_still_ours(truenas: StandIn, office: Office) -> None:
    """`pool.detach` of one side leaves the other as a log of its own, and the guid of the mirror is gone."""
    record = added(office, MIRROR)
    truenas.pools[0]["topology"]["log"] = truenas.pools[0]["topology"]["log"][0]["children"][:1]
    truenas.disk("sdc").update(imported_zpool=None, partitions=[])
    assert take_back(record, office.desk)[0].state is RecordState.TAKEN_BACK
    assert truenas.called("pool.remove") == [[3, {"label": "201"}]]


def test_the_side_that_is_left_is_not_forgotten_by_a_record_without_its_guid(truenas: StandIn, office: Office) -> None:
    record = without_sides(added(office, MIRROR), office)
    truenas.pools[0]["topology"]["log"] = truenas.pools[0]["topology"]["log"][0]["children"][:1]
    truenas.disk("sdc").update(imported_zpool=None, partitions=[])
    assert refuses_to_say_it(record, office, truenas) == {"vdev-unclear"}
    truenas._remove(3, {"label": "201"})
    assert take_back(record, office.desk)[0].state is RecordState.TAKEN_BACK


def test_a_single_log_that_somebody_mirrored_is_neither_wiped_nor_forgotten(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    ours = truenas.pools[0]["topology"]["log"][0]
    theirs = truenas._format("sdc", "tank")
    truenas.pools[0]["topology"]["log"] = [mirror("555", 1, ours, theirs)]
    assert refuses_to_say_it(record, office, truenas) == {"vdev-changed"}


def test_an_ssd_that_is_used_anew_is_left_alone_and_that_is_said(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    truenas._remove(3, {"label": "201"})
    theirs = truenas._format("sdb", "tank")
    truenas.pools[0]["topology"]["cache"] = [{**theirs, "guid": "777"}]
    record, notes = take_back(record, office.desk)
    assert record.state is RecordState.TAKEN_BACK
    assert [note.code for note in notes] == ["disk-used-anew"]
    assert truenas.called("pool.remove") == []


def test_what_a_later_record_added_to_the_same_ssd_is_not_the_earlier_ones(truenas: StandIn, office: Office) -> None:
    first = without_guids(added(office, SINGLE), office)
    truenas._remove(3, {"label": "201"})
    add(SINGLE, "r2", office.desk)
    truenas.calls.clear()
    assert take_back(first, office.desk)[0].state is RecordState.TAKEN_BACK
    assert truenas.called("pool.remove") == []


def test_an_ssd_that_a_pool_has_which_is_not_shown_is_not_said_to_be_free(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    truenas.pools[0]["topology"]["log"] = []
    truenas.disk("sdb").update(imported_zpool="fish")
    assert refuses_to_say_it(record, office, truenas) == {"disk-still-held"}
    truenas.disk("sdb").update(imported_zpool=None, exported_zpool="fish")
    assert refuses_to_say_it(record, office, truenas) == {"disk-still-held"}


def test_while_truenas_still_works_on_it_nothing_is_said(truenas: StandIn, office: Office) -> None:
    """The log is not in the pool yet, but comes when the job ends."""
    truenas.cut_at += ["core.get_jobs"] * ATTEMPTS
    with pytest.raises(JobOutOfSight):
        add(SINGLE, "r1", office.desk)
    assert refuses_to_say_it(office.desk.records.read("r1"), office, truenas) == {"job-under-way"}
    truenas._end_job(truenas.jobs[1234])
    assert take_back(office.desk.records.read("r1"), office.desk)[0].state is RecordState.TAKEN_BACK
    assert truenas.pools[0]["topology"]["log"] == []


def test_what_was_never_added_is_closed_after_looking(truenas: StandIn, office: Office) -> None:
    truenas.job_error = "[EFAULT] no"
    with pytest.raises(JobFailed):
        add(SINGLE, "r1", office.desk)
    assert take_back(office.desk.records.read("r1"), office.desk)[0].state is RecordState.TAKEN_BACK


def test_of_what_was_added_in_part_the_rest_is_not_forgotten(truenas: StandIn, office: Office) -> None:
    """The cache is found by its SSD, the log has none that is shown: after the cache the log stays to be said."""
    record = without_guids(added(office, WholeDisks("tank", SINGLE.log_disks, (identifier("SSD3"),))), office)
    pull(truenas, "sdb")
    with pytest.raises(TakenBackInPart, match=r"1 device\(s\) were removed from the pool.*has a log or cache, 201"):
        take_back(record, office.desk)
    assert truenas.called("pool.remove") == [[3, {"label": "203"}]]
    assert office.desk.records.read("r1").state is RecordState.ASKED


# The answer of TrueNAS and what is so.


def after(job: str, state: str, act: Callable[[], Any]) -> Callable[[JobProgress], None]:
    """Do something once TrueNAS says how a job ended."""
    del job

    def observe(progress: JobProgress) -> None:
        if progress.state == state:
            act()

    return observe


def test_a_job_that_ended_well_with_the_log_still_there_is_a_failure(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    truenas._remove = lambda *_: None  # type: ignore[method-assign]
    with pytest.raises(JobFailed, match=r"ended as SUCCESS: pool tank still shows .* \(guid 201\)"):
        take_back(record, office.desk)
    assert office.desk.records.read("r1").state is RecordState.ADDED


def test_what_is_back_in_the_pool_by_the_end_is_not_said_to_be_taken_back(truenas: StandIn, office: Office) -> None:
    """Exported meanwhile, and imported as it was at an earlier checkpoint."""
    record = added(office)
    cache = truenas.pools[0]["topology"]["cache"][0]

    def rewind(progress: JobProgress) -> None:
        if progress.state == "SUCCESS" and not truenas.pools[0]["topology"]["log"]:
            truenas.pools[0]["topology"]["cache"] = [cache]

    with pytest.raises(TakenBackInPart, match=r"2 device\(s\) were removed.*Pool tank still shows .* \(guid 203\)"):
        take_back(record, replace(office.desk, observe=rewind))
    assert office.desk.records.read("r1").state is RecordState.ADDED


@pytest.mark.parametrize("error", ["", "[EBUSY] sdb: Device or resource busy"])
def test_a_pool_that_goes_offline_during_the_removal_is_not_said_to_be_rid_of_it(
    truenas: StandIn, office: Office, error: str
) -> None:
    record = added(office, SINGLE)
    truenas.job_error = error
    observe = after("pool.remove", "FAILED" if error else "SUCCESS", truenas.take_offline)
    with pytest.raises(EndNotSeen, match="does not currently show the devices of pool tank"):
        take_back(record, replace(office.desk, observe=observe))
    assert office.desk.records.read("r1").state is RecordState.ADDED


@pytest.mark.parametrize("call", ["pool.query", "disk.details", "auth.login_ex"])
def test_a_connection_lost_before_the_end_was_seen_leaves_the_record_open(
    truenas: StandIn, office: Office, call: str
) -> None:
    record = added(office, SINGLE)
    cut = after("pool.remove", "SUCCESS", lambda: truenas.cut_at.append(call))
    with pytest.raises(EndNotSeen, match="could not be verified"):
        take_back(record, replace(office.desk, observe=cut))
    assert office.desk.records.read("r1").state is RecordState.ADDED
    assert take_back(office.desk.records.read("r1"), office.desk)[0].state is RecordState.TAKEN_BACK
    assert len(truenas.called("pool.remove")) == 1


def test_a_connection_lost_at_the_call_leaves_the_record_open(truenas: StandIn, office: Office) -> None:
    record = added(office)
    truenas.cut_at.append("pool.remove")
    with pytest.raises(HostError, match="The operation may already have changed something"):
        take_back(record, office.desk)
    assert office.desk.records.read("r1").state is RecordState.ADDED


def test_what_stands_in_the_way_of_the_second_does_not_hide_that_the_first_is_out(
    truenas: StandIn, office: Office
) -> None:
    record = added(office)
    truenas.pools[0]["topology"]["log"][0]["stats"] = stats(write_errors=1)
    with pytest.raises(TakenBackInPart, match=r"1 device\(s\) were removed.*log device"):
        take_back(record, office.desk)
    assert truenas.called("pool.remove") == [[3, {"label": "203"}]]


def test_another_ssd_in_the_place_of_ours_is_neither_wiped_nor_taken_for_the_end(
    truenas: StandIn, office: Office
) -> None:
    """Replaced in TrueNAS: a single log has another guid then, on another SSD, and ours is free."""
    record = added(office, SINGLE)
    theirs = truenas._format("sdd", "tank")
    truenas.pools[0]["topology"]["log"] = [theirs]
    truenas.disk("sdb").update(imported_zpool=None, partitions=[])
    record, notes = take_back(record, office.desk)
    assert (record.state, notes) == (RecordState.TAKEN_BACK, ())
    assert truenas.called("pool.remove") == []
    assert truenas.pools[0]["topology"]["log"] == [theirs]


def test_a_replacement_under_way_is_not_the_end(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    ours, theirs = truenas.pools[0]["topology"]["log"][0], truenas._format("sdd", "tank")
    truenas.pools[0]["topology"]["log"] = [{**mirror("556", 0, ours, theirs), "type": "REPLACING"}]
    assert refuses_to_say_it(record, office, truenas) == {"vdev-changed"}


def test_a_disk_that_was_not_wiped_is_named(truenas: StandIn, office: Office) -> None:
    """TrueNAS wipes the disk behind the path at that moment, and ends well where there is none (`label_to_disk`)."""
    record = added(office, SINGLE)
    kept, remove = truenas.disk("sdb")["partitions"], truenas._remove

    def remove_only(pool_id: int, options: Json) -> None:
        remove(pool_id, options)
        truenas.disk("sdb")["partitions"] = kept

    truenas._remove = remove_only  # type: ignore[method-assign]
    record, notes = take_back(record, office.desk)
    assert record.state is RecordState.TAKEN_BACK
    assert [note.code for note in notes] == ["disk-not-wiped"]


def test_a_wiped_disk_may_show_its_partitions_for_a_moment(truenas: StandIn, office: Office) -> None:
    record = added(office, SINGLE)
    kept, remove = truenas.disk("sdb")["partitions"], truenas._remove

    def remove_slowly(pool_id: int, options: Json) -> None:
        remove(pool_id, options)
        truenas.disk("sdb")["partitions"] = kept

    def settle(seconds: float) -> None:
        if seconds and not truenas.pools[0]["topology"]["log"] and truenas.jobs[1235]["state"] == "SUCCESS":
            truenas.disk("sdb")["partitions"] = []

    truenas._remove = remove_slowly  # type: ignore[method-assign]
    assert take_back(record, replace(office.desk, wait=settle))[1] == ()


def test_an_ssd_that_is_gone_after_the_log_was_taken_out_is_named(truenas: StandIn, office: Office) -> None:
    """The guid is in no pool: that the SSD is not there does not keep the record open for ever."""
    record = added(office, SINGLE)
    truenas.pools[0]["topology"]["log"] = []
    truenas.disks.remove(truenas.disk("sdb"))
    record, notes = take_back(record, office.desk)
    assert (record.state, [note.code for note in notes]) == (RecordState.TAKEN_BACK, ["disk-not-shown"])


def test_the_guids_are_learnt_before_anything_is_removed(truenas: StandIn, office: Office) -> None:
    record = without_guids(added(office, MIRROR), office)
    truenas.pools[0]["topology"]["log"][0]["stats"] = stats(write_errors=1)
    assert refusals_of_taking_back(record, office) == {"log-has-errors"}
    learnt = office.desk.records.read("r1")
    assert [(vdev.guid, vdev.leaves) for vdev in learnt.added] == [("9201", ("201", "202"))]
    for name in ("sdb", "sdc"):
        pull(truenas, name)
    assert refuses_to_say_it(learnt, office, truenas) >= {"leaf-unknown"}


def test_two_disks_with_one_partition_are_nobody(truenas: StandIn, office: Office) -> None:
    """A clone of the SSD: which of the two would be wiped nobody can tell."""
    record = added(office, SINGLE)
    truenas.disks.append(disk("sdf", "CLONE", partitions=[{**truenas.disk("sdb")["partitions"][0], "name": "sdf1"}]))
    assert refuses_to_say_it(record, office, truenas) == {"leaf-unknown"}
