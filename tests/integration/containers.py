"""The console in containers, as `docker/compose.yaml` says, by podman and podman-compose.

All that podman keeps, its settings included, lies in one directory that is removed afterwards. Of the machine it has
what any container takes: a bridge, its rules of the firewall, and IP forwarding.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.lab.host_settings import CERTIFICATES
from tests.lab.instance import free_port
from tests.lab.plain_root import plain_root

ROOT = Path(__file__).parents[2]
COMPOSE = Path(sys.executable).with_name("podman-compose")
TOOLS = ("podman", "runc", "iptables", "mmdebstrap")
NETWORK = Path("/usr/lib/podman/netavark")
BASE, IMAGE = "localhost/nasadvisor-base", "nasadvisor"
USER = 968
"""Of the image."""
BUILD_S, UP_S = 1800, 300
SETTINGS_OF_PIP_AND_NPM = (Path("/etc/pip.conf"), Path("/etc/npmrc"), Path("/root/.npmrc"), CERTIFICATES)

# runc takes the control groups of any machine, and a machine that is a guest itself may give fewer files and processes
# than podman asks for.
CONTAINERS_CONF = """
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[network]
network_config_dir = "{folder}/networks"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "{folder}/engine"
"""
STORAGE_CONF = """
[storage]
driver = "overlay"
graphroot = "{folder}/storage"
runroot = "{folder}/run"
"""


@dataclass(frozen=True)
class Containers:
    """What is below one folder. `port` is where the pages are reached."""

    folder: Path
    port: int

    @property
    def run_dir(self) -> Path:
        """Where containers and host part meet."""
        return self.folder / "nasadvisor"

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "CONTAINERS_CONF": str(self.folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(self.folder / "storage.conf"),
            "NASADVISOR_RUN_DIR": str(self.run_dir),
            "NASADVISOR_PORT": str(self.port),
        }

    def podman(self, *argv: str, seconds: float = UP_S, check: bool = True) -> str:
        """What podman prints; what it says beside that goes where pytest shows it."""
        return self._run(["podman", *argv], seconds, check).stdout

    def compose(self, *argv: str, check: bool = True) -> str:
        """What podman-compose prints for `docker/compose.yaml`."""
        file = self.folder / "docker" / "compose.yaml"
        return self._run([str(COMPOSE), "--file", str(file), *argv], UP_S, check).stdout

    def manage(self, *argv: str) -> str:
        """What a command of the console prints, called as docker/README.md says."""
        return self.compose("exec", "-T", "web", "python", "manage.py", *argv)

    def inspect(self, part: str) -> dict[str, Any]:
        """What podman knows of the container of a part."""
        [found] = json.loads(self.podman("inspect", self.id_of(part)))
        return dict(found)

    def id_of(self, part: str) -> str:
        """The one container of a part."""
        label = f"label=com.docker.compose.service={part}"
        [found] = self.podman("ps", "--all", "--quiet", "--filter", label).split()
        return found

    def prepare(self) -> None:
        """Write the settings, and make the directory where both sides meet."""
        for name, text in {"containers.conf": CONTAINERS_CONF, "storage.conf": STORAGE_CONF}.items():
            (self.folder / name).write_text(text.format(folder=self.folder), encoding="utf-8")
        (self.folder / "docker").mkdir()
        shutil.copy(ROOT / "docker/compose.yaml", self.folder / "docker")
        self.run_dir.mkdir(mode=0o750)
        os.chown(self.run_dir, USER, USER)

    def build(self) -> None:
        """Build the image, with this machine's way to the registries of packages."""
        here = [f"--volume={path}:{path}:ro" for path in SETTINGS_OF_PIP_AND_NPM if path.exists()]
        options = (f"--file={ROOT}/docker/Dockerfile", f"--tag={IMAGE}", f"--build-arg=BASE={BASE}")
        self.podman("build", *options, *here, str(ROOT), seconds=BUILD_S)

    def remove(self) -> None:
        """End all containers, and forget all that podman has kept."""
        try:
            self.compose("down", "--volumes", "--timeout=10", check=False)
        finally:
            self.podman("system", "reset", "--force", seconds=BUILD_S, check=False)

    def _run(self, argv: list[str], seconds: float, check: bool) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            argv, env=self.environment, stdout=subprocess.PIPE, text=True, timeout=seconds, check=check
        )


def suite_of_image() -> str:
    """The release of Debian that the image is made from."""
    found = re.search(r"^ARG BASE=debian:(\w+)-slim@", (ROOT / "docker/Dockerfile").read_text(), re.MULTILINE)
    assert found
    return found[1]


def skip_without_tools() -> None:
    """Say what is missing to run containers."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    missing += [] if NETWORK.exists() else ["netavark"]
    missing += [] if COMPOSE.exists() else ["podman-compose"]
    if missing:
        pytest.skip(f"Not installed (make test-tools): {', '.join(missing)}.")
    if os.geteuid():
        pytest.skip("Only root can make the base of the image and give the sockets' directory to the image's user.")


def bring_base(containers: Containers) -> None:
    """The base of the image, from this machine's Debian mirror and not from a registry of images; and whether a
    container runs, with a network as compose.yaml asks for it.
    """
    for argv in (("import", str(plain_root(suite_of_image())), BASE), ("run", "--rm", BASE, "true")):
        tried = subprocess.run(
            ["podman", *argv], env=containers.environment, stderr=subprocess.PIPE, text=True, check=False
        )
        if tried.returncode:
            pytest.skip(f"Containers do not run on this machine: {tried.stderr.strip()}")


@contextmanager
def containers() -> Iterator[Containers]:
    """Podman with the image, and nothing running yet. All is gone afterwards."""
    skip_without_tools()
    with tempfile.TemporaryDirectory(prefix="nasadvisor-") as folder:
        made = Containers(Path(folder), free_port())
        try:
            made.prepare()
            bring_base(made)
            made.build()
            yield made
        finally:
            made.remove()
