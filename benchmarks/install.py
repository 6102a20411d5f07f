"""From `apt install` to the first page in a plain Debian, on this machine's own processor; and the same for an upgrade.

The system is a directory without systemd. So what the units do is done here by hand, one after the other: Redis,
`manage.py prepare`, the certificate, and the pages. What the package needs of Debian's is downloaded before.
"""

import http.client
import shutil
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.figure import Figure
from tests.lab.deb import RELEASED_XZ, deb
from tests.lab.instance import free_port
from tests.lab.packages import GUEST_SUITE
from tests.lab.plain_root import run_in_root, unpack_plain_root

BUDGET_S: Final = 60
APT: Final = "apt-get --quiet --yes"
AS_CONSOLE: Final = "setpriv --reuid nasadvisor --regid nasadvisor --clear-groups"
PYTHON: Final = "/usr/lib/nasadvisor/venv/bin/python -I"
"""As in the units."""

SYSTEM: Final = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
BEFORE_THE_PAGES: Final = f"""
install -d -o nasadvisor -g nasadvisor -m 0750 /run/nasadvisor /var/lib/nasadvisor/console
cd /var/lib/nasadvisor/console
{AS_CONSOLE} /usr/lib/nasadvisor/redis-server /usr/lib/nasadvisor/redis.conf --supervised no --daemonize yes
{AS_CONSOLE} {PYTHON} /usr/lib/nasadvisor/app/manage.py prepare
{PYTHON} -m nasadvisor.host.fleet.certificate
"""
PAGES: Final = "-m uvicorn nasadvisor.asgi:application --lifespan off --no-access-log"
FIRST: Final = f"{APT} install --no-install-recommends /nasadvisor.deb"
NEXT: Final = f"{APT} install --no-install-recommends /upgrade.deb"
PATIENCE_S: Final = 300


def figures() -> Iterator[Figure]:
    """Install it, then an upgrade over it."""
    with tempfile.TemporaryDirectory(prefix="nasadvisor-install-") as folder:
        root = Path(folder) / "root"
        unpack_plain_root(GUEST_SUITE, root, _log(root))
        for name, version in (("nasadvisor.deb", ""), ("upgrade.deb", "99")):
            shutil.copy(next(deb(version=version, xz=RELEASED_XZ).glob("nasadvisor_*.deb")), root / name)
        _run(root, f"{APT} update && {FIRST.replace(' install', ' install --download-only')}")
        yield _figure("apt install to the first page", root, FIRST)
        yield _figure("an upgrade to the first page", root, NEXT)


def _figure(name: str, root: Path, install: str) -> Figure:
    began = time.monotonic()
    _run(root, install)
    installed_s = time.monotonic() - began
    _first_page(root)
    seconds = time.monotonic() - began
    return Figure(name, f"<= {BUDGET_S} s", f"{seconds:.1f} s, {installed_s:.1f} of them apt", met=seconds <= BUDGET_S)


def _first_page(root: Path) -> None:
    """What the units do until the pages answer, then end it.

    Raises:
        RuntimeError: the pages did not answer.
    """
    port = free_port()
    _run(root, BEFORE_THE_PAGES)
    pages = f"set -a; . /run/nasadvisor-tls/environment; exec {AS_CONSOLE} {PYTHON} {PAGES} --port {port}"
    with (root.parent / "pages.log").open("wb") as log:
        process = subprocess.Popen(["/usr/sbin/chroot", root, "sh", "-ec", pages], env=SYSTEM, stdout=log, stderr=log)
        try:
            _wait_for(process, port)
        finally:
            process.terminate()
            process.wait()
            _run(root, "redis-cli -s /run/nasadvisor/redis.sock shutdown nosave")


def _wait_for(process: "subprocess.Popen[bytes]", port: int) -> None:
    """Until the page to sign in at is there: that, and no error or redirection.

    Raises:
        RuntimeError: something else answers, or nothing does.
    """
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # made by itself a moment ago
    until = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < until:
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=PATIENCE_S, context=context)
        try:
            connection.request("GET", "/login/")
            status = connection.getresponse().status
            if status == http.HTTPStatus.OK:
                return
            raise RuntimeError(f"the first page answers {status}")
        except ConnectionError:
            time.sleep(0.1)
        finally:
            connection.close()
    raise RuntimeError("the pages did not answer")


def _run(root: Path, script: str) -> None:
    run_in_root(root, ["sh", "-ec", script], _log(root))


def _log(root: Path) -> Path:
    return root.parent / "log"
