"""The executor of a model world: it does to bytes and pools what sgdisk, OpenZFS and the product's own writes do."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from nasadvisor.domain.change.actions import (
    AddCache,
    AddLog,
    ClearSlice,
    CreateSlice,
    CreateTable,
    DeleteSlice,
    OfflineCache,
    OnlineCache,
    RemoveVdev,
    RestoreTable,
    RewindTable,
    Role,
    SaveTable,
    Slice,
)
from nasadvisor.domain.change.device_scan import (
    ACTIVE,
    L2CACHE,
    DeviceScan,
    Signature,
    SliceLabel,
    Step,
    places_to_look,
)
from nasadvisor.domain.change.table_area import Area
from nasadvisor.domain.change.tables import OwnTable, predict
from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev
from nasadvisor.domain.units import MIB
from nasadvisor.host.adapters.blockdev import NOT_THERE, DeviceBusy, DeviceChanged
from nasadvisor.host.change.gate import Permit, Ran
from nasadvisor.host.errors import CommandFailed
from tests.unit.histories.world import SECTOR, Ssd, World


class Killed(BaseException):
    """Stands for SIGKILL: no handler of the product may catch it."""


@dataclass
class ModelExecutor:
    """Acts on a world. `cut` may end a step in its middle; it is asked at each place where a step can be cut off."""

    world: World
    cut: Callable[[], bool]
    after: Callable[[Step], None]

    def inventory(self) -> Inventory:
        return self.world.inventory()

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None) -> DeviceScan:
        match step:
            case CreateTable() | SaveTable() | RestoreTable() | RewindTable():
                each = self._disk(step.disk_key)
                whole = tuple(Signature(what, place * MIB) for place, what in each.content.items() if place == 0)
                table = (Signature("gpt"),) if each.table()[1] else ()
                return DeviceScan((*whole, *table) if isinstance(step, CreateTable) else (), table=_area(each))
            case CreateSlice(slice=piece):
                each = self._disk(piece.disk_key)
                places = {place // MIB for place in places_to_look(piece)}
                found = tuple(Signature(what, at * MIB) for at, what in each.content.items() if at in places)
                return DeviceScan(found, table=_area(each))
            case AddLog(sides=pieces) | AddCache(slices=pieces) | RemoveVdev(slices=pieces):
                is_away = self._pool(step.pool_guid) is None
                return self._look_at(pieces) if is_away or not isinstance(step, RemoveVdev) else DeviceScan()
            case DeleteSlice(slice=piece) | ClearSlice(slice=piece):
                each = self._disk(piece.disk_key)
                return replace(self._look_at((piece,)), table=_area(each))
            case OfflineCache():
                return DeviceScan(autoexpand=self.world.expands)
            case OnlineCache():
                return replace(self._look_at_cache(step), autoexpand=self.world.expands)
        return DeviceScan()

    def do(self, permit: Permit) -> Ran:
        step = permit.spend()
        if isinstance(step, CreateTable | SaveTable):
            self.world.before.setdefault(step.disk_key, _area(self._disk(step.disk_key)))
        match step:
            case CreateTable():
                self._write(step.disk_key, step)
            case CreateSlice(slice=piece):
                self._write(piece.disk_key, step)
                self._cut()
                self._slice(piece).blank(piece.start_bytes, piece.size_bytes)
            case AddLog(sides=pieces) | AddCache(slices=pieces):
                self._add(step, pieces)
            case RemoveVdev():
                self._remove(step)
            case DeleteSlice(slice=piece):
                self._slice(piece).blank(piece.start_bytes, piece.size_bytes)
                self._cut()
                self._write(piece.disk_key, step)
            case ClearSlice(slice=piece):
                self._slice(piece).blank(piece.start_bytes, piece.size_bytes)
            case RestoreTable() | RewindTable():
                assert permit.area
                self._put(self._disk(step.disk_key), permit.area)
            case OfflineCache() | OnlineCache():
                self._switch(step)
        self._cut()
        self.after(step)
        return ()

    def _write(self, key: str, step: CreateTable | CreateSlice | DeleteSlice) -> None:
        each = self._disk(key)
        new = predict(_area(each), step)
        if new is None:
            raise CommandFailed("sgdisk", 2, "no table", mutates=True)
        self._put(each, new)

    def _put(self, each: Ssd, area: Area) -> None:
        """Sector by sector as sgdisk does: the second table first, the protective MBR last."""
        for at in range(0, len(area.tail), SECTOR):
            each.tail[at : at + SECTOR] = area.tail[at : at + SECTOR]
        self._cut()
        for at in (*range(2 * SECTOR, len(area.head), SECTOR), SECTOR, 0):
            if at == SECTOR:
                self._cut()
            each.head[at : at + SECTOR] = area.head[at : at + SECTOR]
        self._cut()
        each.blind = False

    def _add(self, step: AddLog | AddCache, pieces: tuple[Slice, ...]) -> None:
        pool = self._pool(step.pool_guid)
        if pool is None:
            raise CommandFailed("zpool add", 1, "no such pool", mutates=True)
        leaves = [Vdev(self.world.guid(), "disk", piece.path, "ONLINE", path=piece.path) for piece in pieces]
        state, name = (ACTIVE, pool.name) if isinstance(step, AddLog) else (L2CACHE, "")
        for piece, leaf in zip(pieces, leaves, strict=True):
            owner = pool.guid if isinstance(step, AddLog) else ""
            txg = 15 if isinstance(step, AddLog) else 0
            self._slice(piece).labels[piece.start_bytes // MIB] = SliceLabel(state, txg, name, owner, leaf.guid)
            self._cut()
        if isinstance(step, AddCache):
            self._change(pool, replace(pool, caches=(*pool.caches, *leaves)))
            return
        top = leaves[0]
        if len(leaves) > 1:
            top = Vdev(self.world.guid(), "mirror", "mirror", "ONLINE", children=tuple(leaves))
        self._change(pool, replace(pool, logs=(*pool.logs, top)))

    def _remove(self, step: RemoveVdev) -> None:
        pool = self._pool(step.pool_guid)
        if pool is None or pool.checkpoint:
            raise CommandFailed("zpool remove", 1, "cannot remove", mutates=True)
        tops = pool.logs if step.role is Role.LOG else pool.caches
        gone = [top for top in tops if top.guid == step.vdev_guid]
        for leaf in (leaf for top in gone for leaf in top.leaves()):
            for each, part in self.world.find(leaf.path.rpartition("/")[2]):
                place = part.start_bytes // MIB
                label = each.labels.get(place)
                if step.role is Role.LOG and label and label.vdev_guid == leaf.guid:
                    each.labels[place] = replace(label, txg=0)
        self._change(
            pool,
            replace(
                pool,
                logs=tuple(top for top in pool.logs if top not in gone),
                caches=tuple(top for top in pool.caches if top not in gone),
            ),
        )

    def _switch(self, step: OfflineCache | OnlineCache) -> None:
        """OpenZFS takes a cache back by its label alone, and then writes over whatever else lies there."""
        cache = self._cache(step)
        if cache is None or (self.world.expands and isinstance(step, OnlineCache)):
            raise CommandFailed("zpool", 1, "no such device, or autoexpand=on", mutates=True)
        if isinstance(step, OfflineCache):
            self.world.offline.add(cache.guid)
            return
        self.world.offline.discard(cache.guid)
        for each, part in self.world.find(cache.path.rpartition("/")[2])[:1]:
            place = part.start_bytes // MIB
            label = each.labels.get(place)
            if label and label.vdev_guid == cache.guid and part.partuuid not in each.mounted:
                each.content.pop(place, None)
                return
        self.world.broken.add(cache.guid)

    def _look_at_cache(self, step: OnlineCache) -> DeviceScan:
        cache = self._cache(step)
        found = self.world.find(cache.path.rpartition("/")[2]) if cache else []
        for each, part in found[:1]:
            if part.partuuid in each.mounted:
                raise DeviceBusy(part.path)
            place = part.start_bytes // MIB
            return DeviceScan((Signature(each.content[place]),) if place in each.content else ())
        return DeviceScan()

    def _cache(self, step: OfflineCache | OnlineCache) -> Vdev | None:
        pool = self._pool(step.pool_guid)
        return next((top for top in pool.caches if top.guid == step.vdev_guid), None) if pool else None

    def _look_at(self, pieces: tuple[Slice, ...]) -> DeviceScan:
        signatures, labels = [], []
        for piece in pieces:
            found = self.world.find(piece.partuuid)
            if len(found) != 1:
                continue
            each, part = found[0]
            if part.partuuid in each.mounted or part.path in self.world.open_paths():
                raise DeviceBusy(part.path)
            place = part.start_bytes // MIB
            if place in each.content:
                signatures.append(Signature(each.content[place]))
            if place in each.labels:
                labels.append((piece.partuuid, each.labels[place]))
        return DeviceScan(tuple(signatures), tuple(labels))

    def _slice(self, piece: Slice) -> Ssd:
        """The SSD of a slice, opened as the product opens one."""
        found = self.world.find(piece.partuuid)
        if not found or found[0][1].start_bytes != piece.start_bytes:
            raise DeviceChanged(piece.partuuid_path, NOT_THERE)
        if piece.partuuid in found[0][0].mounted or piece.partuuid_path in self.world.open_paths():
            raise DeviceBusy(piece.partuuid_path)
        return found[0][0]

    def _disk(self, key: str) -> Ssd:
        each = self.world.ssd(key)
        if each is None:
            raise DeviceChanged(key, NOT_THERE)
        return each

    def _pool(self, guid: str) -> Pool | None:
        return next((pool for pool in self.world.pools if pool.guid == guid), None)

    def _change(self, old: Pool, new: Pool) -> None:
        self.world.pools[self.world.pools.index(old)] = new

    def _cut(self) -> None:
        if self.cut():
            raise Killed


def _area(each: Ssd) -> Area:
    return Area(bytes(each.head), bytes(each.tail))
