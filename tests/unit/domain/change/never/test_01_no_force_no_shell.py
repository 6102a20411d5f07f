"""Rule 1: never emit `-f`, `--allow-*`, a shell string, or an `sdX` path in a command."""

from itertools import chain

import pytest

from nasadvisor.domain.change.actions import AddCache, AddLog, CreateTable, Outcome
from nasadvisor.domain.change.checks import can, can_use_disk
from nasadvisor.domain.change.plan import PlanIds
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.adapters.allowed import shape_of
from tests.unit.domain.builders import TABLE_UUID, Example, code_of, disk_of
from tests.unit.domain.change.never.wishes import SINGLE, every_argv, refused
from tests.unit.machines import (
    NVME1,
    home_server,
    with_disk,
)


def test_no_word_forces_or_allows() -> None:
    words = {word for argv in every_argv() for word in argv}
    assert not [word for word in words if word in ("-f", "-F", "--force") or word.startswith("--allow")]


def test_every_command_is_a_tuple_of_words_that_starts_with_a_known_tool() -> None:
    assert {type(argv) for argv in every_argv()} == {tuple}
    assert {argv[0] for argv in every_argv()} == {"zpool", "sgdisk", "blkdiscard"}


def test_every_path_is_a_persistent_one() -> None:
    paths = {word for argv in every_argv() for word in argv if word.startswith("/")}
    assert paths
    assert all(path.startswith(("/dev/disk/by-id/", "/dev/disk/by-partuuid/")) for path in paths)


def test_a_disk_that_only_has_a_kernel_name_is_no_target() -> None:
    inventory = with_disk(home_server(), NVME1, path="/dev/nvme0n1")
    assert refused(SINGLE, inventory) == {"no-persistent-name"}
    assert code_of(can_use_disk(disk_of(inventory, NVME1))) == "no-persistent-name"


def test_a_plan_cannot_smuggle_in_a_kernel_name_that_udev_lists_as_a_link() -> None:
    disk = disk_of(home_server(), NVME1)
    inventory = with_disk(home_server(), NVME1, links=(*disk.links, "/dev/nvme0n1"))
    table = CreateTable(NVME1, "/dev/nvme0n1", TABLE_UUID, MIB, GIB)
    assert code_of(can(table, inventory)) == "no-persistent-name"


@pytest.mark.parametrize(
    "name", ["../../sdb", "..", ".", "", "a/b", "-f", "dm-name-x", "wwn-1$(x)", "wwn-1 x", "wwn-1-part1"]
)
def test_a_name_is_persistent_only_if_it_is_one_name_as_udev_makes_them_for_disks(name: str) -> None:
    inventory = with_disk(home_server(), NVME1, path=f"/dev/disk/by-id/{name}")
    assert refused(SINGLE, inventory) == {"no-persistent-name"}


def test_every_command_of_every_plan_and_of_its_undo_may_run(examples: tuple[Example, ...]) -> None:
    tried = 0
    for _, plan in examples:
        for action in plan.actions:
            dry = [action.dry_run()] if isinstance(action, AddLog | AddCache) else []
            assert all(shape and not shape.mutates for shape in map(shape_of, dry))
            guids = tuple(map(str, range(2**64 - 9, 2**64 - 9 + len(action.pieces))))
            undo = chain.from_iterable(step.commands() for step in action.undo(Outcome(guids)))
            for argv in (*action.commands(), *undo):
                shape = shape_of(argv)
                assert shape, argv
                assert shape.mutates
                tried += 1
    assert tried > 300


@pytest.mark.parametrize("text", ["-f", "x; reboot", "AAAAAAAA-0000-4000-8000-000000000001", "a" * 36, "", "\n"])
def test_an_identifier_that_becomes_part_of_a_command_is_a_uuid_and_nothing_else(text: str) -> None:
    with pytest.raises(ValueError, match="UUIDs of a plan"):
        PlanIds("plan-1", "", (text,))


@pytest.mark.parametrize("text", ["../../etc/cron.d/x", "/tmp/x", "", ".", "..", "a b", "A", "-f", "a\n", "a" * 65])
def test_an_identifier_that_becomes_a_directory_cannot_lead_out_of_it(text: str) -> None:
    with pytest.raises(ValueError, match="id of a plan"):
        PlanIds(text, "", ())
