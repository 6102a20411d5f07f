"""What happens if a device of a plan dies: what its actions say of that (`if_lost`), and of devices that are there."""

from dataclasses import dataclass

from nasadvisor.domain.change.actions.attach_log import side_dies
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.statements import Finding
from nasadvisor.domain.storage.inventory import Inventory


@dataclass(frozen=True)
class DeviceLoss:
    """What happens if one device dies. `device` is what people call it, `path` its persistent name."""

    device: str
    path: str
    findings: tuple[Finding, ...]


def losses_of(plan: Plan, inventory: Inventory) -> tuple[DeviceLoss, ...]:
    """One entry for each device that the plan touches: of a disk its log first, then its cache.

    The sides of a log that becomes a mirror, or gets another side, are among them: they are sides of a mirror then.
    """
    losses: list[DeviceLoss] = []
    for key in plan.request.disks:
        disk = inventory.disk(key)
        label, path = (disk.label, disk.path) if disk else (key, "")
        findings = tuple(finding for action in plan.actions for finding in action.if_lost(key, inventory))
        losses.append(DeviceLoss(label, path, findings))
    pool, attach_to = inventory.pool(plan.request.pool_guid), plan.request.attach_to
    if pool and attach_to:
        mirrors = [tuple(top.leaves()) for top in pool.logs]
        for leaf in (each for sides in mirrors if attach_to in [side.guid for side in sides] for each in sides):
            if leaf.guid != plan.request.replaces:
                place = inventory.place_of(leaf)
                label = place[0].label if place else leaf.name
                losses.append(DeviceLoss(label, leaf.path, (side_dies(pool.name),)))
    return tuple(losses)
