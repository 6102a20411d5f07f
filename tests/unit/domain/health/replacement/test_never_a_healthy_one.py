"""Whatever a pool looks like, no healthy device of it is named for replacement but the one that is asked about."""

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.health.replacement.advice import replacement_of
from nasadvisor.domain.health.replacement.evidence import FAILING, MEDIA, Said, survey_of, troubled
from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev
from tests.unit.domain.health.replacement.rack import disk, group, held, leaf, pool, rack, said

BROKEN = ("FAULTED", "UNAVAIL", "REMOVED", "OFFLINE", "DEGRADED")
KINDS = {"mirror": 2, "raidz1": 3, "raidz2": 4, "raidz3": 5, "draid2:2d:5c:1s": 5}
WORDS = {"zpool", "nasadvisor", "plan", "tank", "-o", "ashift=12", "spare", "--pool", "--log", "--log-size", "4G"}
WORDS |= {"--replace-dead-log", "--replace-log-side", "online", "offline", "replace", "detach", "remove", "add"}


@st.composite
def racks(draw: st.DrawFn) -> tuple[Inventory, Said]:
    """A host with a pool of any shape, some of its devices ill, some names moved, some serials there twice."""
    numbers = iter(range(1, 80))

    def one() -> Vdev:
        state = draw(st.sampled_from(("ONLINE",) * 6 + BROKEN))
        counters = draw(st.sampled_from(({}, {}, {}, {"read_errors": 3}, {"checksum_errors": 1}, {"slow_ios": 4})))
        return leaf(next(numbers), state, **counters)

    def child() -> Vdev:
        match draw(st.sampled_from(("leaf",) * 6 + ("replacing", "spare"))):
            case "replacing":
                return group("replacing", one(), one(), name="replacing-0")
            case "spare":
                return group("spare", one(), replace(one(), state="ONLINE"), name="spare-0")
            case _:
                return one()

    def top() -> Vdev:
        kind = draw(st.sampled_from((*KINDS, "")))
        return group(kind, *(child() for _ in range(KINDS[kind])), name=f"{kind}-0") if kind else child()

    spares = tuple(replace(one(), state=draw(st.sampled_from(("AVAIL", "UNAVAIL", "FAULTED")))) for _ in range(2))
    found = pool(
        *(top() for _ in range(draw(st.integers(1, 3)))),
        specials=(top(),),
        logs=(top(),) if draw(st.booleans()) else (),
        caches=(one(),),
        spares=spares,
        scan=draw(st.sampled_from(("", "", "resilver", "scrub"))),
        checkpoint=draw(st.sampled_from(("", "", "1 MiB"))),
    )
    guids = [each.guid for each in found.vdevs() if each.path]
    free = tuple(disk(90 + number) for number in range(draw(st.integers(0, 2))))
    gone = frozenset(draw(st.lists(st.sampled_from(guids), max_size=2)))
    inventory = rack(found, *free, without=gone, controllers=draw(st.sampled_from((1, 40))))
    inventory = _moved(inventory, draw)
    told: dict[str, tuple[object, ...]] = {}
    for guid in draw(st.lists(st.sampled_from(guids), max_size=3)):
        told |= said(int(guid) - 1000, draw(st.sampled_from(sorted(FAILING | MEDIA | {"crc-growing", "worn"}))))
    return inventory, told  # type: ignore[return-value]


def _moved(inventory: Inventory, draw: st.DrawFn) -> Inventory:
    """Two disks have exchanged their names, one has the serial of another, or one is a copy of another."""
    disks = list(inventory.disks)
    if len(disks) < 2:
        return inventory
    first, second = draw(st.tuples(st.integers(0, len(disks) - 1), st.integers(0, len(disks) - 1)))
    one, two = disks[first], disks[second]
    match draw(st.sampled_from(("", "names", "serials", "copy"))):
        case "names" if one.partitions and two.partitions and first != second:
            parts = [replace(a.partitions[0], path=b.partitions[0].path, links=b.partitions[0].links)
                     for a, b in ((one, two), (two, one))]  # fmt: skip
            disks[first], disks[second] = replace(one, partitions=(parts[0],)), replace(two, partitions=(parts[1],))
        case "serials" if first != second:
            disks[first] = replace(one, identity=replace(one.identity, serial=two.identity.serial))
        case "copy" if two.partitions and first != second:
            label = two.partitions[0].zfs_label
            disks[first] = held(disk(99), label.vdev_guid) if label else one
    return replace(inventory, disks=tuple(disks))


def healthy(vdev: Vdev, pool: Pool, told: Said) -> bool:
    """Nothing is wrong with it: worked out here by itself."""
    beside = [each.slow_ios for top in (*pool.data, *pool.specials, *pool.logs) if vdev in top.walk()
              for each in top.leaves() if each.guid != vdev.guid]  # fmt: skip
    number = int(vdev.guid) - 1000
    is_slow = vdev.slow_ios > max(beside, default=0)
    spoken_of = any(disk(number).key == key for key in told)
    return vdev.state in ("ONLINE", "AVAIL", "INUSE") and not vdev.errors and not is_slow and not spoken_of


@given(racks())
def test_no_healthy_device_is_among_those_that_are_in_trouble(made: tuple[Inventory, Said]) -> None:
    inventory, told = made
    for member in troubled(survey_of(inventory, told)):
        if member.disk is None or member.disk.key == disk(int(member.leaf.guid) - 1000).key:
            assert not healthy(member.leaf, member.pool, told), member


@given(racks())
def test_a_command_names_the_device_that_is_asked_about_and_no_other(made: tuple[Inventory, Said]) -> None:
    inventory, told = made
    held_paths = {part.path for each in inventory.disks for part in each.partitions}
    held_paths |= {each.path for each in inventory.disks if each.partitions}
    survey = survey_of(inventory, told)
    for member in survey.members:
        found = replacement_of(member, survey)
        for command in found.commands:
            for word in set(command.argv) - WORDS:
                is_new = re.fullmatch(r"/dev/disk/by-id/\S+", word) and word not in held_paths
                assert is_new or word in (member.leaf.guid, member.top.guid), command.argv
                if word == member.top.guid and member.top is not member.leaf:
                    assert "--replace-dead-log" in command.argv


@given(racks())
def test_the_disk_that_is_shown_is_never_the_one_of_another_device(made: tuple[Inventory, Said]) -> None:
    inventory, told = made
    survey = survey_of(inventory, told)
    for member in survey.members:
        found = replacement_of(member, survey)
        if member.disk:
            labels = {part.zfs_label.vdev_guid for part in member.disk.partitions if part.zfs_label}
            assert labels == {member.leaf.guid}
            same = [each for each in inventory.disks if each.identity.serial == member.disk.identity.serial]
            assert len(same) == 1
        else:
            assert found.locate == ""
            assert member.doubt


@given(racks())
def test_nothing_is_taken_out_that_its_vdev_cannot_do_without(made: tuple[Inventory, Said]) -> None:
    inventory, told = made
    survey = survey_of(inventory, told)
    for member in survey.members:
        found = replacement_of(member, survey)
        verbs = {command.argv[1] for command in found.commands}
        if "offline" in verbs:
            assert found.redundancy.without >= 0
        if "detach" in verbs:
            assert not member.works
            assert found.redundancy.now >= 0
        if member.top in (*inventory.pools[0].data, *inventory.pools[0].specials):
            assert not verbs & {"remove", "add"}
