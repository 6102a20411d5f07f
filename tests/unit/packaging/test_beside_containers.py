"""The host part beside the console in containers, set up by what docker/README.md says: it stays so after a restart."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.unit.packaging.test_units import settings

ROOT = Path(__file__).parents[3]
PACKAGING = ROOT / "packaging"
PAGE = (ROOT / "docker/README.md").read_text(encoding="utf-8").replace(" \\\n   ", "")
UNITS = {unit.name: settings(unit) for unit in (PACKAGING / "systemd").iterdir()}
TMPFILES = PACKAGING / "nasadvisor.tmpfiles"


@pytest.fixture(autouse=True)
def no_commands() -> None:
    """Overrides the one for all other unit tests: the page's own command changes a text."""


def wanted_by(name: str) -> set[str]:
    """What starts with a unit."""
    return {
        each for key in ("Wants", "Requires", "BindsTo") for line in UNITS[name].get(key, []) for each in line.split()
    }


def test_nothing_that_stays_enabled_starts_a_service_that_was_disabled() -> None:
    """Proves: systemd starts what a unit wants, whether it is disabled or not. Two Redis would take the same socket."""
    found = " ".join(re.findall(r"^systemctl disable --now (.*)$", PAGE, re.MULTILINE)).split()
    disabled = {name if "." in name else f"{name}.service" for name in found}
    assert {"nasadvisor-redis.service", "nasadvisor-web.service"} <= disabled
    assert disabled <= set(UNITS)
    begin = {name for name, said in UNITS.items() if "WantedBy" in said} - disabled
    reached: set[str] = set()
    while begin:
        reached |= begin
        begin = {each for name in begin for each in wanted_by(name) & set(UNITS)} - reached
    assert reached & disabled == set()


def test_the_directory_of_the_sockets_belongs_to_the_images_user_after_each_start_and_update() -> None:
    """Proves: the package's own line gives it to the host's user at each boot; the page's file stands in for it."""
    command = re.search(
        r"^(sed .*) /usr/lib/tmpfiles\.d/nasadvisor\.conf > /etc/tmpfiles\.d/nasadvisor\.conf$", PAGE, re.MULTILINE
    )
    assert command
    user = re.search(r"--uid (\d+)", (ROOT / "docker/Dockerfile").read_text(encoding="utf-8"))
    assert user
    argv = [*shlex.split(command[1]), str(TMPFILES)]
    changed = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    packaged = TMPFILES.read_text(encoding="utf-8")
    theirs, ours = "d /run/nasadvisor 0750 nasadvisor nasadvisor\n", f"d /run/nasadvisor 0750 {user[1]} {user[1]}\n"
    assert changed == packaged.replace(theirs, ours) != packaged
