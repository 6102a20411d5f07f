"""The console in containers: the image is built on a Debian made here, and each part runs without any privilege."""

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.lab.host_settings import CERTIFICATES, apt_options, debian_mirror
from tests.lab.instance import free_port

pytestmark = [pytest.mark.lab, pytest.mark.long]

ROOT = Path(__file__).parents[2]
TOOLS = ("podman", "buildah", "mmdebstrap", "runc")
BASE, IMAGE = "localhost/nasadvisor-base", "localhost/nasadvisor-test"
USER = "968"
START_S = 300
SETTINGS_OF_PIP_AND_NPM = (Path("/etc/pip.conf"), Path("/etc/npmrc"), Path("/root/.npmrc"), CERTIFICATES)
# A container may need less than Docker asks for by itself.
RUNTIME = ("--runtime", "runc", "--cgroup-manager", "cgroupfs")
PARTS = {
    "redis": ("redis-server", "/usr/lib/nasadvisor/redis.conf", "--supervised", "no"),
    "prepare": ("python", "manage.py", "prepare"),
    "web": (),
    "worker": ("python", "-m", "nasadvisor.console.worker"),
    "beat": ("python", "-m", "nasadvisor.console.clock"),
}


@pytest.fixture(scope="module")
def image() -> str:
    """The image, on a base that comes from this machine's Debian mirror and not from a registry."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    if subprocess.run(["podman", "image", "exists", BASE], check=False).returncode:
        with tempfile.TemporaryDirectory() as folder:
            tar = f"{folder}/base.tar"
            options = [f"--aptopt={option}" for option in apt_options()]
            mmdebstrap = ["mmdebstrap", "--mode=root", "--variant=apt", "--include=ca-certificates"]
            subprocess.run([*mmdebstrap, *options, "trixie", tar, debian_mirror()], check=True)
            subprocess.run(["podman", "import", tar, BASE], check=True)
    here = [f"--volume={path}:{path}:ro" for path in SETTINGS_OF_PIP_AND_NPM if path.exists()]
    build = ["buildah", "build", "--isolation=chroot", "--ulimit=nofile=4096:4096", f"--build-arg=BASE={BASE}", *here]
    subprocess.run([*build, f"--file={ROOT}/docker/Dockerfile", f"--tag={IMAGE}", str(ROOT)], check=True)
    return IMAGE


@dataclass
class Stack:
    """What compose.yaml starts, started one by one with the same restrictions."""

    image: str
    folder: Path
    port: int

    def start(self, part: str, *command: str) -> None:
        subprocess.run(["podman", *RUNTIME, *self._run(part), "--detach", self.image, *command], check=True)

    def finish(self, part: str, *command: str) -> str:
        argv = ["podman", *RUNTIME, *self._run(part), "--rm", self.image, *command]
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout

    def inside(self, part: str, script: str) -> subprocess.CompletedProcess[str]:
        argv = ["podman", *RUNTIME, "exec", self.name(part), "sh", "-c", script]
        return subprocess.run(argv, capture_output=True, text=True, check=False)

    def name(self, part: str) -> str:
        return f"nasadvisor-test-{part}-{self.port}"

    def remove(self) -> None:
        for part in PARTS:
            subprocess.run(["podman", "rm", "--force", "--ignore", "--time=5", self.name(part)], check=False)

    def _run(self, part: str) -> list[str]:
        return [
            *("run", f"--name={self.name(part)}", "--read-only", "--cap-drop=all", "--network=host"),
            *(
                "--security-opt=no-new-privileges",
                "--tmpfs=/tmp",
                "--ulimit=nofile=4096:4096",
                "--ulimit=nproc=4096:4096",
            ),
            "--env=NASADVISOR_ALLOWED_HOSTS=127.0.0.1",
            f"--volume={self.folder}/state:/var/lib/nasadvisor/console",
            f"--volume={self.folder}/run:/run/nasadvisor",
        ]


@pytest.fixture(scope="module")
def stack(image: str) -> Iterator[Stack]:
    """Redis, web, worker and beat, after the database was prepared."""
    with tempfile.TemporaryDirectory(prefix="nasadvisor-") as folder:
        for part in ("state", "run"):
            (Path(folder) / part).mkdir()
            subprocess.run(["chown", USER, f"{folder}/{part}"], check=True)
        stack = Stack(image, Path(folder), free_port())
        web = ("python", "-m", "nasadvisor.console.contained", "nasadvisor.asgi:application", "--lifespan", "off")
        try:
            stack.start("redis", *PARTS["redis"])
            assert "ready" in stack.finish("prepare", *PARTS["prepare"])
            stack.start("web", *web, "--host", "127.0.0.1", "--port", str(stack.port))
            stack.start("worker", *PARTS["worker"])
            stack.start("beat", *PARTS["beat"])
            yield stack
        finally:
            stack.remove()


def test_the_pages_answer(stack: Stack) -> None:
    page = ""
    deadline = time.monotonic() + START_S
    while "<form" not in page:
        assert time.monotonic() < deadline
        time.sleep(2)
        argv = ["curl", "--insecure", "--silent", "--location", f"https://127.0.0.1:{stack.port}/"]
        page = subprocess.run(argv, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("part", ["redis", "web", "worker", "beat"])
def test_a_part_has_no_privilege_and_changes_no_file_of_the_image(stack: Stack, part: str) -> None:
    status = stack.inside(part, "cat /proc/1/status; id -u").stdout
    assert status.split()[-1] == USER
    for which in ("CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert f"{which}:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
    for place in ("/usr/lib/nasadvisor/app/x", "/etc/x", "/x", "/var/x"):
        assert "Read-only" in stack.inside(part, f"touch {place}").stderr
    assert stack.inside(part, "find /dev -type b").stdout == ""


def test_worker_and_web_meet_at_the_message_service(stack: Stack) -> None:
    send = (
        "from nasadvisor.console.celery_app import app; "
        "app.send_task('console.store_inventory_error', ['nas', {'code': 'x', 'template': 'y', 'values': {}}])"
    )
    done = stack.inside("web", f'python manage.py shell --no-imports --command "{send}"')
    assert done.returncode == 0, done.stderr
    look = (
        "from nasadvisor.console.fleet.models import Node; print([n.inventory_error.code for n in Node.objects.all()])"
    )
    deadline = time.monotonic() + START_S
    while "['x']" not in stack.inside("web", f'python manage.py shell --no-imports --command "{look}"').stdout:
        assert time.monotonic() < deadline
        time.sleep(2)


def test_no_part_in_compose_asks_for_a_privilege() -> None:
    text = (ROOT / "docker" / "compose.yaml").read_text()
    assert "privileged" not in text
    assert "cap_add" not in text
    assert "devices" not in text


def test_the_image_is_for_a_user_of_its_own(image: str) -> None:
    argv = ["podman", "image", "inspect", image]
    [described] = json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)
    assert described["Config"]["User"] == "nasadvisor"
