"""The Debian package in a plain Debian that does not run, as where an image is made: it brings what it needs."""

import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.lab.deb import deb
from tests.lab.packages import GUEST_SUITE
from tests.lab.plain_root import unpack_plain_root

pytestmark = pytest.mark.lab

AS_CONSOLE = "setpriv --reuid nasadvisor --regid nasadvisor --clear-groups"
PYTHON = "/usr/lib/nasadvisor/venv/bin/python"
APT = "DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes"
FILES = "find / -xdev -path /proc -prune -o -path /tmp -prune -o -path /var/log -prune -o -path /var/cache -prune -o"
LEFT = f"{FILES} -path /var/lib/dpkg -prune -o -iname '*nasadvisor*' -print"


@dataclass(frozen=True)
class Root:
    """A system that only has files."""

    path: Path

    def run(self, command: str, timeout: float = 600) -> str:
        """What a shell command prints that must succeed in there."""
        argv = ["chroot", str(self.path), "sh", "-c", command]
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "HOME": "/root"}
        done = subprocess.run(
            argv,
            check=False,
            env=environment,
            text=True,
            timeout=timeout,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    """A plain Debian with the package installed by apt, from the archive and from the one file."""
    directory = tmp_path_factory.mktemp("plain")
    path = directory / "root"
    unpack_plain_root(GUEST_SUITE, path, directory / "log")
    shutil.copy(next(deb().glob("nasadvisor_*.deb")), path / "nasadvisor.deb")
    root = Root(path)
    root.run(f"{APT} update && {APT} install --no-install-recommends /nasadvisor.deb")
    yield root
    shutil.rmtree(path)


def test_everything_it_needs_came_along(root: Root) -> None:
    assert "nasadvisor" in root.run("nasadvisor --version")
    for program in ("sgdisk", "smartctl", "wipefs", "udevadm"):
        root.run(f"command -v {program}")
    make_report = "import weasyprint; weasyprint.HTML(string='<p>a page').write_pdf('/tmp/page.pdf')"
    root.run(f"{PYTHON} -I -c {shlex.quote(make_report)} && head -c 5 /tmp/page.pdf | grep -q '%PDF-'")


def test_its_redis_is_debians_and_no_service_of_debians_came_with_it(root: Root) -> None:
    start = "/usr/lib/nasadvisor/redis-server /usr/lib/nasadvisor/redis.conf --supervised no --unixsocket /tmp/r.sock"
    ask = "redis-cli -s /tmp/r.sock"
    said = root.run(f"{AS_CONSOLE} {start} --daemonize yes; sleep 1; {ask} ping; {ask} config get port; {ask} shutdown")
    assert said.split()[-3:] == ["PONG", "port", "0"]
    services = root.run("ls /usr/lib/systemd/system | grep redis").split()
    ours = ("nasadvisor-redis-watch.service", "nasadvisor-redis-watch.timer", "nasadvisor-redis.service")
    assert services == [*ours, "nasadvisor-remote-redis.service"]


def test_the_console_can_be_prepared_by_its_own_user(root: Root) -> None:
    root.run("install -d -o nasadvisor -g nasadvisor -m 0750 /var/lib/nasadvisor/console")
    said = root.run(f"{AS_CONSOLE} {PYTHON} -I /usr/lib/nasadvisor/app/manage.py prepare")
    assert "The console is ready." in said
    assert "console.sqlite3" in root.run("ls /var/lib/nasadvisor/console")


def test_every_service_is_enabled_and_none_is_open_to_others(root: Root) -> None:
    wanted = root.run("ls /etc/systemd/system/multi-user.target.wants").split()
    assert {name for name in wanted if name.startswith("nasadvisor")} == {
        *(f"nasadvisor-{name}.service" for name in ("console", "host", "redis", "web")),
        "nasadvisor-remote.path",
    }
    timers = root.run("ls /etc/systemd/system/timers.target.wants").split()
    assert [name for name in timers if name.startswith("nasadvisor")] == [
        "nasadvisor-certificate.timer",
        "nasadvisor-redis-watch.timer",
    ]
    assert root.run("stat -c '%U %a' /etc/nasadvisor/environment").split() == ["root", "640"]


def test_nothing_in_it_is_out_of_place(root: Root) -> None:
    files = root.run("dpkg --listfiles nasadvisor").splitlines()
    foreign = ("/tests/integration/", "/node_modules", "/.git", "/build/", "/.venv", "/usr/local/", "/pip/")
    assert [file for file in files if any(part in f"{file}/" for part in foreign)] == []
    inside = ("/etc/nasadvisor/environment", "/usr/lib/nasadvisor/app/staticfiles/staticfiles.json")
    assert [file for file in inside if file not in files] == []
    assert root.run("dpkg --verify nasadvisor") == ""


@pytest.mark.long
def test_lintian_finds_no_error(root: Root) -> None:
    root.run(f"{APT} install --no-install-recommends lintian")
    said = root.run("lintian --allow-root --fail-on none --tag-display-limit 0 /nasadvisor.deb", timeout=1800)
    print(said)
    assert [line for line in said.splitlines() if line.startswith("E:")] == []


def test_removing_keeps_what_cannot_be_made_again_and_purging_does_not(root: Root) -> None:
    """The last test: it takes away what the others look at."""
    pool = "mkdir -p /var/lib/nasadvisor/host/runs/1 && echo x > /var/lib/nasadvisor/host/runs/1/journal.jsonl"
    root.run(pool)
    said = root.run(f"{APT} remove nasadvisor")
    assert "No pool, disk or slice was touched" in said
    assert not list((root.path / "usr").rglob("nasadvisor*"))
    root.run("cat /etc/nasadvisor/environment /var/lib/nasadvisor/host/runs/1/journal.jsonl")
    root.run(f"{APT} purge nasadvisor")
    assert root.run(LEFT).split() == ["/nasadvisor.deb"]
    assert root.run("passwd --status nasadvisor").split()[1] == "L"
