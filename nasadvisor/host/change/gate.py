"""The one gate before every write: it asks the rules, looks at the very bytes, and only then gives a permit.

Nothing on the host is changed without a permit: `Executor.do` takes nothing else, only the gate makes one, and one is
good for one step once. First runs, finishing, putting back, undoing and cleaning all come through here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol

from nasadvisor.domain.change.actions import Cleaning, RestoreTable, RewindTable, UndoAction
from nasadvisor.domain.change.checks import can
from nasadvisor.domain.change.device_scan import DeviceScan, Step, against_look
from nasadvisor.domain.change.runs import CommandRan
from nasadvisor.domain.change.table_area import Area
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.change.undo_checks import can_clean, can_undo
from nasadvisor.domain.statements import Answer, Refused
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.errors import HostError, PoolNotUnderstood

Ran = tuple[CommandRan, ...]

_SEAL: Final = object()


class CallFailed(HostError):  # noqa: N818 - named for what happened
    """The kernel refused something that it never should."""

    def __init__(self, error: OSError) -> None:
        template = _(
            "The kernel refused a call of this step: {problem}. The progress of the step until then is read from the "
            "host. See the kernel log (dmesg)."
        )
        super().__init__(template, problem=str(error))


class PermitMisused(RuntimeError):  # noqa: N818 - named for what happened
    """A mistake in this program: a write that the gate did not let through, or a second one by the same permit."""


@dataclass
class Permit:
    """Leave to do one step once, in the state of the host in which the rules were asked.

    `own` is what the run knows of the disk's table, None where it knows nothing.
    """

    step: Step
    inventory: Inventory
    look: DeviceScan
    own: OwnTable | None
    seal: object = field(repr=False)
    _spent: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise PermitMisused("only the gate makes permits")

    @property
    def area(self) -> Area | None:
        """The sectors to write, for steps that write a table back."""
        if isinstance(self.step, RestoreTable):
            return self.own.before if self.own else None
        if isinstance(self.step, RewindTable) and self.own and self.look.table:
            return self.own.rewound(self.look.table)
        return None

    def spend(self) -> Step:
        """The step, for the one who does it now."""
        if self._spent:
            raise PermitMisused(f"the permit for {self.step.action} was used before")
        self._spent = True
        return self.step


class Executor(Protocol):
    """Acts on one host. Every method may raise HostError."""

    def inventory(self) -> Inventory:
        """The host as it is now."""
        ...

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None) -> DeviceScan:
        """Read what a step would write on, off the devices themselves; empty where they are not there.

        `own` is what the run knows of the disk's table, None before its first step on that disk.
        """
        ...

    def do(self, permit: Permit) -> Ran:
        """Do a step that the gate let through."""
        ...


@dataclass(frozen=True)
class Gate:
    """The gate of a host: `executor` is reached through it only; `pool_guid` is the pool of the run, if it has one."""

    executor: Executor
    pool_guid: str = ""

    def inventory(self) -> Inventory:
        """The host as it is now. What is not shown of the run's pool is really not there.

        Raises:
            HostError
        """
        with _told():
            inventory = self.executor.inventory()
        pool = inventory.pool(self.pool_guid)
        # A pool with another guid by now (`zpool reguid`) may be any of those that could not be read.
        suspects = (pool,) if pool else inventory.pools if self.pool_guid else ()
        for suspect in suspects:
            if suspect.problem:
                raise PoolNotUnderstood(suspect.name, suspect.problem)
        return inventory

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None = None) -> DeviceScan:
        """What a step would write on.

        Raises:
            HostError
        """
        with _told():
            return self.executor.look(step, inventory, own)

    def against(self, step: Step, inventory: Inventory, own: OwnTable | None = None) -> tuple[Refused, ...]:
        """What speaks against a step now, without a permit for it.

        Raises:
            HostError
        """
        answer = self.ask(step, inventory, own)
        return (answer,) if isinstance(answer, Refused) else ()

    def ask(self, step: Step, inventory: Inventory, own: OwnTable | None = None) -> Permit | Refused:
        """Ask every rule about a step on a host that was just read, then look at the bytes and ask about those.

        Raises:
            HostError: the host or a device could not be read; nothing may be written.
        """
        answer = _rules(step, inventory)
        if isinstance(answer, Refused):
            return answer
        look = self.look(step, inventory, own)
        refused = against_look(step, look, own, inventory)
        return refused or Permit(step, inventory, look, own, _SEAL)

    def do(self, permit: Permit) -> Ran:
        """Do what was permitted.

        Raises:
            HostError: it could not be done, or only in part.
        """
        with _told():
            return self.executor.do(permit)


@contextmanager
def _told() -> Iterator[None]:
    """Tell an error of the system that no reader or writer knew of, so that the run comes to its end."""
    try:
        yield
    except OSError as error:
        raise CallFailed(error) from error


def _rules(step: Step, inventory: Inventory) -> Answer:
    if isinstance(step, Cleaning):
        return can_clean(step, inventory)
    return can_undo(step, inventory) if isinstance(step, UndoAction) else can(step, inventory)
