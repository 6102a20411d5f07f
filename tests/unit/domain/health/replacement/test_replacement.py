"""Which disk, may it go now, by which command: the cases that somebody stands in front of the rack with."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from nasadvisor.domain.health.replacement.advice import Replacement, progress_of, replacement_of
from nasadvisor.domain.health.replacement.evidence import Said, Suspicion, survey_of, troubled
from nasadvisor.domain.health.replacement.member import MemberIdentity, member_with, members_of, members_on
from nasadvisor.domain.storage.inventory import Bus, Hold, HoldKind, Inventory, ScanProgress
from nasadvisor.domain.units import GIB, MIB, TIB
from tests.unit.domain.health.replacement.rack import SIZE, disk, group, held, leaf, pool, rack, said

NOTHING: Said = {}


def about(number: int, inventory: Inventory, told: Said = NOTHING) -> Replacement:
    survey = survey_of(inventory, told)
    member = member_with(str(1000 + number), survey.members)
    assert member
    return replacement_of(member, survey)


def typed(found: Replacement) -> list[str]:
    return [" ".join(each.argv) for each in found.commands]


def codes(found: Replacement) -> list[str]:
    return [each.code for each in found.holds]


def mirror(state: str = "ONLINE", **counters: int) -> Inventory:
    return rack(pool(group("mirror", leaf(1, state, **counters), leaf(2))), disk(9))


def test_a_failed_side_of_a_mirror_is_replaced_by_guid_and_by_id_with_the_ashift_of_the_vdev() -> None:
    found = about(1, mirror("FAULTED", read_errors=5))
    assert typed(found) == [f"zpool replace -o ashift=12 tank 1001 {disk(9).path}"]
    assert (codes(found), found.member.identity, found.redundancy.now) == ([], MemberIdentity.AGREES, 0)
    assert found.locate == f"ledctl locate={disk(1).path}"


def test_a_healthy_disk_is_said_to_be_healthy_and_is_in_no_list() -> None:
    inventory = mirror()
    assert about(1, inventory).evidence.suspicion is Suspicion.HEALTHY
    assert troubled(survey_of(inventory, NOTHING)) == ()


def test_what_a_disk_says_of_itself_counts_before_its_pool_has_noticed() -> None:
    inventory = mirror()
    told = said(1, "disk-failing")
    assert about(1, inventory, told).evidence.suspicion is Suspicion.SURE
    assert [each.leaf.guid for each in troubled(survey_of(inventory, told))] == ["1001"]
    assert about(1, inventory, said(1, "pending-sectors")).evidence.suspicion is Suspicion.LIKELY
    with_errors = mirror(read_errors=3)
    assert about(1, with_errors, said(1, "pending-sectors")).evidence.suspicion is Suspicion.SURE


def test_a_slow_disk_is_one_that_is_slower_than_those_beside_it() -> None:
    slow = rack(pool(group("raidz1", leaf(1, slow_ios=9), leaf(2, slow_ios=1), leaf(3))))
    assert [each.leaf.guid for each in troubled(survey_of(slow, NOTHING))] == ["1001"]
    all_slow = rack(pool(group("raidz1", leaf(1, slow_ios=9), leaf(2, slow_ios=9), leaf(3, slow_ios=9))))
    assert troubled(survey_of(all_slow, NOTHING)) == ()


def test_errors_of_several_disks_on_one_controller_are_a_cable() -> None:
    inventory = rack(pool(group("raidz2", leaf(1, checksum_errors=7), leaf(2, read_errors=2), leaf(3), leaf(4))))
    found = about(1, inventory)
    assert found.evidence.suspicion is Suspicion.CABLE
    assert codes(found) == ["replace-cable", "replace-sibling"]
    assert "`zpool clear tank 1001`" in str(found.holds[0])
    apart = rack(inventory.pools[0], controllers=4)
    assert about(1, apart).evidence.suspicion is Suspicion.LIKELY


def test_transfers_that_arrive_damaged_are_a_cable_unless_the_disk_has_a_fault_of_its_own() -> None:
    inventory = mirror()
    assert about(1, inventory, said(1, "crc-growing")).evidence.suspicion is Suspicion.CABLE
    both = said(1, "crc-growing", "pending-sectors")
    assert about(1, inventory, both).evidence.suspicion is Suspicion.LIKELY


def test_while_it_works_and_another_disk_of_its_vdev_cannot_be_read_a_scrub_comes_first() -> None:
    inventory = rack(pool(group("raidz1", leaf(1), leaf(2), leaf(3))), disk(9))
    told = {**said(1, "reallocated-growing"), **said(2, "pending-sectors")}
    found = about(1, inventory, told)
    assert codes(found) == ["replace-sibling"]
    assert "`zpool scrub tank`" in str(found.holds[0])
    broken = rack(pool(group("raidz1", leaf(1, "FAULTED"), leaf(2), leaf(3))), disk(9))
    found = about(1, broken, told)
    assert (codes(found), [each.code for each in found.warnings]) == ([], ["sibling-in-trouble"])


@pytest.mark.parametrize(
    ("changes", "state", "code"),
    [
        ({"suspended": True}, "FAULTED", "replace-suspended"),
        ({"read_only": True}, "FAULTED", "replace-read-only"),
        ({"checkpoint": "1 MiB"}, "FAULTED", "replace-checkpoint"),
        ({"scan": "resilver"}, "FAULTED", "replace-busy"),
        ({"scan": "expansion"}, "FAULTED", "replace-busy"),
        ({"scan": "scrub"}, "ONLINE", "replace-scrub"),
        ({"scan": "scrub"}, "FAULTED", ""),
    ],
)
def test_what_is_in_the_way_is_said_with_what_to_do_first(changes: dict[str, object], state: str, code: str) -> None:
    inventory = rack(pool(group("mirror", leaf(1, state), leaf(2)), **changes), disk(9))
    assert codes(about(1, inventory, said(1, "media-errors"))) == ([code] if code else [])


def test_a_disk_that_was_unplugged_is_put_back_before_it_is_replaced() -> None:
    found = about(1, mirror("REMOVED"))
    assert [command.split()[1] for command in typed(found)] == ["online", "replace"]
    absent = rack(pool(group("mirror", leaf(1, "UNAVAIL"), leaf(2))), disk(9), without=frozenset({"1001"}))
    found = about(1, absent)
    assert [command.split()[1] for command in typed(found)] == ["replace"]
    assert (found.member.identity, found.locate) == (MemberIdentity.ABSENT, "")
    assert found.member.doubt


def test_what_someone_took_offline_has_nothing_else_against_it() -> None:
    found = about(1, mirror("OFFLINE"))
    assert found.evidence.suspicion is Suspicion.OFFLINE
    assert typed(found)[0] == "zpool online tank 1001"


def test_without_a_free_disk_one_that_works_is_taken_out_only_if_its_vdev_can_do_without() -> None:
    raidz = rack(pool(group("raidz1", leaf(1), leaf(2), leaf(3))))
    assert typed(about(1, raidz, said(1, "disk-failing"))) == [
        "zpool offline tank 1001",
        "zpool replace -o ashift=12 tank 1001 /dev/disk/by-id/NEW",
    ]
    thin = rack(pool(group("raidz1", leaf(1), leaf(2, "FAULTED"), leaf(3))))
    found = about(1, thin, said(1, "disk-failing"))
    assert [command.split()[1] for command in typed(found)] == ["replace"]
    assert (found.redundancy.now, found.redundancy.without) == (0, -1)
    single = rack(pool(leaf(1)))
    assert [command.split()[1] for command in typed(about(1, single, said(1, "disk-failing")))] == ["replace"]


def test_where_nothing_is_left_to_fill_a_new_disk_from_there_is_no_command() -> None:
    assert typed(about(1, rack(pool(leaf(1, "FAULTED")), disk(9)))) == []
    both = rack(pool(group("mirror", leaf(1, "FAULTED"), leaf(2, "FAULTED"))), disk(9))
    assert typed(about(1, both)) == []


def test_a_replacement_that_runs_is_not_begun_again() -> None:
    replacing = group("replacing", leaf(1, "FAULTED"), leaf(8), name="replacing-0")
    inventory = rack(pool(group("raidz1", replacing, leaf(2), leaf(3)), scan="resilver"), disk(9))
    found = about(1, inventory)
    assert (typed(found), codes(found)) == ([], ["replace-running"])
    assert "`zpool detach tank 1008`" in str(found.holds[0])
    assert about(2, inventory, said(2, "disk-failing")).redundancy.now == 1


def test_where_a_spare_took_over_the_failed_disk_is_replaced_or_the_spare_stays() -> None:
    spare = group("spare", leaf(1, "FAULTED"), leaf(7), name="spare-0")
    lent = replace(leaf(7), state="INUSE")
    inventory = rack(pool(group("raidz1", spare, leaf(2), leaf(3)), spares=(lent,)))
    found = about(1, inventory)
    assert found.redundancy.now == 1
    assert typed(found) == ["zpool replace -o ashift=12 tank 1001 /dev/disk/by-id/NEW", "zpool detach tank 1001"]
    with_new = rack(inventory.pools[0], disk(9))
    assert [command.split()[1] for command in typed(about(1, with_new))] == ["replace"]
    member = member_with("1007", members_of(inventory))
    assert member
    assert member.part.kind == "spare"
    assert "detach" not in " ".join(typed(about(7, inventory)))


def test_a_spare_that_draid_has_built_in_never_stays() -> None:
    built_in = replace(leaf(7), kind="dspare", name="draid1-0-0")
    spare = group("spare", leaf(1, "FAULTED"), built_in, name="spare-0")
    inventory = rack(pool(group("draid1", spare, leaf(2), leaf(3), leaf(4), name="draid1:2d:4c:1s-0")))
    assert [command.split()[1] for command in typed(about(1, inventory))] == ["replace"]


def test_spares_logs_and_caches_go_their_own_ways() -> None:
    data = group("mirror", leaf(1), leaf(2))
    log = group("mirror", leaf(3, "FAULTED"), leaf(4), name="mirror-1")
    inventory = rack(
        pool(data, spares=(replace(leaf(5), state="UNAVAIL"),), logs=(log,), caches=(leaf(6, "FAULTED"),)), disk(9)
    )
    assert typed(about(5, inventory)) == ["zpool remove tank 1005", f"zpool add tank spare {disk(9).path}"]
    assert typed(about(6, inventory)) == ["zpool remove tank 1006"]
    assert typed(about(3, inventory)) == [f"nasadvisor plan --pool tank --replace-log-side 1003 --log {disk(9).path}"]
    assert typed(about(4, inventory)) == []


def test_a_special_mirror_is_data() -> None:
    special = group("mirror", leaf(3, "FAULTED"), leaf(4), name="mirror-1")
    inventory = rack(
        pool(group("mirror", leaf(1), leaf(2)), specials=(special,), special_size_bytes=TIB,
             special_allocated_bytes=TIB // 4), disk(9),
    )  # fmt: skip
    found = about(3, inventory)
    assert typed(found) == [f"zpool replace -o ashift=12 tank 1003 {disk(9).path}"]
    assert 0 <= SIZE // 4 - found.bytes_to_fill < 4 * MIB


def test_a_name_that_moved_is_said_and_the_label_counts() -> None:
    inventory = mirror("FAULTED")
    first, second, free = inventory.disks
    path = inventory.pools[0].data[0].children[0].path
    part = replace(first.partitions[0], path="/dev/disk/by-id/x-part1", links=())
    moved = replace(
        inventory,
        disks=(replace(first, partitions=(part,)), second, replace(free, links=(*free.links, path))),
    )
    found = about(1, moved)
    assert (found.member.identity, found.member.disk) == (MemberIdentity.MOVED, moved.disks[0])
    assert found.member.doubt


def test_of_a_working_disk_whose_name_leads_to_another_label_nothing_is_certain() -> None:
    inventory = mirror()
    other = replace(inventory, disks=(held(disk(1), "4711"), *inventory.disks[1:]))
    found = about(1, other)
    assert (found.member.identity, found.member.disk, found.locate) == (MemberIdentity.MOVED, None, "")
    assert codes(found) == ["replace-not-certain"]


def test_twin_serials_are_said_and_no_disk_is_named() -> None:
    inventory = mirror()
    twin = disk(9, serial="ZM0001")
    found = about(1, replace(inventory, disks=(*inventory.disks[:2], twin)))
    assert (found.member.identity, found.member.disk) == (MemberIdentity.TWINS, None)
    assert codes(found) == ["replace-not-certain"]


def test_a_copy_of_a_disk_is_a_twin() -> None:
    inventory = mirror()
    copy = held(disk(8), "1001")
    found = about(1, replace(inventory, disks=(*inventory.disks, copy)))
    assert (found.member.identity, found.member.disk) == (MemberIdentity.TWINS, None)


def test_of_the_free_disks_the_smallest_that_fits_is_taken_and_the_others_say_why_not() -> None:
    small, fitting, large = disk(8, SIZE - GIB), disk(9), disk(10, 3 * SIZE)
    usb = replace(disk(11), bus=Bus.USB)
    native = replace(disk(12, SIZE + GIB), identity=replace(disk(12, SIZE + GIB).identity, logical_sector_bytes=4096))
    ill = disk(13)
    shingled = replace(disk(14), identity=replace(disk(14).identity, model="WDC WD40EFAX-68JH4N0"))
    used = replace(disk(15), holds=(Hold(HoldKind.FILESYSTEM, "ext4"),))
    side = replace(leaf(1, "FAULTED"), ashift=9)
    mirrored = replace(group("mirror", side, replace(leaf(2), ashift=9)), ashift=9)
    inventory = rack(pool(mirrored), large, small, native, usb, ill, shingled, fitting, used)
    found = about(1, inventory, said(13, "pending-sectors"))
    assert [each.disk.kernel_name for each in found.candidates if each.fits] == ["sd9", "sd14", "sd10"]
    why = {each.disk.kernel_name: each.against[0].code for each in found.candidates if not each.fits}
    assert why == {
        "sd8": "candidate-small",
        "sd12": "candidate-sectors",
        "sd11": "candidate-loose",
        "sd13": "candidate-ill",
    }
    assert typed(found) == [f"zpool replace -o ashift=9 tank 1001 {fitting.path}"]
    warned = {each.disk.kernel_name: [warning.code for warning in each.warnings] for each in found.candidates}
    assert warned["sd14"] == ["candidate-shingled"]
    assert warned["sd10"] == ["candidate-large"]


def test_how_long_it_takes_comes_from_the_last_scrub_or_else_from_what_disks_can_do() -> None:
    found = about(1, mirror("FAULTED"))
    assert found.seconds == pytest.approx((36_000, 108_000))
    assert 0 <= SIZE // 2 - found.bytes_to_fill < 8 * MIB
    never = rack(pool(group("mirror", leaf(1, "FAULTED"), leaf(2)), last_scan=None), disk(9))
    low, high = about(1, never).seconds or (0, 0)
    assert 3_600 < low < high < 100_000


def test_a_resilver_says_how_far_it_is_and_how_long_it_still_takes() -> None:
    began = datetime.fromisoformat("2026-08-25T20:00:00+00:00")
    running = pool(group("mirror", leaf(1), leaf(2)), scan="resilver",
                   scan_progress=ScanProgress(began.isoformat(), TIB, 4 * TIB))  # fmt: skip
    told = progress_of(running, began + timedelta(hours=1))
    assert told
    assert (told.values["percent"], told.values["left"]) == ("25", "3 h")
    assert progress_of(replace(running, scan="scrub"), began) is None
    begun = replace(running, scan_progress=ScanProgress(began.isoformat(), 0, TIB))
    assert progress_of(begun, began + timedelta(hours=1)).code == "resilver-began"  # type: ignore[union-attr]


def test_a_disk_leads_to_all_that_is_on_it() -> None:
    inventory = mirror()
    found = members_of(inventory)
    assert [each.leaf.guid for each in members_on(inventory.disks[0], found)] == ["1001"]
    assert members_on(inventory.disks[2], found) == ()
    assert member_with("4711", found) is None
