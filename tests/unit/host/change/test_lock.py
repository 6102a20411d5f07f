"""Locks: what root opens there is a file of its own, and never what a link leads to."""

import errno
import fcntl
import os
import stat
from pathlib import Path

import pytest

from nasadvisor.host.change.lock import HostBusy, LockUnusable, host_lock, is_held
from nasadvisor.host.config import config_from

TMPFILES = Path(__file__).parents[4] / "packaging/nasadvisor.tmpfiles"


def test_a_link_where_the_lock_should_be_is_not_followed(tmp_path: Path) -> None:
    lock, target = tmp_path / "probe.lock", tmp_path / "shadow"
    lock.symlink_to(target)
    with (
        pytest.raises(LockUnusable, match=r"probe\.lock cannot be acquired.*Nothing was changed"),
        host_lock((lock,), 0),
    ):
        pass
    assert not target.exists()
    target.write_text("root:*\n")
    with pytest.raises(LockUnusable), host_lock((lock,), 0):
        pass
    assert target.read_text() == "root:*\n"


def test_what_is_no_ordinary_file_is_no_lock(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "device").symlink_to("/dev/null")
    for name in ("fifo", "folder", "device"):
        with pytest.raises(LockUnusable), host_lock((tmp_path / name,), 0):
            pass


def test_the_folder_of_a_lock_is_made_for_root_alone(tmp_path: Path) -> None:
    lock = tmp_path / "run" / "host.lock"
    with host_lock((lock,), 0):
        assert is_held(lock)
    assert not is_held(lock)
    assert stat.S_IMODE(lock.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600


def test_what_root_locks_or_mounts_lies_where_the_console_cannot_write() -> None:
    config = config_from({"NASADVISOR_RUN_DIR": "/run/console"})
    assert config.redis_url == "redis+socket:///run/console/redis.sock"
    assert {config.lock_path.parent, config.probe_lock_path.parent, config.run_dir} == {Path("/run/nasadvisor-host")}
    lines = [line.split() for line in TMPFILES.read_text().splitlines() if not line.startswith("#")]
    assert ["d", "/run/nasadvisor-host", "0700", "root", "root"] in lines
    writable = [path for _, path, mode, owner, _ in lines if owner != "root" or int(mode, 8) & 0o022]
    assert writable == ["/run/nasadvisor", "/var/lib/nasadvisor/console"]


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_all_locks_are_held_at_once_each_by_a_descriptor_of_its_own(tmp_path: Path) -> None:
    """The descriptors go to the commands that run meanwhile: a lock outlives a worker that is killed."""
    first, second = tmp_path / "first", tmp_path / "second"
    with host_lock((first, second), 0) as descriptors:
        assert [os.path.sameopenfile(each, each) for each in descriptors] == [True, True]
        assert [Path(f"/proc/self/fd/{each}").resolve() for each in descriptors] == [first, second]
        assert not any(os.get_inheritable(each) for each in descriptors)
        assert (is_held(first), is_held(second)) == (True, True)
    assert (is_held(first), is_held(second)) == (False, False)


def test_who_does_not_get_all_locks_in_time_holds_none_and_is_told_which_is_held(tmp_path: Path) -> None:
    free, held = tmp_path / "free", tmp_path / "held"
    before = open_files()
    with host_lock((held,), 0):
        with pytest.raises(HostBusy) as error, host_lock((free, held), 0):
            pass
        assert error.value.statement.values == {"path": str(held)}
        assert not is_held(free)
    assert open_files() == before


def test_a_lock_is_waited_for_as_long_as_was_said_and_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "host.lock"
    now, slept = [100.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    monkeypatch.setattr("nasadvisor.host.change.lock.time.monotonic", lambda: now[0])
    monkeypatch.setattr("nasadvisor.host.change.lock.time.sleep", sleep)
    with host_lock((lock,), 0):
        with pytest.raises(HostBusy), host_lock((lock,), 1.0):
            pass
        assert set(slept) == {0.1}
        assert sum(slept) == pytest.approx(1, abs=0.11)
        slept.clear()
        assert is_held(lock)
        assert slept == []


def test_a_lock_that_becomes_free_while_it_is_waited_for_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "host.lock"
    other = host_lock((lock,), 0)
    other.__enter__()
    monkeypatch.setattr("nasadvisor.host.change.lock.time.sleep", lambda _: other.__exit__(None, None, None))
    with host_lock((lock,), 30):
        assert is_held(lock)


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_file_that_went_while_it_was_waited_for_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_replaced: bool
) -> None:
    """Both would be held by somebody: the removed file by us, the one that stands there by whoever came last."""
    lock, flock = tmp_path / "host.lock", fcntl.flock

    def remove_and_lock(descriptor: int, operation: int) -> None:
        monkeypatch.setattr("nasadvisor.host.change.lock.fcntl.flock", flock)
        lock.unlink()
        if is_replaced:
            lock.write_text("")
        flock(descriptor, operation)

    before = open_files()
    monkeypatch.setattr("nasadvisor.host.change.lock.fcntl.flock", remove_and_lock)
    with host_lock((lock,), 5) as (descriptor,):
        assert os.path.samestat(os.fstat(descriptor), lock.stat())
        assert is_held(lock)
        assert open_files() == before + 1
    assert open_files() == before


def test_a_lock_that_is_replaced_again_and_again_is_given_up_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, flock = tmp_path / "host.lock", fcntl.flock

    def remove_and_lock(descriptor: int, operation: int) -> None:
        lock.unlink()
        flock(descriptor, operation)

    monkeypatch.setattr("nasadvisor.host.change.lock.fcntl.flock", remove_and_lock)
    before = open_files()
    with pytest.raises(HostBusy), host_lock((lock,), 0.3):
        pass
    assert open_files() == before


@pytest.mark.parametrize("call", ["fcntl.flock", "os.fstat", "os.lstat"])
def test_a_lock_of_which_the_kernel_tells_nothing_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    lock = tmp_path / "host.lock"

    def fail(*_arguments: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    before = open_files()
    with monkeypatch.context() as patched:
        patched.setattr(f"nasadvisor.host.change.lock.{call}", fail)
        with pytest.raises(LockUnusable), host_lock((lock,), 0):
            pass
    assert open_files() == before


def test_why_a_lock_cannot_be_used_is_said_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/null")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "file").write_text("")
    for path, problem in (
        (tmp_path / "link", os.strerror(errno.ELOOP)),
        (tmp_path / "fifo", os.strerror(errno.EINVAL)),
        (tmp_path / "file" / "host.lock", os.strerror(errno.EEXIST)),
    ):
        with pytest.raises(LockUnusable) as error, host_lock((path,), 0):
            pass
        assert error.value.statement.values == {"path": str(path), "problem": problem}
    assert LockUnusable(tmp_path, OSError("odd")).statement.values == {"path": str(tmp_path), "problem": "odd"}


def test_what_is_no_lock_is_not_left_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    before = open_files()
    with pytest.raises(LockUnusable), host_lock((tmp_path / "fifo",), 0):
        pass
    assert open_files() == before


def test_the_folders_above_a_lock_are_made_and_one_that_is_there_is_no_hindrance(tmp_path: Path) -> None:
    lock = tmp_path / "a" / "b" / "host.lock"
    for _again in range(2):
        with host_lock((lock,), 0):
            assert lock.exists()
