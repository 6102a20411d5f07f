"""The services are as limited as their work allows, asked of systemd itself, and what is left open has its reason."""

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nasadvisor.runtime.alive import EVERY_S, WITHIN_S

ROOT = Path(__file__).parents[3]
UNITS = sorted((ROOT / "packaging/systemd").glob("*.service"))
HOST = ROOT / "packaging/systemd/nasadvisor-host.service"
PAGE = (ROOT / "docs/reference/packaging.md").read_text(encoding="utf-8")
ANALYZE = shutil.which("systemd-analyze")
NEEDS_SYSTEMD = pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed (Debian package systemd)")


@pytest.fixture(autouse=True)
def no_commands() -> None:
    """Overrides the one for all other unit tests: systemd-analyze reads a file and says what it thinks of it."""


def settings(unit: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in unit.read_text(encoding="utf-8").splitlines():
        name, is_setting, value = line.partition("=")
        if is_setting and not line.startswith(("#", " ")):
            found.setdefault(name, []).append(value)
    return found


@cache
def security(unit: Path, *options: str) -> str:
    assert ANALYZE
    command = [ANALYZE, "security", "--offline=true", "--no-pager", *options, str(unit)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def exposure(unit: Path) -> float:
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", security(unit))
    assert found, security(unit)
    return float(found[1])


@NEEDS_SYSTEMD
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_service_is_exposed_as_the_page_says_and_less_than_it_was(unit: Path) -> None:
    row = re.search(rf"^\| `{unit.stem}` \| ([\d.]+) \| ([\d.]+) \| (\S+) \|$", PAGE, re.MULTILINE)
    assert row, "it has no row in docs/reference/packaging.md"
    assert float(row[2]) < float(row[1])
    # What counts differs a little between releases of systemd.
    assert exposure(unit) <= float(row[2]) + 0.3
    assert settings(unit)["MemoryMax"] == [row[3]]


@NEEDS_SYSTEMD
def test_each_point_that_the_service_of_root_leaves_open_has_its_reason() -> None:
    found: list[dict[str, Any]] = json.loads(security(HOST, "--json=short"))
    points = {point["name"] for point in found if point["set"] is False}
    reasons = PAGE.replace("\\|", "|")
    assert len(points) > 10
    assert {name for name in points if f"`{name}`" not in reasons} == set()


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_every_service_is_bounded(unit: Path) -> None:
    bounds = {"MemoryMax", "TasksMax", "UMask", "LimitNOFILE", "LogRateLimitIntervalSec", "LogRateLimitBurst"}
    assert bounds <= set(settings(unit))
    assert settings(unit)["UMask"] == ["0077"]


LASTING = [unit for unit in UNITS if "Restart" in settings(unit)]


@pytest.mark.parametrize("unit", LASTING, ids=lambda unit: unit.stem)
def test_a_service_that_ends_is_tried_again_for_ever(unit: Path) -> None:
    """By default systemd gives up after five starts within ten seconds."""
    assert settings(unit)["Restart"] == ["always"]
    assert settings(unit)["StartLimitIntervalSec"] == ["0"]


@pytest.mark.parametrize("unit", LASTING, ids=lambda unit: unit.stem)
def test_a_service_that_stands_still_is_noticed(unit: Path) -> None:
    """What is written here tells systemd that it is alive; Redis does not, and is asked every minute."""
    if unit.stem.endswith("redis"):
        watch = (ROOT / "packaging/redis-watch").read_text(encoding="utf-8")
        assert f"end_if_it_hangs {unit.name} " in watch
    else:
        assert settings(unit)["WatchdogSec"] == ["15min"]
        # SIGABRT would leave the memory of the process, with what it keeps secret, on the disk.
        assert settings(unit)["WatchdogSignal"] == ["SIGKILL"]
        assert 2 * EVERY_S < WITHIN_S < 15 * 60


def test_the_worker_goes_on_when_a_program_of_its_is_killed_for_its_memory() -> None:
    """Without it, systemd stops the whole service in the middle of a run."""
    assert settings(HOST)["OOMPolicy"] == ["continue"]


def test_the_service_of_root_has_no_mounts_of_its_own() -> None:
    """It must see what is mounted as everybody else does; each of these would give it a view of its own."""
    own: tuple[str, ...] = (
        "PrivateTmp",
        "PrivateMounts",
        "PrivateDevices",
        "ProtectSystem",
        "ProtectHome",
        "ProtectProc",
        "ProcSubset",
    )
    own += ("ProtectKernelTunables", "ProtectKernelModules", "ProtectKernelLogs", "ProtectControlGroups")
    own += ("ReadWritePaths", "ReadOnlyPaths", "InaccessiblePaths", "ExecPaths", "NoExecPaths", "BindPaths")
    own += ("RuntimeDirectory", "StateDirectory", "TemporaryFileSystem", "RootDirectory", "DynamicUser")
    assert set(own) & set(settings(HOST)) == set()


def test_only_the_service_of_root_reaches_devices() -> None:
    for unit in UNITS:
        found = settings(unit)
        if unit != HOST:
            assert found["PrivateDevices"] == ["yes"]
            assert "DeviceAllow" not in found
    assert settings(HOST)["DeviceAllow"] == ["block-* rw", "char-nvme rw", "char-misc rw"]


def test_no_service_of_the_console_reaches_what_is_the_hosts() -> None:
    for unit in UNITS:
        if settings(unit).get("User") == ["nasadvisor"]:
            assert "nasadvisor-host" not in " ".join(settings(unit).get("ReadWritePaths", []))
            hidden = " ".join(settings(unit)["InaccessiblePaths"])
            assert "/var/lib/nasadvisor" in hidden


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: str(unit.stem))
def test_a_service_waits_for_no_name_server_without_a_limit(unit: Path) -> None:
    text = unit.read_text()
    if "AF_INET" in text and "bin/python" in text:
        assert '"RES_OPTIONS=timeout:2 attempts:2"' in text
