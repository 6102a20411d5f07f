"""Locks: what root opens there is a file of its own, and never what a link leads to."""

import os
import stat
from pathlib import Path

import pytest

from nasadvisor.host.change.lock import LockUnusable, host_lock, is_held
from nasadvisor.host.config import config_from

TMPFILES = Path(__file__).parents[4] / "packaging/nasadvisor.tmpfiles"


def test_a_link_where_the_lock_should_be_is_not_followed(tmp_path: Path) -> None:
    lock, target = tmp_path / "probe.lock", tmp_path / "shadow"
    lock.symlink_to(target)
    with pytest.raises(LockUnusable, match=r"probe\.lock cannot be taken.*Nothing was changed"), host_lock((lock,), 0):
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
