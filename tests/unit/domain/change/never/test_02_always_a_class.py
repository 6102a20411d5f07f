"""Rule 2: `zpool add` always with `log` or `cache`. Reading back what it did is the host's part."""

from dataclasses import replace

from nasadvisor.domain.change.actions import (
    AddCache,
    AddLog,
    Role,
)
from nasadvisor.domain.change.checks import can
from tests.unit.domain.builders import (
    cache_on,
    code_of,
    log_on,
)
from tests.unit.domain.change.never.wishes import SINGLE, every_action, every_argv
from tests.unit.machines import (
    MIRROR_AND_CACHES,
    NVME1,
    TANK,
    home_server,
    plan_for,
)


def test_add_names_its_class_before_the_first_device() -> None:
    adds = [argv for argv in every_argv() if argv[:2] == ("zpool", "add")]
    assert adds
    for argv in adds:
        before_devices = argv[: next(index for index, word in enumerate(argv) if word.startswith("/"))]
        assert before_devices[-1] in ("log", "cache") or before_devices[-2:] == ("log", "mirror")


def test_the_class_is_that_of_the_role() -> None:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    log, cache = (action.commands()[0] for action in plan.actions if isinstance(action, AddLog | AddCache))
    sides = [piece.path for piece in plan.slices if piece.role is Role.LOG]
    pieces = [piece.path for piece in plan.slices if piece.role is Role.CACHE]
    assert log == ("zpool", "add", "-o", "ashift=12", "tank", "log", "mirror", *sides)
    assert cache == ("zpool", "add", "-o", "ashift=12", "tank", "cache", *pieces)


def test_a_single_log_is_no_mirror() -> None:
    argv = plan_for(SINGLE, home_server()).actions[-1].commands()[0]
    assert argv[5] == "log"
    assert argv[6].startswith("/dev/disk/by-partuuid/")


def test_a_slice_made_for_the_one_is_never_added_as_the_other() -> None:
    inventory, log = log_on(NVME1)
    assert code_of(can(AddCache("tank", TANK, 12, log.sides), inventory)) == "plan-foreign"
    inventory, cache = cache_on(NVME1)
    assert code_of(can(AddLog("tank", TANK, 12, cache.slices), inventory)) == "plan-foreign"


def test_the_dry_run_is_the_same_command_with_n() -> None:
    for action in every_action():
        if isinstance(action, AddLog | AddCache):
            argv = action.dry_run()
            assert argv[2] == "-n"
            assert (*argv[:2], *argv[3:]) == action.commands()[0]


def test_add_takes_at_least_one_device_and_none_twice() -> None:
    inventory, action = cache_on(NVME1)
    assert code_of(can(replace(action, slices=()), inventory)) == "nothing-to-do"
    assert code_of(can(replace(action, slices=action.slices * 2), inventory)) == "disk-twice"
    assert AddLog("tank", TANK, 12, ()).forwards(inventory) == inventory
