"""What a refusal says about labels and features, followed word for word on real OpenZFS."""

import re
from collections.abc import Iterator

import pytest

from nasadvisor.domain.change.checks import can_use_pool
from nasadvisor.domain.change.refusals import LABELS, DiskHeld
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import HoldKind
from tests.integration.agent import Agent
from tests.integration.wishes import keys_of, pool_of
from tests.lab.guest import Guest

pytestmark = pytest.mark.lab

EXAMINE = "udevadm trigger --settle --subsystem-match=block && udevadm settle"


@pytest.fixture
def slice_(agent: Agent) -> Iterator[str]:
    """A partition of an SSD by its persistent name, and files for pools beside it."""
    path = f"{agent.guest.disks()['nvme0'].by_id}-part1"
    agent.guest.run(
        f"sgdisk -n1:0:+512M {path.removesuffix('-part1')} && udevadm settle && mkdir -p /v && "
        "for n in 0 1; do rm -f /v/f$n; truncate -s 512M /v/f$n; done"
    )
    yield path
    agent.guest.run("for p in $(zpool list -Ho name | grep -v tank); do zpool destroy -f $p; done; rm -rf /v")


def refusal_of(agent: Agent) -> Refused:
    """What is said of the SSD with the label."""
    inventory = agent.inventory()
    disk = inventory.disk(*keys_of(agent, "nvme0"))
    assert disk is not None
    (hold,) = [hold for hold in disk.all_holds if hold.kind in LABELS]
    return DiskHeld(disk, hold)


def follow(guest: Guest, refusal: Refused, *verbs: str) -> None:
    """Run the commands that the sentence names, those that begin so, in its order; each has to succeed."""
    for command in re.findall("`([^`]+)`", str(refusal)):
        if command.startswith(verbs):
            guest.run(command)
    guest.run(EXAMINE)


def guids(guest: Guest) -> dict[str, str]:
    return dict(line.split() for line in guest.run("zpool get -H -o name,value guid").stdout.splitlines())


def labels(agent: Agent) -> list[str]:
    disk = agent.inventory().disk(*keys_of(agent, "nvme0"))
    assert disk is not None
    return [str(hold.kind) for hold in disk.all_holds if hold.kind in LABELS]


@pytest.mark.parametrize(
    "renamed", [False, pytest.param(True, marks=pytest.mark.long)], ids=["as before", "renamed since"]
)
def test_a_label_left_behind_goes_by_the_command_that_is_named(agent: Agent, slice_: str, renamed: bool) -> None:
    """Proves: an SSD that was out while its log was removed is freed by one command, and its pool is not touched."""
    guest = agent.guest
    guest.run(
        f"zpool create -o ashift=12 other /v/f0 log {slice_} && dd if={slice_} of=/v/label bs=1M status=none && "
        f"zpool remove other {slice_} && dd if=/v/label of={slice_} bs=1M oflag=direct status=none"
    )
    if renamed:
        guest.run("zpool export other && zpool import -d /v other second")
    guest.run(EXAMINE)
    before = guids(guest)
    refusal = refusal_of(agent)
    assert refusal.code == f"disk-{HoldKind.LEFTOVER_LABEL}"
    follow(guest, refusal, "zpool")
    assert labels(agent) == []
    assert guids(guest) == before


def test_the_label_of_a_pool_that_is_away_goes_by_the_commands_that_are_named_and_its_namesake_lives(
    agent: Agent, slice_: str
) -> None:
    guest = agent.guest
    guest.run(
        f"zpool create -o ashift=12 other {slice_} && zpool export other && zpool create other /v/f0 && {EXAMINE}"
    )
    before = guids(guest)
    refusal = refusal_of(agent)
    assert refusal.code == f"disk-{HoldKind.EXPORTED_POOL}"
    follow(guest, refusal, "zpool import -N", "zpool destroy", "zpool labelclear /")
    assert labels(agent) == []
    assert guids(guest) == before


def test_the_label_of_a_pool_that_is_nowhere_goes_by_the_last_command_that_is_named(agent: Agent, slice_: str) -> None:
    guest = agent.guest
    guest.run(f"zpool create -o ashift=12 other /v/f0 log {slice_} && zpool export other && rm /v/f0 && {EXAMINE}")
    follow(guest, refusal_of(agent), "zpool labelclear -f")
    assert labels(agent) == []


def test_the_label_of_a_cache_whose_pool_is_away_goes_by_the_command_that_is_named(agent: Agent, slice_: str) -> None:
    guest = agent.guest
    guest.run(f"zpool create -o ashift=12 other /v/f0 cache {slice_} && zpool export other && {EXAMINE}")
    follow(guest, refusal_of(agent), "zpool labelclear")
    assert labels(agent) == []


def test_a_feature_that_a_pool_is_limited_from_is_enabled_by_the_commands_that_are_named(
    agent: Agent, slice_: str
) -> None:
    del slice_
    agent.guest.run("zpool create -o compatibility=freenas-9.10.2 -o ashift=12 other /v/f0")
    refusal = can_use_pool(pool_of(agent, "other"), agent.inventory().host, adds_log=True)
    assert isinstance(refusal, Refused)
    assert (refusal.code, refusal.values["sets"]) == ("feature-missing", "freenas-9.10.2")
    follow(agent.guest, refusal, "zpool set")
    assert "allocation_classes" in pool_of(agent, "other").features
