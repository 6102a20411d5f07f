"""Replacements on real OpenZFS: each state is staged, what would be printed is typed word for word, and the pool is
whole again, with every other device of it and every byte (`in_guest/replacements.py`).
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.agent import Agent, python_in_guest
from tests.integration.in_guest.replacements import CASES, Case
from tests.lab.guest import Guest

pytestmark = [pytest.mark.lab, pytest.mark.long]

CASE_S = 120


@pytest.fixture(scope="module")
def quiet(sourced_guest: Guest) -> Iterator[Guest]:
    """The guest without zed, which would put spares in use by itself."""
    sourced_guest.run("systemctl stop zfs-zed")
    yield sourced_guest
    sourced_guest.run("systemctl start zfs-zed")


def staged(guest: Guest, name: str) -> dict[str, Any]:
    """What came of one case."""
    found: dict[str, Any] = json.loads(guest.run(python_in_guest("replacements", name), timeout=CASE_S).stdout)
    assert "error" not in found, found
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_printed_command_is_right_in_the_state_in_which_it_is_printed(quiet: Guest, case: Case) -> None:
    """Proves: before anything happens no device is named; what holds the change back is said and ends as it says; each
    command that is typed ends with 0, no other device leaves the pool, and every byte is there."""
    found = staged(quiet, case.name)
    assert found["healthy_named"] == []
    assert (tuple(found["held"]), tuple(found["verbs"])) == (case.held, case.verbs)
    assert found["others_left"] == []
    assert found["is_there"] is case.stays
    assert found["state"] == case.ends


def test_what_is_too_small_here_is_too_small_for_openzfs(quiet: Guest) -> None:
    assert "too small" in staged(quiet, "small")["says"]


def test_a_new_disk_that_fails_is_taken_out_by_the_command_that_is_named_and_the_old_one_stays(quiet: Guest) -> None:
    found = staged(quiet, "new disk fails")
    assert (found["is_there"], found["state"]) == (True, "ONLINE")


def test_errors_of_a_device_are_cleared_by_the_command_that_is_named(quiet: Guest) -> None:
    """Proves: two disks on one controller that returned wrong data are called a cable, and no other disk is named."""
    found = staged(quiet, "cable")
    assert (found["suspicion"], found["named"], found["after"]) == (["cable", "cable"], ["f1", "f2"], [])


FILL = (
    "dd if=/dev/urandom of=/rack/large bs=1M count=900 status=none; mkdir /rack/small && cd /rack/small && "
    "for n in $(seq 2000); do head -c 20000 /dev/urandom > $n; done; zpool sync rack"
)


@pytest.mark.parametrize("kind", ["mirror", "raidz"])
def test_a_new_disk_is_filled_in_the_time_that_was_said_within_half_of_it(agent: Agent, kind: str) -> None:
    """Proves: with a scrub on record, what is said of the time holds within ± 50 % on disks of one machine."""
    guest = agent.guest
    disks = {name: disk.by_id for name, disk in guest.disks().items() if name in ("nvme0", "nvme1", "sata0", "sas0")}
    sides, new = [disks[name] for name in ("nvme0", "nvme1", "sata0")][: 2 if kind == "mirror" else 3], disks["sas0"]
    guest.run(f"zpool create -o ashift=12 rack {kind} {' '.join(sides)}", timeout=120)
    guest.run(FILL, timeout=600)
    guest.run("zpool scrub -w rack", timeout=600)
    guid = guest.run(f"zpool get -H -o value guid rack {sides[0]}-part1").stdout.strip()
    told = json.loads(guest.run(python_in_guest("time_replacement", "rack", guid, new), timeout=900).stdout)
    print(
        f"{kind}: said {told['low']:.0f} to {told['high']:.0f} s for {told['bytes']:,} bytes, took {told['took']:.0f} s"
    )
    assert told["low"] * 0.5 <= told["took"] <= told["high"] * 1.5
