"""`nasadvisor backup` and `restore`: what comes back is what was there, or nothing changes."""

import json
import sqlite3
import tarfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from nasadvisor.cli.errors import Refusal
from nasadvisor.cli.fleet import backup, backup_file
from nasadvisor.cli.fleet.backup import ConsoleFiles, put_back, save
from nasadvisor.host.change.releases import written_by
from nasadvisor.stored.documents import NewerForm, to_json
from tests.unit.cli.conftest import Shell

SETTINGS = "NASADVISOR_TIME_ZONE=Europe/Berlin\n"


def console(root: Path, users: int = 1) -> ConsoleFiles:
    """A console as `prepare` and `listen` leave one, with some people in its database."""
    state = root / "var/console"
    (state / "remote").mkdir(parents=True)
    (state / "secret-key").write_text("signs sessions")
    (state / "channel-key").write_text("encrypts channels")
    (state / "remote/authority.key").write_text("hosts trust it")
    (state / "prepared").touch()
    with closing(sqlite3.connect(state / "console.sqlite3")) as database:
        database.execute("pragma journal_mode=wal")
        database.execute("create table auth_user (name text)")
        database.executemany("insert into auth_user values (?)", [(f"anna{number}",) for number in range(users)])
        database.commit()
    environment = root / "etc/environment"
    environment.parent.mkdir()
    environment.write_text(SETTINGS)
    return ConsoleFiles(state, environment, root)


def files(place: ConsoleFiles) -> dict[str, bytes]:
    """All that a console is, without what SQLite keeps beside its file."""
    found = {path for path in place.root.rglob("*") if path.is_file()}
    return {str(path): path.read_bytes() for path in found if not path.name.endswith(("-wal", "-shm"))}


def names(place: ConsoleFiles) -> list[str]:
    with closing(sqlite3.connect(place.state / "console.sqlite3")) as database:
        return [name for (name,) in database.execute("select name from auth_user order by name")]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """The backup of a console of which the last change is in the write-ahead log only."""
    place = console(tmp_path / "first", users=2)
    with closing(sqlite3.connect(place.state / "console.sqlite3")) as database:
        database.execute("insert into auth_user values ('zoe')")
        database.commit()
        save(place, tmp_path / "backup", {})
    return tmp_path / "backup"


def test_a_console_comes_back_with_its_database_keys_hosts_and_settings(saved: Path, tmp_path: Path) -> None:
    place = console(tmp_path / "second", users=0)
    (place.state / "secret-key").write_text("another")
    place.environment.write_text("NASADVISOR_TIME_ZONE=UTC\n")
    before = put_back(place, saved, force=False, keep_settings=False)
    assert names(place) == ["anna0", "anna1", "zoe"]
    assert (place.state / "secret-key").read_text() == "signs sessions"
    assert (place.state / "channel-key").read_text() == "encrypts channels"
    assert (place.state / "remote/authority.key").read_text() == "hosts trust it"
    assert not (place.state / "prepared").exists(), "the database is brought to the form of this release first"
    assert place.environment.read_text() == SETTINGS
    assert (before / "secret-key").read_text() == "another"
    assert oct(place.environment.stat().st_mode)[-3:] == "640"
    assert {oct(path.stat().st_mode)[-3:] for path in place.state.rglob("*") if path.is_file()} == {"600"}


def test_settings_stay_where_that_is_wished(saved: Path, tmp_path: Path) -> None:
    place = console(tmp_path / "second", users=0)
    place.environment.write_text("NASADVISOR_TIME_ZONE=UTC\n")
    put_back(place, saved, force=False, keep_settings=True)
    assert place.environment.read_text() == "NASADVISOR_TIME_ZONE=UTC\n"


def test_nobody_else_reads_a_backup_and_none_is_written_over(saved: Path, tmp_path: Path) -> None:
    assert oct(saved.stat().st_mode)[-3:] == "600"
    before = saved.read_bytes()
    with pytest.raises(FileExistsError):
        save(console(tmp_path / "second"), saved, {})
    assert saved.read_bytes() == before


