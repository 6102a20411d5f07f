"""`backup` and `restore` as root, where the console's user is somebody else's by now and puts links in the way."""

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import takewhile
from pathlib import Path
from tempfile import gettempdir

import pytest

from nasadvisor.cli.errors import Refusal
from nasadvisor.cli.fleet import backup_file
from nasadvisor.cli.fleet.backup import ConsoleFiles, put_back, save
from nasadvisor.cli.fleet.console_database import Sqlite
from tests.unit.cli.fleet.test_backup import console

NOBODY = 65534

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be led elsewhere")


@pytest.fixture
def place(tmp_path: Path) -> ConsoleFiles:
    """A console of a user who is not root, in folders through which everybody gets."""
    for each in takewhile(lambda folder: folder != Path(gettempdir()), (tmp_path, *tmp_path.parents[:-1])):
        each.chmod(0o755)
    place = console(tmp_path / "first")
    if os.geteuid() == 0:
        for path in (place.state, *place.state.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    return place


@pytest.fixture
def shadow(tmp_path: Path) -> Path:
    """What only root may read and write."""
    path = tmp_path / "shadow"
    path.write_text("root:secret")
    path.chmod(0o600)
    return path


def as_nobody(act: Callable[[], None]) -> None:
    """Let the console's user do something, by that user's rights alone."""
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        act()
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


def link_everywhere(root: Path, target: Path) -> None:
    """Put a link in the place of every file, and beside, wherever that is possible."""
    for folder in [root, *(Path(found[0]) for found in os.walk(root))]:
        for name in ("secret-key", "channel-key", "console.sqlite3", "console.sqlite3-journal", "database.dump", "new"):
            try:
                (folder / name).unlink(missing_ok=True)
                (folder / name).symlink_to(target)
            except OSError:
                continue


@pytest.fixture
def attacked(place: ConsoleFiles, shadow: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ConsoleFiles]:
    """The console puts its links in the way between two steps of root's, wherever it may write."""
    steps = {name: getattr(Sqlite, name) for name in ("save", "put_back")}

    def attack_after(name: str) -> Callable[[Sqlite, Path], None]:
        def step(self: Sqlite, path: Path) -> None:
            if name == "put_back":
                as_nobody(lambda: link_everywhere(place.root, shadow))
            steps[name](self, path)
            as_nobody(lambda: link_everywhere(place.root, shadow))

        return step

    for name in steps:
        monkeypatch.setattr(Sqlite, name, attack_after(name))
    yield place
    assert shadow.read_text() == "root:secret"
    assert (shadow.stat().st_uid, shadow.stat().st_mode & 0o777) == (0, 0o600)


@as_root
def test_a_backup_writes_nothing_where_a_link_of_the_console_leads(attacked: ConsoleFiles, tmp_path: Path) -> None:
    with pytest.raises((Refusal, OSError)):
        save(attacked, tmp_path / "backup", {})
    assert not (tmp_path / "backup").exists()
    assert not list(attacked.state.parent.glob(".backup-*"))


@as_root
def test_what_is_given_back_to_the_console_gives_it_nothing_else(
    place: ConsoleFiles, shadow: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has the folder first can put a link where the next file is given away."""
    save(place, tmp_path / "backup", {})
    chown = os.chown

    def chown_and_attack(path: Path, user: int, group: int, **how: bool) -> None:
        chown(path, user, group, **how)
        as_nobody(lambda: link_everywhere(place.root, shadow))

    monkeypatch.setattr("nasadvisor.cli.fleet.backup.os.chown", chown_and_attack)
    with pytest.raises((Refusal, OSError, sqlite3.Error)):
        put_back(place, tmp_path / "backup", force=True, keep_settings=True)
    assert (shadow.stat().st_uid, shadow.stat().st_mode & 0o777) == (0, 0o600)
    assert shadow.read_text() == "root:secret"


@as_root
def test_a_restored_database_is_opened_with_the_rights_of_the_console(attacked: ConsoleFiles, tmp_path: Path) -> None:
    good = console(tmp_path / "second")
    save(good, tmp_path / "backup", {})
    with pytest.raises((Refusal, OSError, sqlite3.Error)):
        put_back(attacked, tmp_path / "backup", force=True, keep_settings=True)


@pytest.mark.parametrize("name", ["secret-key", "channel-key", "remote", "remote/authority.key", "remote/more"])
def test_a_link_in_the_folder_of_the_console_is_not_followed(
    place: ConsoleFiles, shadow: Path, tmp_path: Path, name: str
) -> None:
    path = place.state / name
    if name == "remote":
        path.rename(path.with_name("elsewhere"))
        path.symlink_to("elsewhere")
    else:
        path.unlink(missing_ok=True)
        path.symlink_to(shadow)
    with pytest.raises(Refusal, match=f"{name} is no .*No backup was made"):
        save(place, tmp_path / "backup", {})
    assert not (tmp_path / "backup").exists()


@as_root
@pytest.mark.parametrize("name", ["channel-key", "remote/more"])
def test_a_second_name_of_a_file_that_only_root_may_read_is_not_read(
    place: ConsoleFiles, shadow: Path, tmp_path: Path, name: str
) -> None:
    """Where the kernel does not forbid such links (fs.protected_hardlinks, proc(5))."""
    (place.state / name).unlink(missing_ok=True)
    os.link(shadow, place.state / name)
    with pytest.raises((Refusal, PermissionError)):
        save(place, tmp_path / "backup", {})
    assert not (tmp_path / "backup").exists()


@as_root
def test_a_database_that_only_root_may_read_is_not_read(place: ConsoleFiles, tmp_path: Path) -> None:
    secret = tmp_path / "secret.sqlite3"
    with closing(sqlite3.connect(secret)) as database:
        database.execute("create table auth_user (name text)")
    secret.chmod(0o600)
    (place.state / "console.sqlite3").unlink()
    (place.state / "console.sqlite3").symlink_to(secret)
    with pytest.raises(sqlite3.Error):
        save(place, tmp_path / "backup", {})


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_ordinary_file_is_refused_and_not_waited_for(
    place: ConsoleFiles, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(place.state / "remote/odd")
    with pytest.raises(Refusal, match=r"remote/odd is no ordinary file"):
        save(place, tmp_path / "backup", {})


def test_a_file_without_end_fills_neither_memory_nor_disk(place: ConsoleFiles, tmp_path: Path) -> None:
    with (place.state / "remote/huge").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(Refusal, match=r"remote/huge is larger"):
        save(place, tmp_path / "backup", {})


def test_a_name_that_no_restore_would_take_is_refused_at_once(place: ConsoleFiles, tmp_path: Path) -> None:
    (place.state / "remote/.redis.conf.swp").write_text("an editor's")
    with pytest.raises(Refusal, match=r"\.redis\.conf\.swp has a name"):
        save(place, tmp_path / "backup", {})


@as_root
def test_a_folder_that_others_can_exchange_is_no_place_for_root(place: ConsoleFiles, tmp_path: Path) -> None:
    """Whoever can write in the folder above can put another folder in the place of the console's."""
    save(place, tmp_path / "backup", {})
    os.chown(place.state.parent, NOBODY, NOBODY)
    with pytest.raises(Refusal, match="can be changed by others than root"):
        save(place, tmp_path / "other", {})
    with pytest.raises(Refusal, match="can be changed by others than root"):
        put_back(place, tmp_path / "backup", force=True, keep_settings=True)


@as_root
def test_a_console_of_another_user_comes_back_as_it_was(place: ConsoleFiles, tmp_path: Path) -> None:
    with closing(sqlite3.connect(place.state / "console.sqlite3")) as database:
        database.execute("insert into auth_user values ('zoe')")
        database.commit()
        save(place, tmp_path / "backup", {})
    put_back(place, tmp_path / "backup", force=True, keep_settings=True)
    with closing(sqlite3.connect(place.state / "console.sqlite3")) as database:
        assert ("zoe",) in database.execute("select name from auth_user").fetchall()
    assert {path.stat().st_uid for path in (place.state, *place.state.rglob("*"))} == {NOBODY}
    kept = {each.name for each in backup_file.manifest_of(tmp_path / "backup").files}
    assert {"console/secret-key", "console/remote/authority.key", "console/console.sqlite3"} <= kept


def test_a_key_that_vanishes_while_it_is_copied_is_told(
    place: ConsoleFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sqlite, "save", lambda _self, _folder: (place.state / "secret-key").unlink())
    with pytest.raises((Refusal, OSError)) as error:
        save(place, tmp_path / "backup", {})
    assert getattr(error.value, "errno", errno.ENOENT) == errno.ENOENT
    assert not (tmp_path / "backup").exists()
