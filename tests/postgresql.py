"""A PostgreSQL of one's own for tests: `python -m tests.postgresql [what pytest runs]` runs the console's on it."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

NOBODY = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups")
CONSOLE = ("tests/unit/console", "-m", "not long and not devices", "--numprocesses", "2", "--dist", "worksteal")


def programs() -> Path | str:
    """Where the newest installed PostgreSQL has its programs; or why there can be none here."""
    if importlib.util.find_spec("psycopg") is None:
        return "psycopg is not installed (pip install 'psycopg[binary]')"
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not found or shutil.which("setpriv") is None:
        return "PostgreSQL is not installed (Debian package postgresql)"
    if os.geteuid() != 0:
        return "only root can start PostgreSQL as another user, which it asks for"
    return found[-1].parent


@contextmanager
def server(where: Path) -> Iterator[str]:
    """The URL of a fresh database that only the caller knows. Nothing of it outlives a power cut."""
    folder = Path(tempfile.mkdtemp(prefix="nasadvisor-pg-", dir="/tmp"))
    shutil.chown(folder, "nobody", "nogroup")
    data = folder / "data"
    initdb = [*NOBODY, str(where / "initdb"), "--username=nasadvisor", "--no-sync", "-A", "trust", "-E", "UTF8"]
    subprocess.run([*initdb, "--locale=C.UTF-8", str(data)], check=True, stdout=subprocess.DEVNULL)
    options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off -c full_page_writes=off"
    control = [*NOBODY, str(where / "pg_ctl"), "--pgdata", str(data), "--wait", "--silent"]
    subprocess.run([*control, "--log", str(folder / "log"), "--options", options, "start"], check=True)
    try:
        yield f"postgresql://nasadvisor@{quote(str(folder), safe='')}/postgres"
    finally:
        subprocess.run([*control, "--mode=immediate", "stop"], check=False)
        shutil.rmtree(folder)


def main(arguments: list[str]) -> int:
    """Run pytest with the console on PostgreSQL; its exit code, 0 where there is no PostgreSQL."""
    where = programs()
    if isinstance(where, str):
        print(f"The console's tests on PostgreSQL are skipped: {where}")
        return 0
    with server(where) as url:
        pytest = [sys.executable, "-m", "pytest", *(arguments or CONSOLE)]
        return subprocess.run(pytest, env={**os.environ, "NASADVISOR_DATABASE_URL": url}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
