"""The product in the lab guest, installed the way a user installs it."""

import hashlib
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.deb import deb
from tests.lab.guest import Guest
from tests.lab.shell import Completed

ROOT = Path(__file__).parents[2]
PACKAGE = "/root/nasadvisor.deb"
INSTALL_SECONDS = 900
SERVICES = tuple(f"nasadvisor-{name}" for name in ("redis", "web", "console", "host"))
MANAGE = "/usr/lib/nasadvisor/manage"
# One sync at the end instead of one for each of 10,000 files.
APT = "DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-unsafe-io"
INSTALL = f"{APT} install --reinstall --allow-downgrades {PACKAGE} && sync"
PAGE = "curl --insecure --silent --max-time 60 --location https://127.0.0.1:8843/"
ANSWERS = "for _ in $(seq 300); do (: < /dev/tcp/127.0.0.1/8843) 2> /dev/null && exit 0; sleep 1; done; exit 1"


class Product:
    """The installed product in one guest."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest

    def install(self) -> None:
        """Install the package made from this source tree; then everything runs."""
        self.bring(deb())
        self.guest.run(INSTALL, timeout=INSTALL_SECONDS)
        self.start()

    def bring(self, packages: Path) -> None:
        """Put a package into the guest, where `INSTALL` takes it from."""
        package = next(packages.glob("nasadvisor_*.deb"))
        self.guest.run(f"cat > {PACKAGE}", stdin=package.read_bytes(), timeout=INSTALL_SECONDS)

    def is_installed(self) -> bool:
        """Whether it is just this package that is installed."""
        package = next(deb().glob("nasadvisor_*.deb"))
        digest = hashlib.sha256(package.read_bytes()).hexdigest()
        same = f"echo '{digest} {PACKAGE}' | sha256sum --check --status && dpkg-query --status nasadvisor"
        return self.guest.run(same, check=False).stdout.count("Status: install ok installed") == 1

    def start(self) -> None:
        """Start what was stopped and disabled after the tests of another module."""
        self.guest.run(["systemctl", "enable", "--quiet", "--now", *SERVICES], timeout=INSTALL_SECONDS)
        self.wait_until_it_answers()

    def wait_until_it_answers(self) -> None:
        """The pages take a while to start under emulation."""
        self.guest.run(["bash", "-c", ANSWERS], timeout=INSTALL_SECONDS)

    def cli(self, *args: str) -> Completed:
        """Run `nasadvisor …`, whatever its exit code."""
        return self.guest.run(["nasadvisor", *args], check=False, timeout=600)

    def json(self, *args: str) -> Any:
        """The JSON answer of a command that must end with code 0."""
        done = self.cli(*args, "--json")
        assert done.code == 0, done.stderr
        return json.loads(done.stdout)

    def console(self, python: str, seconds: float = 300) -> str:
        """What a line of Python prints that runs in the console's own environment."""
        return self.guest.run([MANAGE, "shell", "--no-imports", "--command", python], timeout=seconds).stdout.strip()

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
    if product.is_installed():
        product.start()
    else:
        product.install()
    yield product
    guest.run(["systemctl", "disable", "--now", *SERVICES], timeout=INSTALL_SECONDS)


@pytest.fixture
def probe_run(product: Product) -> Iterator[str]:
    """A log applied by the command line; undone afterwards if it still can be."""
    product.guest.reset()
    ssds = [disk.by_id for name, disk in product.guest.disks().items() if name.startswith("nvme")]
    options = ("--pool", "tank", "--log", *ssds, "--log-size", "128M", "--output", "/root/plan.json")
    assert product.cli("plan", *options).code == 0
    run = product.json("apply", "/root/plan.json", "--yes")["run"]
    yield run
    product.cli("undo", run, "--yes")