def refused(place: ConsoleFiles, source: Path, match: str, *, force: bool = False) -> None:
    before = files(place)
    with pytest.raises((Refusal, NewerForm), match=match):
        put_back(place, source, force=force, keep_settings=False)
    assert files(place) == before


def test_a_console_with_users_is_replaced_by_force_only(saved: Path, tmp_path: Path) -> None:
    place = console(tmp_path / "second", users=3)
    refused(place, saved, "has 3 users")
    put_back(place, saved, force=True, keep_settings=False)
    assert len(names(place)) == 3
    refused(place, saved, "remains from an earlier restore", force=True)


def test_a_console_that_runs_is_not_replaced(saved: Path, tmp_path: Path) -> None:
    """What takes other hosts is started again for as long as nasadvisor-remote.path is active."""
    place = console(tmp_path / "second", users=0)
    for name in ("web", "remote", "remote-redis"):
        group = place.root / f"sys/fs/cgroup/system.slice/nasadvisor-{name}.service"
        group.mkdir(parents=True)
        (group / "cgroup.events").write_text("populated 1\n")
    refused(place, saved, "systemctl stop nasadvisor-web nasadvisor-remote.path$", force=True)


def rewritten(saved: Path, target: Path, **changes: object) -> Path:
    """The same backup with another manifest."""
    manifest = replace(backup_file.manifest_of(saved), **changes)  # type: ignore[arg-type]
    folder = target.parent / "unpacked"
    backup_file.unpack(saved, backup_file.manifest_of(saved), folder)
    backup_file.write(target, manifest, folder)
    return target


def test_what_a_newer_release_has_saved_is_refused(saved: Path, tmp_path: Path) -> None:
    place = console(tmp_path / "second", users=0)
    newer = rewritten(saved, tmp_path / "newer", migrations=written_by("").forms["database"] + 1, release="9.9")
    refused(place, newer, r"of NAS Advisor 9\.9, whose database is newer")


def test_a_newer_form_of_a_backup_is_refused(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = console(tmp_path / "second", users=0)
    today = to_json(backup_file.manifest_of(saved))
    monkeypatch.setattr(backup_file, "to_json", lambda _manifest: today.replace('"version": 1', '"version": 2'))
    refused(place, rewritten(saved, tmp_path / "newer"), "written by a newer release of NAS Advisor")


def test_a_damaged_backup_or_one_with_other_files_changes_nothing(saved: Path, tmp_path: Path) -> None:
    place = console(tmp_path / "second", users=0)
    (tmp_path / "text").write_text("no backup")
    refused(place, tmp_path / "text", "cannot be read as a backup")
    damaged = tmp_path / "damaged"
    damaged.write_bytes(saved.read_bytes().replace(b"signs sessions", b"forges session"))
    refused(place, damaged, "damaged")
    foreign = tmp_path / "foreign"
    foreign.write_bytes(saved.read_bytes())
    with tarfile.open(foreign, "a") as archive:
        archive.add(tmp_path / "text", "../../etc/passwd")
    refused(place, foreign, "which no backup has")


def test_when_the_last_step_fails_everything_is_as_it_was(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = console(tmp_path / "second", users=0)

    def fail(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nasadvisor.cli.fleet.console_database.Sqlite.put_back", fail)
    before = files(place)
    with pytest.raises(OSError, match="No space left"):
        put_back(place, saved, force=False, keep_settings=False)
    assert files(place) == before


def test_it_says_what_is_in_it_and_what_is_not(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = console(tmp_path / "first")
    monkeypatch.setattr(backup, "here", lambda: place)
    result = shell.run("backup", str(tmp_path / "backup"))
    assert "console/console.sqlite3" in result.output
    assert "It holds secrets" in result.output
    assert "The journals of runs are not in it" in result.output
    told = json.loads(shell.run("backup", str(tmp_path / "other"), "--json").output)
    assert "console/console.sqlite3" in [kept["name"] for kept in told["files"]]
    again = shell.run("backup", str(tmp_path / "backup"))
    assert again.exit_code == 3
    assert "No backup was made." in again.output
