"""The console in containers: the image is built on a Debian made here, and `compose.yaml` is brought up as it is.

Beside it a host part runs on this machine, simulated, as a process of its own; both meet at the Redis socket.
"""

import hashlib
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, HTTPSHandler, OpenerDirector, Request, build_opener

import pytest

from tests.integration.containers import ROOT, USER, Containers, containers

pytestmark = [pytest.mark.lab, pytest.mark.long]

MACHINE = ROOT / "tests/fixtures/machines/typical.json"
PARTS = ("redis", "web", "worker")
PASSWORD = "correct horse battery staple"
PATIENCE_S = 300
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


@pytest.fixture(scope="module")
def stack() -> Iterator[Containers]:
    """What `podman-compose up` has brought up."""
    with containers() as made:
        made.compose("up", "--detach")
        yield made


@pytest.fixture(scope="module")
def host(stack: Containers) -> Iterator[None]:
    """The host part of a machine that exists only in memory, reached by the socket alone."""
    here = stack.folder / "host"
    environment = {
        **os.environ,
        "NASADVISOR_RUN_DIR": str(stack.run_dir),
        "NASADVISOR_HOST_STATE": str(here),
        "NASADVISOR_HOST_RUN_DIR": str(here / "locks"),
        "NASADVISOR_SIMULATED_MACHINE": str(MACHINE),
    }
    del environment["DJANGO_SETTINGS_MODULE"]
    (here / "locks").mkdir(parents=True)
    worker = [sys.executable, "-W", "ignore", "-m", "nasadvisor.host.simulated.worker"]
    with subprocess.Popen(worker, cwd=ROOT, env=environment) as process:
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)


def wait_for(true: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end, what
        time.sleep(1)


def runs_anew(stack: Containers, part: str, before: int) -> bool:
    """Whether a part has another process than before."""
    return stack.inspect(part)["State"]["Pid"] not in (0, before)


def certificate_at(port: int) -> str:
    """With which the pages come; nothing while nobody answers."""
    try:
        return ssl.get_server_certificate(("127.0.0.1", port), timeout=10)
    except OSError:
        return ""


def visitor(port: int, fingerprint: str) -> OpenerDirector:
    """A browser of somebody who has compared the fingerprint, and trusts nothing else."""
    shown = certificate_at(port)
    assert hashlib.sha256(ssl.PEM_cert_to_DER_cert(shown)).hexdigest().upper() == fingerprint.replace(":", "")
    return build_opener(
        HTTPCookieProcessor(CookieJar()), HTTPSHandler(context=ssl.create_default_context(cadata=shown))
    )


def page(browser: OpenerDirector, address: str, **form: str) -> str:
    """A page; with a form, what comes after it is sent. Nothing while nobody answers."""
    data = urlencode(form).encode() if form else None
    try:
        with browser.open(Request(address, data, {"Referer": address}), timeout=60) as answer:
            return str(answer.read().decode())
    except (URLError, ConnectionError):
        return ""


def test_prepare_ran_to_its_end_before_the_others_began(stack: Containers) -> None:
    prepared = stack.inspect("prepare")
    assert prepared["State"]["ExitCode"] == 0
    assert prepared["HostConfig"]["RestartPolicy"]["Name"] in ("", "no")


@pytest.mark.parametrize("part", PARTS)
def test_a_part_has_no_privilege_and_changes_no_file_of_the_image(stack: Containers, part: str) -> None:
    found = stack.inspect(part)
    assert found["HostConfig"]["RestartPolicy"]["Name"] == "unless-stopped"
    status = Path(f"/proc/{found['State']['Pid']}/status").read_text()
    assert f"Uid:\t{USER}\t{USER}\t{USER}\t{USER}\n" in status
    assert f"Gid:\t{USER}\t{USER}\t{USER}\t{USER}\n" in status
    for which in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert f"{which}:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
    tried = "for place in /usr/lib/nasadvisor/app /etc / /var; do touch $place/x 2>&1; done; find /dev -type b"
    said = stack.compose("exec", "-T", part, "sh", "-c", tried).splitlines()
    assert len(said) == 4, said
    assert all("Read-only file system" in line for line in said), said


def test_redis_is_reached_by_its_socket_alone(stack: Containers) -> None:
    assert stack.inspect("redis")["HostConfig"]["NetworkMode"] == "none"
    wait_for((stack.run_dir / "redis.sock").is_socket, "no socket")
    found = (stack.run_dir / "redis.sock").stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (USER, USER, 0o660)


@pytest.mark.usefixtures("host")
def test_the_first_administrator_sees_the_pool_of_the_host(stack: Containers) -> None:
    """Proves: from `up` to the first page, by what the commands of docker/README.md print and HTTPS alone."""
    wait_for(lambda: certificate_at(stack.port), "the pages do not answer")
    said = stack.manage("setup_link", "--base-url", f"https://127.0.0.1:{stack.port}")
    link, about = said.splitlines()
    browser = visitor(stack.port, about.rpartition(" ")[2])
    found = TOKEN.search(page(browser, link))
    assert found
    token = {"csrfmiddlewaretoken": found[1]}
    first = page(browser, link, **token, username="anna", password1=PASSWORD, password2=PASSWORD)
    assert "anna" in first
    [pool] = json.loads(MACHINE.read_text())["pools"]
    address = f"https://127.0.0.1:{stack.port}/"
    wait_for(lambda: f"/pools/{pool['guid']}/" in page(browser, address), "the first page does not show the pool")
    assert pool["name"] in page(browser, address)


@pytest.mark.usefixtures("host")
def test_the_clock_makes_the_worker_ask_the_host(stack: Containers) -> None:
    """Proves: worker and host go round: readings come, and nobody but the clock asks for them."""
    count = "from nasadvisor.console.evidence.models import StoredSample as S; print(S.objects.count())"
    wait_for(lambda: int(stack.manage("shell", "--no-imports", "--command", count)), "no reading came")


def test_what_is_killed_is_started_anew_where_nothing_requires_the_preparation(stack: Containers) -> None:
    """Proves: what docker/README.md says for podman, which starts nothing anew that requires what has ended."""
    stack.compose("down", "--timeout=10")
    stack.compose("run", "--rm", "prepare")
    stack.compose("up", "--detach", "--no-deps", *PARTS)
    for part in PARTS:
        before = stack.inspect(part)["State"]["Pid"]
        os.kill(before, signal.SIGKILL)
        wait_for(partial(runs_anew, stack, part, before), f"{part} does not come back")


def test_down_leaves_no_container_and_no_volume(stack: Containers) -> None:
    stack.compose("down", "--volumes")
    assert stack.podman("ps", "--all", "--quiet") == ""
    assert stack.podman("volume", "ls", "--quiet") == ""


def test_no_part_in_compose_asks_for_a_privilege() -> None:
    text = (ROOT / "docker" / "compose.yaml").read_text()
    assert "privileged" not in text
    assert "cap_add" not in text
    assert "devices" not in text
