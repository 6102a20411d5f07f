"""Which reader is chosen, and the encrypted datasets without their key."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nasadvisor.host.adapters.libzfs import LibzfsPools
from nasadvisor.host.adapters.pools import HostPools, Reader, with_locked_datasets
from nasadvisor.host.adapters.process import Output, Tool
from nasadvisor.host.adapters.zpool import ZpoolJson
from nasadvisor.host.errors import NoPoolReader, OutputUnreadable
from tests.unit.fakes import FakeRunner
from tests.unit.host.adapters.recordings import as_printed, recording, runner
from tests.unit.host.adapters.standin import ZFSException, module

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
        (Reader.JSON, FakeRunner(NO_JSON), "the setting asks for the JSON output"),
        (Reader.LIBZFS, FakeRunner(JSON), "the setting asks for py-libzfs"),
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
def test_binding_that_answers_oddly_ends_in_a_sentence(key: str) -> None:
    recorded = recording("mirrors")["libzfs"]
    recorded["config" if key == "vdev_tree" else key] = {}
    with pytest.raises(OutputUnreadable, match="The answer of py-libzfs could not be understood"):
        LibzfsPools(module(recorded)).read()


def test_binding_that_fails_ends_in_a_sentence() -> None:
    binding = module()

    def fail(**_: object) -> None:
        raise ZFSException("Failed to initialize libzfs")

    binding.ZFS = fail
    with pytest.raises(OutputUnreadable, match="Failed to initialize libzfs"):
        LibzfsPools(binding).read()
