"""A console as an installation runs it: PostgreSQL, both message services, pages, worker and receiver.

The latter three are started with the arguments of their units.
"""

import os
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from urllib.parse import unquote, urlsplit

from benchmarks.console import console_folder
from benchmarks.figure import Skipped
from tests.lab.instance import free_port
from tests.postgresql import programs, server

ROOT = Path(__file__).parents[1]
PATIENCE_S = 180.0
UNITS = {"pages": "web", "worker": "console", "receiver": "remote"}
"""What runs of the console, and the name of its unit."""


@dataclass
class Stack:
    """The processes by name, the port of the pages, where what they print is kept, and the pid of PostgreSQL."""

    folder: Path
    port: int
    database: int
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def start(self, name: str, argv: list[str]) -> None:
        """Start one of them; what it prints goes to a file."""
        with self.log(name).open("wb") as log:
            environment = {**os.environ, "MALLOC_ARENA_MAX": "2"}
            self.processes[name] = subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=log, stderr=log)

    def log(self, name: str) -> Path:
        """What a process printed."""
        return self.folder / f"{name}.log"

    def wait_for(self, name: str, is_there: Callable[[], bool]) -> None:
        """Wait until a process is ready.

        Raises:
            RuntimeError: it ended, or was not ready in time.
        """
        until = time.monotonic() + PATIENCE_S
        while not is_there():
            if self.processes[name].poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{name} does not start: {self.log(name).read_text()[-2000:]}")
            time.sleep(0.1)

    def end(self) -> None:
        """End them all, those that were started last first."""
        for process in reversed(self.processes.values()):
            process.terminate()
            process.wait()

    def memory(self) -> dict[str, float]:
        """Of each of them and of PostgreSQL, in MiB of PSS: what several share is counted in parts."""
        return {name: _pss_mib(process.pid) for name, process in self.processes.items()} | {
            "postgresql": _pss_mib(self.database)
        }


@contextmanager
def stack() -> Iterator[Stack]:
    """All of it, with Django set up in this process too; nothing of it stays.

    Raises:
        Skipped: PostgreSQL or Redis is not installed.
    """
    where = programs()
    redis = shutil.which("redis-server")
    if isinstance(where, str):
        raise Skipped(where)
    if redis is None:
        raise Skipped("redis-server is not installed (Debian package redis-server)")
    with ExitStack() as ending:
        run = Path(tempfile.mkdtemp(prefix="nasadvisor-load-", dir="/tmp"))  # short: it is part of sockets' paths
        ending.callback(shutil.rmtree, run)
        url = ending.enter_context(server(where))
        _settings_for(run, url)
        console_folder()
        made = Stack(run, int(os.environ["UVICORN_PORT"]), _pid_of(url))
        ending.callback(made.end)
        _prepare()
        _start_services(made, redis)
        yield made


def start_console(made: Stack) -> None:
    """Start what the console consists of, and wait for its pages."""
    for name, unit in UNITS.items():
        made.start(name, command_of(unit))
    made.wait_for("pages", lambda: "Uvicorn running" in made.log("pages").read_text())


def command_of(unit: str) -> list[str]:
    """How the unit starts it, with this Python and this source tree."""
    text = (ROOT / f"packaging/systemd/nasadvisor-{unit}.service").read_text(encoding="utf-8").replace("\\\n", " ")
    (line,) = [line for line in text.splitlines() if line.startswith("ExecStart=")]
    words = shlex.split(line.removeprefix("ExecStart=").replace("%%", "%"))
    options = words[words.index("-I") + 1 :]
    return [sys.executable, *(str(ROOT / "manage.py") if word.endswith("/manage.py") else word for word in options)]


def _settings_for(run: Path, url: str) -> None:
    os.environ |= {
        "NASADVISOR_DATABASE_URL": url,
        "NASADVISOR_RUN_DIR": str(run),
        "NASADVISOR_REDIS": f"redis+socket://{run}/redis.sock",
        "NASADVISOR_SECRET_KEY": secrets.token_urlsafe(50),
        "UVICORN_HOST": "127.0.0.1",
        "UVICORN_PORT": str(free_port()),
    }


def _prepare() -> None:
    from django.core.management import call_command  # noqa: PLC0415 - Django is set up by now

    from nasadvisor.console.fleet.remote import listening  # noqa: PLC0415

    call_command("prepare", stdout=StringIO())
    collect = [sys.executable, str(ROOT / "manage.py"), "collectstatic", "--no-input", "--verbosity", "0"]
    subprocess.run(collect, check=True, cwd=ROOT)
    listening.listen(listening.Listening(("127.0.0.1",), free_port()), datetime.now(UTC))


def _start_services(made: Stack, redis: str) -> None:
    from nasadvisor.console.fleet.remote import listening  # noqa: PLC0415

    private = made.folder / "redis.sock"
    options = ("--unixsocket", str(private), "--supervised", "no", "--dir", str(made.folder))
    made.start("redis", [redis, str(ROOT / "packaging/redis.conf"), *options])
    made.start("remote redis", [redis, str(listening.folder() / "redis.conf")])
    made.wait_for("redis", private.exists)
    made.wait_for("remote redis", listening.socket_path().exists)


def _pid_of(url: str) -> int:
    """Of the database server whose folder the URL names."""
    folder = Path(unquote(urlsplit(url).netloc.rpartition("@")[2]))
    return int((folder / "data" / "postmaster.pid").read_text().split()[0])


def family(pid: int) -> list[int]:
    """A process, and those that it has started."""
    return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]


def _pss_mib(pid: int) -> float:
    """Of a process and of those that it started."""
    return sum(map(_pss_kib, family(pid))) / 1024


def _pss_kib(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended in between
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
