"""`nasadvisor backup` and `nasadvisor restore`: the console of this machine in one file."""

import json
import os
import platform
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from nasadvisor import __version__
from nasadvisor.cli.errors import Refusal, json_option
from nasadvisor.cli.fleet import backup_file
from nasadvisor.cli.fleet.backup_file import Manifest
from nasadvisor.cli.fleet.console_database import Database, database_of
from nasadvisor.cli.fleet.console_files import KEYS, read_files, refuse_open_place
from nasadvisor.cli.fleet.units import runs
from nasadvisor.host.adapters.process import HostRunner
from nasadvisor.host.change.releases import written_by
from nasadvisor.host.config import ENVIRONMENT_FILE, load_environment, read_environment_file
from nasadvisor.runtime.private_files import write_private
from nasadvisor.stored.documents import to_json

STOPPED_BY: Final = {
    "web": "nasadvisor-web",
    "console": "nasadvisor-console",
    "prepare": "nasadvisor-prepare",
    "remote": "nasadvisor-remote.path",
    "remote-redis": "nasadvisor-remote.path",
}
"""By service, what stops it for good: systemd starts what a path unit waits for again as long as that one is active."""

NOTHING: Final = "Nothing was changed."
START: Final = "systemctl start nasadvisor-prepare nasadvisor-web nasadvisor-console nasadvisor-remote.path"


@dataclass(frozen=True)
class ConsoleFiles:
    """Where the console of this machine is; `root` is where this system's files are."""

    state: Path
    environment: Path
    root: Path = Path("/")

    @property
    def owner(self) -> tuple[int, int]:
        """Whose it is, as numbers."""
        status = self.state.stat()
        return status.st_uid, status.st_gid

    def database(self, settings: Mapping[str, str]) -> Database:
        """The one that these settings name."""
        return database_of(settings, self.state, self.owner, HostRunner())


def here() -> ConsoleFiles:
    """By the settings of this machine."""
    state = load_environment().get("NASADVISOR_CONSOLE_STATE") or "/var/lib/nasadvisor/console"
    return ConsoleFiles(Path(state), ENVIRONMENT_FILE)


def save(place: ConsoleFiles, target: Path, settings: Mapping[str, str]) -> Manifest:
    """Write a backup; everything goes on meanwhile.

    Raises:
        Refusal, HostError, OSError, sqlite3.Error: none was made.
    """
    if not (place.state / KEYS[0]).exists():
        raise Refusal(f"There is no console at {place.state}. No backup was made.")
    refuse_open_place(place.state)
    database = place.database(settings)
    with _folder_beside(place) as folder:
        copies = folder / backup_file.STATE
        copies.mkdir(mode=0o700)
        database.save(copies)
        for name, data in read_files(place.state, place.owner).items():
            (copies / name).parent.mkdir(mode=0o700, exist_ok=True)
            (copies / name).write_bytes(data)
        if place.environment.exists():
            shutil.copyfile(place.environment, folder / backup_file.SETTINGS)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        kept, migrations = backup_file.kept_in(folder), written_by("").forms["database"]
        manifest = Manifest(__version__, platform.node(), now, database.name, migrations, kept)
        backup_file.write(target, manifest, folder)
    return manifest


