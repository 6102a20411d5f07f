"""The gate itself: what it hands to the executor, what a permit holds, and how it says no."""

import errno
from dataclasses import dataclass, field, replace
from typing import NoReturn

import pytest

from nasadvisor.domain.change.actions import CreateTable, RestoreTable, RewindTable
from nasadvisor.domain.change.device_scan import DeviceScan, Signature, Step
from nasadvisor.domain.change.table_area import Area
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.change import gate as gate_module
from nasadvisor.host.change.gate import CallFailed, Gate, Permit, PermitMisused, Ran
from nasadvisor.host.errors import HostError, PoolNotUnderstood
from tests.unit.machines import ARCHIVE, MIRROR_AND_CACHES, NVME1, TANK, home_server, plan_for
from tests.unit.permits import InOrder

BEFORE, LAST = Area(b"b" * 512, b""), Area(b"l" * 512, b"")
OWN = OwnTable(BEFORE, LAST, (BEFORE, LAST))
SEEN = DeviceScan(table=LAST)
MACHINE = home_server()
STEP = next(action for action in plan_for(MIRROR_AND_CACHES, MACHINE).actions if isinstance(action, CreateTable))


@dataclass(frozen=True)
class Asked(InOrder):
    """Keeps what it was asked to look at."""

    asked: list[tuple[Step, Inventory, OwnTable | None]] = field(default_factory=list)

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None) -> DeviceScan:
        self.asked.append((step, inventory, own))
        return self.seen


def test_the_executor_looks_at_the_very_step_on_the_very_host_with_what_the_run_knows() -> None:
    executor = Asked(MACHINE, SEEN)
    gate = Gate(executor)
    assert gate.inventory() is MACHINE
    assert gate.look(STEP, MACHINE, OWN) is SEEN
    assert gate.look(STEP, MACHINE) is SEEN
    assert isinstance(gate.ask(STEP, MACHINE, OWN), Permit)
    assert isinstance(gate.ask(STEP, MACHINE), Permit)
    assert gate.against(STEP, MACHINE, OWN) == ()
    assert executor.asked == [(STEP, MACHINE, own) for own in (OWN, None, OWN, None, OWN)]


def unread(*guids: str) -> Inventory:
    return replace(
        MACHINE, pools=tuple(replace(pool, problem="odd" if pool.guid in guids else "") for pool in MACHINE.pools)
    )


def test_no_step_of_a_run_goes_by_a_pool_that_could_not_be_read() -> None:
    """What is not shown of it would be taken for gone: a log for removed, a cache for lost."""
    with pytest.raises(PoolNotUnderstood, match="tank could not be interpreted: odd"):
        Gate(InOrder(unread(TANK), SEEN), TANK).inventory()


def test_a_pool_with_another_guid_by_now_may_be_the_one_that_could_not_be_read() -> None:
    with pytest.raises(PoolNotUnderstood, match="archive"):
        Gate(InOrder(unread(ARCHIVE), SEEN), "77").inventory()


def test_another_pool_that_could_not_be_read_holds_no_run_up() -> None:
    machine = unread(ARCHIVE)
    assert Gate(InOrder(machine, SEEN), TANK).inventory() is machine
    assert Gate(InOrder(machine, SEEN)).inventory() is machine


def test_a_permit_holds_what_was_asked_and_what_was_seen() -> None:
    permit = Gate(InOrder(MACHINE, SEEN)).ask(STEP, MACHINE, OWN)
    assert isinstance(permit, Permit)
    assert (permit.step, permit.inventory, permit.look, permit.own) == (STEP, MACHINE, SEEN, OWN)


def test_what_the_rules_forbid_is_not_even_looked_at() -> None:
    executor = Asked(MACHINE, SEEN)
    gone = replace(MACHINE, disks=())
    refused = Gate(executor).ask(STEP, gone, OWN)
    assert isinstance(refused, Refused)
    assert executor.asked == []
    assert Gate(executor).against(STEP, gone, OWN) == (refused,)


def test_what_the_bytes_forbid_is_refused_with_the_reason() -> None:
    gate = Gate(InOrder(MACHINE, replace(SEEN, signatures=(Signature("ext4"),))))
    refused = gate.ask(STEP, MACHINE, OWN)
    assert isinstance(refused, Refused)
    assert refused.code == "disk-not-empty"
    assert gate.against(STEP, MACHINE, OWN) == (refused,)


def permit(step: Step, own: OwnTable | None) -> Permit:
    return Permit(step, MACHINE, SEEN, own, gate_module._SEAL)


def test_a_restored_table_is_the_one_from_before_the_run_and_a_rewound_one_that_of_the_last_step() -> None:
    restore, rewind = RestoreTable(NVME1, "/dev/x", "", ()), RewindTable(NVME1, "/dev/x")
    assert permit(restore, OWN).area == BEFORE
    assert permit(rewind, OWN).area == LAST
    assert permit(restore, None).area is None
    assert permit(rewind, None).area is None
    assert permit(STEP, OWN).area is None
    assert permit(STEP, None).area is None


class Broken(Asked):
    """A host whose every call the kernel refuses in a way that nothing expects."""

    def inventory(self) -> Inventory:
        raise OSError(errno.EIO, "Input/output error", "/sys/block")

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None) -> DeviceScan:
        return self._refuse()

    def do(self, permit: Permit) -> Ran:
        return self._refuse()

    def _refuse(self) -> NoReturn:
        raise OSError(errno.ENFILE, "Too many open files")


def test_an_error_that_no_reader_knows_of_is_told_and_ends_no_run_in_the_middle() -> None:
    permit = Gate(InOrder(MACHINE, SEEN)).ask(STEP, MACHINE, OWN)
    assert isinstance(permit, Permit)
    gate = Gate(Broken(MACHINE, SEEN))
    for call in (
        gate.inventory,
        lambda: gate.look(STEP, MACHINE),
        lambda: gate.ask(STEP, MACHINE),
        lambda: gate.do(permit),
    ):
        with pytest.raises(CallFailed) as error:
            call()
        assert isinstance(error.value, HostError)
        assert "[Errno" in str(error.value.statement.values["problem"])


def test_a_permit_that_is_misused_says_which_rule_was_broken() -> None:
    with pytest.raises(PermitMisused, match="only the gate makes permits"):
        Permit(STEP, MACHINE, SEEN, OWN, object())
    once = permit(STEP, OWN)
    assert once.spend() == STEP
    with pytest.raises(PermitMisused, match="the permit for create-table was used before"):
        once.spend()
