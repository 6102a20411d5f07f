"""Which reader is chosen, and the encrypted datasets without their key."""

import json
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nasadvisor.domain.storage.inventory import UNREADABLE
from nasadvisor.host.adapters.pools import HostPools, LibzfsPools, Reader, with_locked_datasets
from nasadvisor.host.adapters.process import Command, Output, Tool
from nasadvisor.host.adapters.zpool import ZpoolJson
from nasadvisor.host.errors import CommandFailed, NoPoolReader, OutputUnreadable
from tests.unit.fakes import FakeRunner
from tests.unit.host.adapters.recordings import as_printed, recording, runner
from tests.unit.host.adapters.standin import ZFSException, module

STATUS = "zpool status -j -P -p"
JSON: dict[str, Any] = {"zpool version -j": '{"zfs_version":{"userland":"zfs-2.3.9-1","kernel":"zfs-kmod-2.3.9-1"}}'}
NO_JSON: dict[str, Any] = {"zpool version -j": Output("", "invalid option 'j'\nusage:\n\tversion\n", 2, 0.0)}


@pytest.fixture
def loaded(tmp_path: Path) -> Path:
    (tmp_path / "module/zfs").mkdir(parents=True)
    return tmp_path


def answers(shape: str) -> dict[str, Any]:
    return {command: as_printed(answer) for command, answer in recording(shape)["commands"].items()}


def no_binding() -> ModuleType | None:
    return None


def forbidden() -> ModuleType | None:
    raise AssertionError("the binding must not even be looked for")


def test_json_is_taken_where_zpool_has_it(loaded: Path) -> None:
    (pool,) = HostPools(FakeRunner(JSON | answers("log-caches")), loaded, find_libzfs=forbidden).read()
    assert pool.name == "inv_a"


def test_binding_is_taken_where_zpool_has_no_json(loaded: Path) -> None:
    recorded = recording("log-caches")["libzfs"]
    encryption = {"zpool get -H -o name,value feature@encryption inv_a": "inv_a\tenabled\n"}
    read = HostPools(FakeRunner(NO_JSON | encryption), loaded, find_libzfs=lambda: module(recorded)).read()
    assert read == ZpoolJson(runner("log-caches")).read()


def test_binding_is_taken_where_the_setting_says_so(loaded: Path) -> None:
    recorded = recording("mirrors")["libzfs"]
    encryption = {"zpool get -H -o name,value feature@encryption tank": "tank\tenabled\n"}
    fake = FakeRunner(JSON | encryption)
    (pool,) = HostPools(fake, loaded, Reader.LIBZFS, lambda: module(recorded)).read()
    assert pool.name == "tank"
    assert len(fake.ran) == 1


@pytest.mark.parametrize(
    ("choice", "fake", "reason"),
    [
        (Reader.AUTO, FakeRunner(NO_JSON), "zpool has no JSON output .* and py-libzfs is not installed"),
        (Reader.AUTO, FakeRunner(missing=frozenset({Tool.ZPOOL})), "zpool has no JSON output"),
        (Reader.JSON, FakeRunner(NO_JSON), "the setting requires the JSON output"),
        (Reader.LIBZFS, FakeRunner(JSON), "the setting requires py-libzfs"),
    ],
)
def test_no_reader_says_what_to_install(loaded: Path, choice: Reader, fake: FakeRunner, reason: str) -> None:
    with pytest.raises(NoPoolReader, match=f"{reason}.*Install OpenZFS 2.3"):
        HostPools(fake, loaded, choice, no_binding).read()


def test_without_the_kernel_module_there_are_no_pools_and_nothing_is_started(tmp_path: Path) -> None:
    fake = FakeRunner()
    assert HostPools(fake, tmp_path, find_libzfs=forbidden).read() == ()
    assert fake.ran == []


def test_encryption_roots_without_their_key_are_named() -> None:
    fake = runner("locked")
    (pool,) = with_locked_datasets(ZpoolJson(fake).read(), fake)
    assert pool.locked_datasets == ("inv_a/se cret",), "the root only, not what inherits from it"


def test_datasets_are_not_listed_where_nothing_is_encrypted() -> None:
    fake = runner("mirrors")
    with_locked_datasets(ZpoolJson(fake).read(), fake)
    assert not [command for command in fake.ran if command.tool is Tool.ZFS]


def test_suspended_pool_is_not_asked_for_its_datasets() -> None:
    fake = runner("suspended")
    pools = ZpoolJson(fake).read()
    assert with_locked_datasets(pools, fake) == pools


@pytest.mark.parametrize("key", ["vdev_tree", "status_code", "groups"])
def test_a_pool_of_which_the_binding_answers_oddly_is_named_with_the_problem(key: str) -> None:
    recorded = recording("mirrors")["libzfs"]
    recorded["config" if key == "vdev_tree" else key] = {}
    (pool,) = LibzfsPools(module(recorded)).read()
    assert (pool.name, pool.guid, pool.state) == ("tank", str(recorded["guid"]), UNREADABLE)
    assert "py-libzfs" in pool.problem


