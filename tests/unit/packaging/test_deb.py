"""The Debian package says what it needs, and its scripts do no harm."""

import re
from pathlib import Path

import pytest

from nasadvisor.host.adapters.process import PACKAGES, Tool

ROOT = Path(__file__).parents[3]
PACKAGING = ROOT / "packaging"
RECIPES = sorted(path.parent for path in (PACKAGING / "deb").glob("*/control"))
RECIPE = PACKAGING / "deb" / "nasadvisor"
UNITS = sorted((PACKAGING / "systemd").glob("*.service"))
AS_ROOT = frozenset({"nasadvisor-host", "nasadvisor-certificate"})
"""The worker of the host, and what looks at the platform's certificate, which only root can read."""
SCRIPTS = sorted(path for recipe in RECIPES for path in recipe.glob("p*[mt]") if path.name.startswith(("post", "prer")))
# Programs without which the product still does its work, and those of OpenZFS, which is there or is not.
OPTIONAL = {Tool.BPFTRACE, Tool.FIO, Tool.NVME, Tool.ZDB, Tool.ZFS, Tool.ZPOOL}
# Always there: no package depends on these.
ESSENTIAL = {"dpkg", "perl-base", "util-linux"}


def field(recipe: Path, name: str) -> list[str]:
    found = re.search(rf"^{name}: (.*)$", (recipe / "control").read_text(), re.MULTILINE)
    return [word.strip() for word in found[1].split(",")] if found else []


def test_it_depends_on_the_packages_of_every_program_that_it_must_be_able_to_start() -> None:
    needed = {package for tool, package in PACKAGES.items() if tool not in OPTIONAL} - ESSENTIAL
    assert needed - set(field(RECIPE, "Depends")) == set()
    assert {PACKAGES[Tool.FIO], PACKAGES[Tool.NVME]} <= set(field(RECIPE, "Recommends"))
    assert PACKAGES[Tool.BPFTRACE] in field(RECIPE, "Suggests")


def test_it_does_not_depend_on_a_package_that_opens_a_port() -> None:
    assert "redis-server" not in field(RECIPE, "Depends") + field(RECIPE, "Recommends")


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_every_package_has_what_the_build_asks_for(recipe: Path) -> None:
    assert field(recipe, "Package") == [recipe.name]
    assert field(recipe, "Version") == ["@VERSION@"]
    assert (recipe / "copyright").exists()
    assert (recipe / "stage.sh").stat().st_mode & 0o100


def test_what_is_installed_is_there_and_nothing_else_of_the_source() -> None:
    names = (PACKAGING / "app-files").read_text().split()
    assert [name for name in names if not (ROOT / name).exists()] == []
    assert {"tests", "benchmarks", "node_modules", "build", "packaging"} & set(names) == set()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_maintainer_scripts_stop_at_the_first_error_and_know_of_no_pool(script: Path) -> None:
    lines = script.read_text().splitlines()
    assert lines[0] == "#!/bin/sh"
    assert "set -e" in lines
    code = "\n".join(line for line in lines if not line.startswith("#"))
    assert re.findall(r"\b(zpool|zfs|sgdisk|wipefs|blkdiscard|labelclear|dd)\b", code) == []


def test_a_purge_stays_out_of_file_systems_mounted_below() -> None:
    removals = [line.strip() for line in (RECIPE / "postrm").read_text().splitlines() if "rm -rf" in line]
    assert removals == [
        "rm -rf /run/nasadvisor",
        "rm -rf --one-file-system /etc/nasadvisor /var/lib/nasadvisor /run/nasadvisor",
    ]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_every_service_of_the_console_waits_for_its_database(unit: Path) -> None:
    text = unit.read_text()
    is_console = "venv/bin/python" in text and unit.stem not in {*AS_ROOT, "nasadvisor-prepare"}
    assert ("Requires=nasadvisor-prepare.service" in text) == is_console


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_every_service_that_need_not_be_root_runs_as_the_consoles_user_without_any_privilege(unit: Path) -> None:
    lines = set(unit.read_text().splitlines())
    unprivileged = {"User=nasadvisor", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "ProtectSystem=strict"}
    assert (unprivileged <= lines) == (unit.stem not in AS_ROOT)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_every_service_starts_what_the_package_installs(unit: Path) -> None:
    for command in re.findall(r"^ExecStart=(\S+)", unit.read_text(), re.MULTILINE):
        assert command in {
            "/usr/bin/systemctl",
            "/usr/bin/touch",
            "/usr/lib/nasadvisor/venv/bin/python",
            "/usr/lib/nasadvisor/redis-server",
        }
