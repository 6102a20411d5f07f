"""The product in the lab guest, installed the way a user installs it."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.guest import Guest
from tests.lab.shell import Completed

ROOT = Path(__file__).parents[2]
SOURCE = "/root/nasadvisor"
PARTS = ("nasadvisor", "plugins", "templates", "static", "locale", "packaging", "requirements")
FILES = ("manage.py", "README.md", "CHANGELOG.md", "LICENSE")
INSTALL_SECONDS = 900
SERVICES = tuple(f"nasadvisor-{name}" for name in ("redis", "web", "console", "beat", "host"))
MANAGE = "/usr/lib/nasadvisor/manage"


class Product:
    """The installed product in one guest."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest

    def install(self) -> Completed:
        """Bring this source tree in and run its installer."""
        for part in filter(lambda part: (ROOT / part).exists(), PARTS):
            self.guest.push_tree(ROOT / part, f"{SOURCE}/{part}")
        for name in FILES:
            self.guest.put(ROOT / name, f"{SOURCE}/{name}")
        return self.guest.run(f"{SOURCE}/packaging/install.sh", timeout=INSTALL_SECONDS)

    def cli(self, *args: str) -> Completed:
        """Run `nasadvisor …`, whatever its exit code."""
        return self.guest.run(["nasadvisor", *args], check=False, timeout=600)

    def json(self, *args: str) -> Any:
        """The JSON answer of a command that must end with code 0."""
        done = self.cli(*args, "--json")
        assert done.code == 0, done.stderr
        return json.loads(done.stdout)

    def console(self, python: str) -> str:
        """What a line of Python prints that runs in the console's own environment."""
        return self.guest.run([MANAGE, "shell", "--no-imports", "--command", python]).stdout.strip()

    def state(self, service: str, name: str) -> str:
        """A property of a service."""
        return self.guest.run(["systemctl", "show", "--value", f"--property={name}", service]).stdout.strip()

    def pss_kib(self, service: str) -> int:
        """The memory of a service in KiB; what it shares with others is counted in parts."""
        processes = f"/sys/fs/cgroup/system.slice/{service}.service/cgroup.procs"
        # A command of the host's may end in between.
        script = f"for pid in $(cat {processes}); do sed -n 's/^Pss: *//p' /proc/$pid/smaps_rollup || true; done"
        return sum(int(line.split()[0]) for line in self.guest.run(script).stdout.splitlines())

    def as_console_user(self, command: str) -> Completed:
        """Run a shell command as the unprivileged user."""
        return self.guest.run(f"runuser -u nasadvisor -- sh -c {shlex.quote(command)}", check=False)

    def inside(self, service: str, command: str) -> Completed:
        """Run a shell command that sees the files a service sees."""
        pid = self.state(service, "MainPID")
        return self.guest.run(f"nsenter --target {pid} --mount sh -c {shlex.quote(command)}", check=False)


@pytest.fixture(scope="module")
def product(guest: Guest) -> Iterator[Product]:
    """The product, installed and running while the tests of one module run."""
    product = Product(guest)
    product.install()
    yield product
    guest.run(["systemctl", "disable", "--now", *SERVICES])
