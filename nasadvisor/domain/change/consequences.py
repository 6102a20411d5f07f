"""What happens if a device of a plan dies: what its actions say of that (`if_lost`), and of devices that are there."""

from collections.abc import Iterator
from dataclasses import dataclass

from nasadvisor.domain.change.actions.attach_log import side_dies
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.statements import Finding
from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev


@dataclass(frozen=True)
class DeviceLoss:
    """What happens if one device dies. `device` is what people call it, `path` its persistent name."""

    device: str
    path: str
    findings: tuple[Finding, ...]


def losses_of(plan: Plan, inventory: Inventory) -> tuple[DeviceLoss, ...]:
    """One entry for each device that the plan touches, the partner of a newly mirrored log included."""
    pool = inventory.pool(plan.request.pool_guid)
    losses = [_loss_of_disk(plan, inventory, key) for key in plan.request.disks]
    if pool and plan.request.attach_to:
        losses.extend(_losses_of_partners(plan, inventory, pool))
    return tuple(losses)


def _loss_of_disk(plan: Plan, inventory: Inventory, key: str) -> DeviceLoss:
    disk = inventory.disk(key)
    label, path = (disk.label, disk.path) if disk else (key, "")
    return DeviceLoss(label, path, tuple(_findings_for(plan, inventory, key)))


def _findings_for(plan: Plan, inventory: Inventory, key: str) -> Iterator[Finding]:
    """Its log first, then its cache."""
    for action in plan.actions:
        yield from action.if_lost(key, inventory)


def _losses_of_partners(plan: Plan, inventory: Inventory, pool: Pool) -> Iterator[DeviceLoss]:
    """The sides that are in the log already: from now on they are sides of a mirror."""
    for top in pool.logs:
        leaves = tuple(top.leaves())
        if any(leaf.guid == plan.request.attach_to for leaf in leaves):
            stay = (leaf for leaf in leaves if leaf.guid != plan.request.replaces)
            yield from (_loss_of_partner(leaf, inventory, pool) for leaf in stay)


def _loss_of_partner(leaf: Vdev, inventory: Inventory, pool: Pool) -> DeviceLoss:
    place = inventory.place_of(leaf)
    return DeviceLoss(place[0].label if place else leaf.name, leaf.path, (side_dies(pool.name),))
