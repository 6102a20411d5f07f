"""Undo steps that have nothing to act on any more: what they would take back went with its disk or its pool."""

from nasadvisor.domain.change.actions import DeleteSlice, DetachLog, RemoveVdev, RestoreTable, UndoAction
from nasadvisor.domain.change.looks import Look
from nasadvisor.domain.change.undo import GONE_WITH_DISK
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory


def away_from(action: UndoAction, inventory: Inventory) -> str:
    """The path of the disk that a step would write on, if it is not on the host; else ""."""
    match action:
        case DeleteSlice(slice=piece):
            key, path = piece.disk_key, piece.disk_path
            if inventory.partitions(piece.partuuid):
                return ""
        case RestoreTable():
            key, path = action.disk_key, action.disk_path
        case _:
            return ""
    return "" if any(disk.key == key for disk in inventory.disks) else path


def why_skipped(action: UndoAction, inventory: Inventory, look: Look) -> Statement | None:
    """Why a step is left out, None where it has something to do.

    `look` is what stands in the slices of a vdev; it tells a pool that was destroyed from one that is away.
    """
    path = away_from(action, inventory)
    if path:
        template = _("{disk} is not on this host, so nothing was changed on it.")
        return Statement(GONE_WITH_DISK, template, {"disk": path})
    if isinstance(action, RemoveVdev | DetachLog) and inventory.pool(action.pool_guid) is None:
        if any(label.may_be_needed for _partuuid, label in look.labels):
            return None
        template = _(
            "Pool {pool} is not on this host, and no slice of this run says that it is needed by it: the pool was "
            "destroyed. There was nothing to take out of it."
        )
        return Statement("gone-with-pool", template, {"pool": action.pool_name})
    return None