def two_pools() -> dict[str, Any]:
    """A machine with the recorded pools inv_a and tank."""
    inv_a, tank = (recording(shape)["commands"] for shape in ("log-caches", "mirrors"))
    properties = "zpool get -j -p all"
    together = {
        STATUS: {"pools": inv_a[STATUS]["pools"] | tank[STATUS]["pools"]},
        f"{properties} inv_a tank": {
            "pools": inv_a[f"{properties} inv_a"]["pools"] | tank[f"{properties} tank"]["pools"]
        },
        "zpool get -H -o name,value feature@encryption inv_a tank": "inv_a\tenabled\ntank\tenabled\n",
    }
    return {command: as_printed(answer) for command, answer in (inv_a | tank | together).items()}


def no_such_pool(command: str) -> CommandFailed:
    return CommandFailed(command, 1, "cannot open 'inv_a': no such pool", mutates=False)


@dataclass
class Changing:
    """A machine that answers otherwise from the second look on."""

    first: FakeRunner
    then: FakeRunner
    looks: int = 0

    def has(self, tool: Tool) -> bool:
        return self.first.has(tool)

    def holding(self, descriptors: tuple[int, ...]) -> "Changing":
        return self

    def run(self, command: Command) -> Output:
        self.looks += str(command) == STATUS
        return (self.first if self.looks < 2 else self.then).run(command)


def test_two_pools_need_no_more_than_one_question_for_their_properties(loaded: Path) -> None:
    fake = FakeRunner(JSON | two_pools())
    pools = HostPools(fake, loaded).read()
    assert [(pool.name, pool.problem) for pool in pools] == [("inv_a", ""), ("tank", "")]
    assert [str(command) for command in fake.ran].count("zpool get -j -p all inv_a tank") == 1


def test_a_pool_that_goes_between_two_questions_is_asked_again_and_hides_no_other(loaded: Path) -> None:
    together = "zpool get -j -p all inv_a tank"
    alone = "zpool get -j -p all inv_a"
    gone = two_pools() | {together: no_such_pool(together), alone: no_such_pool(alone)}
    gone |= {"zpool get -H -o name,value feature@encryption tank": "tank\tenabled\n"}
    machine = Changing(FakeRunner(JSON | gone), FakeRunner(JSON | gone | answers("mirrors")))
    assert [pool.name for pool in HostPools(machine, loaded).read()] == ["tank"]
    (tank,) = [pool for pool in HostPools(FakeRunner(JSON | gone), loaded).read() if not pool.problem]
    assert (tank.name, tank.ashift) == ("tank", 12)


def test_one_that_goes_before_its_datasets_are_asked_for_hides_no_other(loaded: Path) -> None:
    question = "zpool get -H -o name,value feature@encryption"
    gone = two_pools() | {f"{question} inv_a tank": no_such_pool(question), f"{question} inv_a": no_such_pool(question)}
    gone |= {f"{question} tank": "tank\tenabled\n"}
    inv_a, tank = HostPools(FakeRunner(JSON | gone), loaded).read()
    assert (inv_a.problem, tank.problem) == ("cannot open 'inv_a': no such pool", "")


def test_one_that_was_made_anew_under_its_name_is_not_taken_for_the_other(loaded: Path) -> None:
    again = two_pools()
    properties = json.loads(again["zpool get -j -p all inv_a tank"])
    properties["pools"]["inv_a"]["properties"]["guid"]["value"] = "77"
    again["zpool get -j -p all inv_a tank"] = json.dumps(properties)
    again["zpool get -j -p all inv_a"] = json.dumps(properties)
    again["zpool get -H -o name,value feature@encryption tank"] = "tank\tenabled\n"
    inv_a, tank = HostPools(FakeRunner(JSON | again), loaded).read()
    assert "guid 77" in inv_a.problem
    assert tank.problem == ""


def test_one_that_answers_oddly_to_the_binding_hides_no_other() -> None:
    odd, well = recording("log-caches")["libzfs"], recording("mirrors")["libzfs"]
    inv_a, tank = LibzfsPools(module({**odd, "groups": {}}, well)).read()
    assert (inv_a.name, bool(inv_a.problem)) == ("inv_a", True)
    assert (tank.name, tank.problem) == ("tank", "")


def test_binding_that_fails_ends_in_a_sentence() -> None:
    binding = module()

    def fail(**_: object) -> None:
        raise ZFSException("Failed to initialize libzfs")

    binding.ZFS = fail
    with pytest.raises(OutputUnreadable, match="Failed to initialize libzfs"):
        LibzfsPools(binding).read()
