"""Permits for tests of what comes behind the gate: the gate is asked as always, on a host whose bytes are in order."""

from dataclasses import dataclass, field

from nasadvisor.domain.change.device_scan import DeviceScan, Step
from nasadvisor.domain.change.table_area import Area
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.change.gate import Gate, Permit, Ran

AREA = Area(b"", b"")
OWN = OwnTable(AREA, AREA, (AREA,))


@dataclass(frozen=True)
class InOrder:
    """An executor that shows empty slices and our own tables, and does nothing."""

    shown: Inventory
    seen: DeviceScan = field(default_factory=lambda: DeviceScan(table=AREA))

    def inventory(self) -> Inventory:
        return self.shown

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None) -> DeviceScan:
        return self.seen

    def do(self, permit: Permit) -> Ran:
        permit.spend()
        return ()


def permit_for(step: Step, inventory: Inventory) -> Permit:
    """The gate's permit for a step on this host."""
    permit = Gate(InOrder(inventory)).ask(step, inventory, OWN)
    assert isinstance(permit, Permit), permit
    return permit
