"""A host that only exists in memory: the executor for looking at pages and for tests, behind the same port.

It applies actions with their own `forwards` and gives new vdevs guids, as OpenZFS would. It touches nothing.
"""

from dataclasses import dataclass, field, replace
from itertools import count

from nasadvisor.domain.change.actions import (
    PLANNED_GUID,
    ClearSlice,
    DeleteSlice,
    DetachLog,
    OnlineCache,
    RemoveVdev,
    RestoreTable,
    RewindTable,
)
from nasadvisor.domain.change.actions.inventory_queries import with_cache_state
from nasadvisor.domain.change.device_scan import DeviceScan, Step
from nasadvisor.domain.change.runs import CommandRan
from nasadvisor.domain.change.table_area import Area
from nasadvisor.domain.change.tables import OwnTable, disk_key_of
from nasadvisor.domain.storage.inventory import Disk, HoldKind, Inventory, Pool, TableKind, Vdev
from nasadvisor.host.change.gate import Permit

FIRST_GUID = 9_000_000_000_000_000_001


@dataclass
class SimulatedExecutor:
    """Keeps the inventory it is given up to date."""

    state: Inventory
    next_guid: int = FIRST_GUID
    tables: dict[str, tuple[TableKind, str]] = field(default_factory=dict)

    def inventory(self) -> Inventory:
        """The simulated host now."""
        return self.state

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None) -> DeviceScan:
        """Every slice is empty here, and every table as the run left it."""
        del inventory, own
        disk = self.state.disk(disk_key_of(step))
        if disk:
            self.tables.setdefault(disk.key, (disk.table, disk.table_uuid))
        return DeviceScan(table=Area(b"", b""))

    def do(self, permit: Permit) -> tuple[CommandRan, ...]:
        """Take an action's own word for its effect, and an undo action's effect out of the inventory."""
        step = permit.spend()
        match step:
            case RemoveVdev(vdev_guid=guid) | DetachLog(vdev_guid=guid):
                pools = tuple(
                    replace(pool, logs=_pruned(pool.logs, guid), caches=_pruned(pool.caches, guid))
                    if pool.guid == step.pool_guid
                    else pool
                    for pool in self.state.pools
                )
                used = {leaf.path for pool in pools for vdev in pool.vdevs() for leaf in vdev.leaves()}
                disks = tuple(_released(disk, used) for disk in self.state.disks)
                self.state = replace(self.state, pools=pools, disks=disks)
            case DeleteSlice(slice=piece):
                disk = self.state.disk(piece.disk_key)
                if disk:
                    left = tuple(part for part in disk.partitions if part.partuuid != piece.partuuid)
                    self._replace_disk(disk.key, partitions=left)
            case RestoreTable(disk_key=key):
                table, table_uuid = self.tables[key]
                self._replace_disk(key, table=table, table_uuid=table_uuid)
            case OnlineCache():
                self.state = with_cache_state(self.state, step.pool_guid, step.vdev_guid, "ONLINE")
            case RewindTable() | ClearSlice():
                return ()  # nothing is ever half done here
            case _:
                forwards = step.forwards(self.state)
                self.state = replace(forwards, pools=tuple(self._named(pool) for pool in forwards.pools))
        return tuple(CommandRan(argv, 0, "(simulated)", "", 0.0) for argv in step.commands())

    def _named(self, pool: Pool) -> Pool:
        return replace(
            pool,
            logs=tuple(self._with_guids(top) for top in pool.logs),
            caches=tuple(self._with_guids(top) for top in pool.caches),
        )

    def _with_guids(self, vdev: Vdev) -> Vdev:
        guid = self._new_guid() if vdev.guid == PLANNED_GUID else vdev.guid
        return replace(vdev, guid=guid, children=tuple(self._with_guids(child) for child in vdev.children))

    def _new_guid(self) -> str:
        """One that no vdev of the machine has, whoever gave them theirs."""
        taken = {vdev.guid for pool in self.state.pools for vdev in pool.vdevs()}
        guid = next(guid for guid in count(self.next_guid) if str(guid) not in taken)
        self.next_guid = guid + 1
        return str(guid)

    def _replace_disk(self, key: str, **changes: object) -> None:
        disks = tuple(
            replace(disk, **changes) if disk.key == key else disk  # type: ignore[arg-type]
            for disk in self.state.disks
        )
        self.state = replace(self.state, disks=disks)


def _pruned(tops: tuple[Vdev, ...], guid: str) -> tuple[Vdev, ...]:
    """Without the vdev; a mirror of which one side is left becomes that side, with the mirror's guid, as in OpenZFS."""
    kept = []
    for top in tops:
        children = tuple(child for child in top.children if child.guid != guid)
        alone = len(children) == 1 < len(top.children)
        if top.guid != guid:
            kept.append(replace(children[0], guid=top.guid) if alone else replace(top, children=children))
    return tuple(kept)


def _released(disk: Disk, used: set[str]) -> Disk:
    """Partitions that no pool uses any more are no longer held by one; other holds stay."""
    parts = (
        part
        if {part.path, *part.links} & used
        else replace(part, holds=tuple(hold for hold in part.holds if hold.kind is not HoldKind.POOL))
        for part in disk.partitions
    )
    return replace(disk, partitions=tuple(parts))
