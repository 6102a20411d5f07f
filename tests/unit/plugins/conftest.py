"""The dummy platform, registered by entry point as anybody else's would be."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from nasadvisor.host.simulated.executor import SimulatedExecutor
from plugins.proxmox.host import ProxmoxHost
from tests.unit.host.change.conftest import Bench
from tests.unit.machines import home_server
from tests.unit.plugins.pve import made_node

DUMMY = Path(__file__).parents[2] / "fixtures" / "dummy_platform"


@pytest.fixture
def dummy_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package is in the virtualenv, and nobody has imported it yet."""
    monkeypatch.syspath_prepend(DUMMY)
    yield
    for name in [name for name in sys.modules if name.startswith("nasadvisor_dummy")]:
        del sys.modules[name]


@pytest.fixture
def dummy_host(dummy_installed: None) -> ModuleType:
    """Its host part; what a test sets there is gone after it."""
    return importlib.import_module("nasadvisor_dummy.host")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, SimulatedExecutor(home_server()))


@pytest.fixture
def node(tmp_path: Path) -> ProxmoxHost:
    """A node of Proxmox VE with two virtual machines and a container."""
    return made_node(tmp_path)