def put_back(place: ConsoleFiles, source: Path, *, force: bool, keep_settings: bool) -> Path:
    """Replace the console by that of a backup, all of it or nothing; where what was there is kept.

    Raises:
        Refusal, NewerForm, HostError, OSError, sqlite3.Error: everything is as it was.
    """
    refuse_open_place(place.state)
    manifest = backup_file.manifest_of(source)
    if manifest.migrations > written_by("").forms["database"]:
        raise Refusal(
            f"This backup is of NAS Advisor {manifest.release}, whose database is newer than that of the release that "
            f"is installed ({__version__}). {NOTHING} Install that release or a newer one first."
        )
    running = dict.fromkeys(unit for name, unit in STOPPED_BY.items() if runs(place.root, f"nasadvisor-{name}.service"))
    if running:
        raise Refusal(f"The console runs. {NOTHING} First: systemctl stop {' '.join(running)}")
    before, fresh = _beside(place, "before-restore"), _beside(place, "restored")
    if before.exists():
        raise Refusal(f"{before} remains from an earlier restore. {NOTHING} Remove it if everything works.")
    if not place.state.is_dir() or os.path.ismount(place.state):
        raise Refusal(f"{place.state} is no folder that can be replaced. {NOTHING}")
    with _folder_beside(place) as folder:
        backup_file.unpack(source, manifest, folder)
        told = folder / backup_file.SETTINGS
        settings = place.environment if keep_settings or not told.exists() else told
        database = place.database(read_environment_file(settings))
        if database.name != manifest.database:
            raise Refusal(f"The backup has {manifest.database}, and the settings ask for {database.name}. {NOTHING}")
        if not force and (users := database.users()):
            raise Refusal(f"The console here has {users} users. {NOTHING} --force replaces it all the same.")
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.move(folder / backup_file.STATE, fresh)
        _give_to(fresh, *place.owner)
        with ExitStack() as back:
            place.state.rename(before)
            back.callback(before.rename, place.state)
            fresh.rename(place.state)
            back.callback(shutil.rmtree, place.state)
            if settings == told:
                _exchange_settings(place.environment, told, back)
            # Last, since it changes as a whole.
            database.put_back(place.state / manifest.database)
            back.pop_all()
    return before


def _exchange_settings(target: Path, source: Path, back: ExitStack) -> None:
    """The file of the settings, as a whole; the one that was there stays beside it."""
    before = target.with_name(f"{target.name}.before-restore")
    if target.exists():
        target.replace(before)
        back.callback(before.replace, target)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        back.callback(target.unlink, missing_ok=True)
    write_private(target, source.read_bytes(), 0o640)  # as the package has it


def _beside(place: ConsoleFiles, what: str) -> Path:
    return place.state.with_name(f"{place.state.name}.{what}")


@contextmanager
def _folder_beside(place: ConsoleFiles) -> Iterator[Path]:
    """A folder for the while, on the same file system, which only root may enter."""
    with tempfile.TemporaryDirectory(prefix=".backup-", dir=place.state.parent) as name:
        yield Path(name)


def _give_to(folder: Path, user: int, group: int) -> None:
    """Make the console's user the owner of all in a folder, of the folder itself last.

    Whoever has the folder can put a link where root gives the next file away.
    """
    for path in (*sorted(folder.rglob("*"), reverse=True), folder):
        path.chmod(0o750 if path == folder else 0o700 if path.is_dir() else 0o600)
        os.chown(path, user, group, follow_symlinks=False)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def backup(file: Path, as_json: bool) -> None:
    """Write the console of this machine into FILE: its database, keys and settings. It keeps running."""
    place = here()
    try:
        manifest = save(place, file, load_environment())
    except (OSError, sqlite3.Error) as error:
        raise Refusal(f"{error}. No backup was made.") from error
    if as_json:
        click.echo(to_json(manifest))
        return
    names = ", ".join(kept.name for kept in manifest.files)
    click.echo(f"{file} has the console of {manifest.node}: {names}.")
    click.echo(
        "It holds secrets: keys, password digests, and the certificates that hosts trust. Only root can read it."
    )
    click.echo("The journals of runs are not in it: they belong to each host (/var/lib/nasadvisor/host).")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True))
@click.option("--force", is_flag=True, help="Replace a console that already has users.")
@click.option("--keep-settings", is_flag=True, help="Keep the existing /etc/nasadvisor/environment.")
@json_option
def restore(file: Path, force: bool, keep_settings: bool, as_json: bool) -> None:
    """Restore the console from FILE (all or nothing). Its services must be stopped."""
    try:
        before = put_back(here(), file, force=force, keep_settings=keep_settings)
    except (OSError, sqlite3.Error) as error:
        raise Refusal(f"{error}. The console is unchanged.") from error
    if as_json:
        click.echo(json.dumps({"before": str(before), "start": START}))
        return
    click.echo(f"The console is that of {file}. The previous one is in {before}; remove it once everything works.")
    click.echo(f"To begin: {START}")
