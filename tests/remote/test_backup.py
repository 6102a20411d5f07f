"""The console comes back from a backup, or another one takes its place: real PostgreSQL, and a real Redis with TLS."""

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from tempfile import gettempdir

import pytest
import redis
from django.utils import timezone

from nasadvisor.cli.fleet.backup import ConsoleFiles, put_back, save
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.remote.listening import Listening, folder, listen
from nasadvisor.host.errors import CommandFailed
from nasadvisor.host.fleet.joining import sign_in
from tests import postgresql
from tests.remote.conftest import Console

psycopg = pytest.importorskip("psycopg")


@pytest.fixture(scope="module")
def settings() -> Iterator[Mapping[str, str]]:
    """Of a console with a PostgreSQL of its own."""
    where = postgresql.programs()
    if isinstance(where, str) or shutil.which("pg_dump") is None:
        pytest.skip(str(where))
    with postgresql.server(where) as url:
        yield {"NASADVISOR_DATABASE_URL": url}


@pytest.fixture
def place(tmp_path: Path, settings: Mapping[str, str]) -> ConsoleFiles:
    """Its files, which belong to somebody who is not root, in folders through which everybody gets."""
    for each in takewhile(lambda folder: folder != Path(gettempdir()), (tmp_path, *tmp_path.parents[:-1])):
        each.chmod(0o755)
    state = tmp_path / "var/console"
    state.mkdir(parents=True)
    (state / "secret-key").write_text("signs sessions")
    shutil.chown(state, "nobody", "nogroup")
    environment = tmp_path / "etc/environment"
    environment.parent.mkdir()
    environment.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return ConsoleFiles(state, environment, tmp_path)


def run(settings: Mapping[str, str], *statements: str) -> list[tuple[object, ...]]:
    """What the last statement answers."""
    with psycopg.connect(settings["NASADVISOR_DATABASE_URL"]) as connection:
        for statement in statements:
            answer = connection.execute(statement)
        return list(answer.fetchall()) if answer.description else []


def test_a_database_of_postgresql_comes_back_and_what_was_there_is_kept(
    place: ConsoleFiles, settings: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(settings, "create table auth_user (id serial, name text)", "insert into auth_user (name) values ('anna')")
    save(place, tmp_path / "backup", settings)
    run(settings, "update auth_user set name = 'somebody else'", "create table of_later (id int)")
    put_back(place, tmp_path / "backup", force=True, keep_settings=False)
    assert run(settings, "select name from auth_user") == [("anna",)]
    assert run(settings, "select to_regclass('public.of_later')") == [(None,)]
    assert run(settings, "select name from before_restore.auth_user") == [("somebody else",)]
    assert not (place.state / "database.dump").exists()
    run(settings, "insert into auth_user (name) values ('bob')", "drop schema before_restore cascade")
    shutil.rmtree(place.state.with_name("console.before-restore"))

    damaged = tmp_path / "damaged"
    save(place, damaged, settings)
    monkeypatch.setattr("nasadvisor.cli.fleet.backup_file.unpack", _unpack_damaged)
    with pytest.raises(CommandFailed):
        put_back(place, damaged, force=True, keep_settings=True)
    assert run(settings, "select name from auth_user order by name") == [("anna",), ("bob",)]
    assert (place.state / "secret-key").read_text() == "signs sessions"


def _unpack_damaged(_source: Path, _manifest: object, folder: Path) -> None:
    """As if what was checked were none that pg_restore can read."""
    (folder / "console").mkdir()
    (folder / "console/database.dump").write_bytes(b"PGDMP but no more")


def test_a_restored_console_is_taken_by_its_hosts_as_it_was(console: Console) -> None:
    """Proves that hosts need not be told: authority, name and the digests of their passwords are as before."""
    access = console.join("nas1")
    (console.root / "secret-key").write_text("signs sessions")
    sqlite3.connect(console.root / "console.sqlite3").close()
    place, target = (
        ConsoleFiles(console.root, console.root / "environment", console.root),
        console.root.with_suffix(".saved"),
    )
    save(place, target, {})
    console.stop()
    shutil.rmtree(folder())
    before = put_back(place, target, force=False, keep_settings=False)
    try:
        console.start()
        console.look()
        sign_in(access)
    finally:
        shutil.rmtree(before)
        target.unlink()


def test_a_host_joins_a_new_console_in_the_place_of_a_lost_one_and_its_runs_stay(console: Console) -> None:
    lost = console.join("nas1")
    journal = console.root / "runs/run-1/journal.jsonl"
    journal.parent.mkdir(parents=True)
    journal.write_text("what was done to pools\n")
    console.stop()
    shutil.rmtree(folder())
    Node.objects.all().delete()
    listen(Listening(("127.0.0.1",), console.port), timezone.now())
    new = Console(console.port, console.root)
    new.start()
    new.look()
    with pytest.raises((redis.exceptions.RedisError, OSError)):
        sign_in(lost)
    sign_in(new.join("nas1"))
    assert Node.objects.get().name == "nas1"
    assert journal.read_text() == "what was done to pools\n"
    new.stop()
