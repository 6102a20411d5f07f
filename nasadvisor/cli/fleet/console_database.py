"""The console's database, saved and put back: SQLite by its own backup, PostgreSQL by its own programs."""

import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from nasadvisor.cli.errors import Refusal
from nasadvisor.cli.fleet.console_files import as_user
from nasadvisor.host.adapters.process import Command, Runner, Tool

DUMP_S: Final = 3600.0
FILE: Final = "console.sqlite3"
DUMP: Final = "database.dump"
USERS: Final = "select count(*) from auth_user"
KEPT_SCHEMA: Final = "before_restore"


class Database(Protocol):
    """Where the console keeps what it knows."""

    @property
    def name(self) -> str:
        """What the backup calls its copy."""
        ...

    def save(self, folder: Path) -> None:
        """Make a whole copy in a folder of root's, while everything goes on."""
        ...

    def users(self) -> int:
        """How many people have a login there; 0 where there is no database yet."""
        ...

    def put_back(self, copy: Path) -> None:
        """Make the copy the database, all of it or nothing; it lies in the state of the console already."""
        ...


@dataclass(frozen=True)
class Sqlite:
    """A file in the console's state, opened with the rights of its user, who may have put a link there."""

    state: Path
    owner: tuple[int, int]
    name: str = FILE

    def save(self, folder: Path) -> None:
        """By SQLite's own backup (sqlite.org/backup.html), which sees what is in the write-ahead log as well.

        Within a transaction that has begun, all files of the database are open.
        """
        with as_user(*self.owner):
            database = _opened(self.state / FILE)
            database.execute("begin")
            database.execute("select count(*) from sqlite_master")
        with closing(database) as ours, closing(sqlite3.connect(folder / FILE)) as copy:
            ours.backup(copy)

    def users(self) -> int:
        """See `Database.users`."""
        if not (self.state / FILE).exists():
            return 0
        with (
            as_user(*self.owner),
            closing(_opened(self.state / FILE)) as ours,
            suppress(sqlite3.OperationalError),  # no such table
        ):
            return int(ours.execute(USERS).fetchone()[0])
        return 0

    def put_back(self, copy: Path) -> None:
        """It is in its place; whether it is whole is looked at once more."""
        with as_user(*self.owner), closing(sqlite3.connect(copy)) as database:
            found = database.execute("pragma integrity_check").fetchone()[0]
        if found != "ok":
            raise Refusal(f"The database in the backup is damaged ({found}). Nothing was changed.")


@dataclass(frozen=True)
class Postgresql:
    """A database of a server, by its URL. The programs are started as the console's user, whom the server may know."""

    url: str
    owner: tuple[int, int]
    runner: Runner
    name: str = DUMP

    def save(self, folder: Path) -> None:
        """By pg_dump, which sees one moment of it; into a file that it cannot open by itself."""
        with (folder / DUMP).open("xb") as copy, as_user(*self.owner), _without_password(self.url) as url:
            options = ("--format=custom", "--no-owner", "--no-privileges", f"--dbname={url}")
            self.runner.run(Command(Tool.PG_DUMP, options, DUMP_S, prints_to=copy.fileno()))

    def users(self) -> int:
        """See `Database.users`."""
        with self._connected() as connection:
            if connection.execute("select to_regclass('public.auth_user')").fetchone()[0] is None:
                return 0
            return int(connection.execute(USERS).fetchone()[0])

    def put_back(self, copy: Path) -> None:
        """By pg_restore in one transaction; what was there stays as a schema of its own."""
        with self._connected() as connection:
            if connection.execute("select to_regnamespace(%s)", (KEPT_SCHEMA,)).fetchone()[0] is not None:
                raise Refusal(
                    f"The database still has the schema {KEPT_SCHEMA} of an earlier restore. Nothing was changed. Once "
                    f"it is not needed any more, remove it with: drop schema {KEPT_SCHEMA} cascade"
                )
            connection.execute(f"alter schema public rename to {KEPT_SCHEMA}")
            connection.execute("create schema public")
        with ExitStack() as back:
            back.callback(self._take_back)
            with as_user(*self.owner), _without_password(self.url) as url:
                options = ("--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges")
                self.runner.run(
                    Command(Tool.PG_RESTORE, (*options, "--schema=public", f"--dbname={url}", str(copy)), DUMP_S)
                )
            back.pop_all()
        copy.unlink()

    def _take_back(self) -> None:
        with self._connected() as connection:
            connection.execute("drop schema public cascade")
            connection.execute(f"alter schema {KEPT_SCHEMA} rename to public")

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        import psycopg  # noqa: PLC0415 - only where the console has PostgreSQL

        try:
            with as_user(*self.owner), psycopg.connect(_plain(self.url)) as connection:
                yield connection
        except psycopg.Error as error:
            raise Refusal(f"PostgreSQL refuses: {error}. The database is unchanged.") from error


def database_of(settings: Mapping[str, str], state: Path, owner: tuple[int, int], runner: Runner) -> Database:
    """The one that these settings name."""
    url = settings.get("NASADVISOR_DATABASE_URL", "")
    return Postgresql(url, owner, runner) if url else Sqlite(state, owner)


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=20)


def _plain(url: str) -> str:
    """As libpq writes it; Django's setting knows other names for the scheme."""
    return f"postgresql://{url.partition('://')[2]}"


@contextmanager
def _without_password(url: str) -> Iterator[str]:
    """The URL with its password in a file of its own: everybody on the machine sees the arguments of a program."""
    parts = urlsplit(_plain(url))
    if parts.password is None:
        yield parts.geturl()
        return
    escaped = unquote(parts.password).replace("\\", "\\\\").replace(":", "\\:")
    with tempfile.NamedTemporaryFile("w", prefix="nasadvisor-") as file:  # readable for its owner only
        file.write(f"*:*:*:*:{escaped}\n")
        file.flush()
        place = parts.netloc.rpartition("@")[2]
        query = urlencode([*parse_qsl(parts.query), ("passfile", file.name)])
        yield parts._replace(netloc=f"{quote(parts.username or '')}@{place}", query=query).geturl()
