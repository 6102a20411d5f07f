"""A drawer of disks that tools stumble over, in a guest of its own: seen as they are, refused with the reason."""

from collections.abc import Iterator

import pytest

from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.storage.inventory import Disk
from nasadvisor.domain.units import GIB
from tests.integration.agent import Agent, push_source
from tests.integration.wishes import keys_of, pool_of
from tests.lab.guest import Guest
from tests.lab.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.long]


@pytest.fixture(scope="module")
def odd_guest() -> Iterator[Guest]:
    with Lab.start("odd", name="test-odd") as guest:
        push_source(guest)
        yield guest


@pytest.fixture
def odd(odd_guest: Guest) -> Iterator[Agent]:
    odd_guest.reset()
    with Agent(odd_guest) as agent:
        yield agent


def property_of(guest: Guest, name: str, attribute: str) -> str:
    return guest.run(["lsblk", "-dno", attribute, guest.disk(name).device]).stdout.strip()


def with_serial(agent: Agent, serial: str) -> list[Disk]:
    return [disk for disk in agent.inventory().disks if disk.identity.serial.strip() == serial]


def test_odd_disks_are_as_odd_as_wanted(odd_guest: Guest) -> None:
    seen = odd_guest.disks()
    assert set(seen) == {disk.name for disk in odd_guest.scenario.disks} | {"shared-2"}
    assert property_of(odd_guest, "native4k", "LOG-SEC") == "4096"
    assert property_of(odd_guest, "twin0", "SERIAL") == property_of(odd_guest, "twin1", "SERIAL")
    assert property_of(odd_guest, "nameless", "SERIAL") == ""
    assert int(odd_guest.run(["blockdev", "--getsize64", seen["tiny"].device]).stdout) < 64 << 20
    assert property_of(odd_guest, "shared", "SERIAL") == property_of(odd_guest, "shared-2", "SERIAL")


def test_an_ssd_with_larger_sectors_than_the_pool_writes_is_refused(odd: Agent) -> None:
    """Proves: a disk of 4096-byte sectors is not offered to a pool of ashift 9, and is taken by one of ashift 12."""
    odd.guest.run(f"zpool create -o ashift=9 old {odd.guest.disks()['sata0'].by_id}")
    keys = keys_of(odd, "native4k")
    before = odd.guest.digests("native4k")
    assert "sector-too-large" in odd.refusals(PlanRequest(pool_of(odd, "old").guid, keys, GIB))
    assert odd.guest.digests("native4k") == before
    assert not odd.refusals(PlanRequest(pool_of(odd).guid, keys, GIB))


@pytest.mark.parametrize(
    ("serial", "codes"),
    [
        ("AA000000000000000001", {"disk-duplicate"}),  # nothing tells them apart: neither is used
        ("PHLN2NAMESPACES", {"same-disk"}),  # two namespaces die with the one SSD they are on
    ],
)
def test_two_disks_with_one_serial_make_no_mirror(odd: Agent, serial: str, codes: set[str]) -> None:
    twins = with_serial(odd, serial)
    assert len(twins) == 2
    assert set(odd.refusals(PlanRequest(pool_of(odd).guid, tuple(disk.key for disk in twins), GIB))) == codes


def test_an_ssd_that_is_too_small_is_refused(odd: Agent) -> None:
    assert "too-small" in odd.refusals(PlanRequest(pool_of(odd).guid, keys_of(odd, "tiny"), GIB))


def test_an_ssd_without_a_serial_is_shown_and_not_used_blindly(odd: Agent) -> None:
    """Proves: a disk that cannot be recognised again is either known by its WWN or refused with that reason."""
    (nameless,) = (disk for disk in odd.inventory().disks if disk.identity.model == "no serial")
    refused = odd.refusals(PlanRequest(pool_of(odd).guid, (nameless.key,), GIB))
    assert nameless.identity.wwn or "no-persistent-name" in refused


def test_an_ssd_with_a_name_full_of_odd_signs_is_sliced_and_blank_again(odd: Agent) -> None:
    """Proves: spaces, commas and slashes in model and serial reach no shell and break no path."""
    blank = odd.guest.digests("spaced")
    (spaced,) = (disk for disk in odd.inventory().disks if disk.identity.model.startswith("SSD"))
    run = odd.apply(odd.plan(PlanRequest(pool_of(odd).guid, (spaced.key,), GIB)))
    assert run.state == "applied", [step.note for step in run.steps]
    assert odd.undo(run.id).state == "undone"
    assert odd.guest.digests("spaced") == blank
