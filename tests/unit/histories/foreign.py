"""What somebody else does to the machine between two steps, and what of it must be there afterwards."""

import random
import struct
import uuid
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from nasadvisor.domain.change.device_scan import EXPORTED, SliceLabel
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.storage.gpt import GptUnreadable, parse_header
from nasadvisor.domain.storage.inventory import Partition
from nasadvisor.domain.units import MIB
from tests.unit.histories.world import ENTRY, HEAD, SECTOR, SIZE, TAIL_START, Ssd, World

LINUX = uuid.UUID("0fc63daf-8483-4772-8e79-3d69d8477de4")
BOOT_CODE = 440
OTHER_POOL = "555"


@dataclass(frozen=True)
class Claim:
    """Something of somebody's on an SSD: `is_there` looks whether it still is."""

    ssd: str
    what: str
    is_there: Callable[[Ssd], bool]


@dataclass
class Foreigner:
    """Somebody with a shell on the machine. `claims` is all that is theirs now."""

    world: World
    plan: Plan
    chance: random.Random
    claims: list[Claim] = field(default_factory=list)
    did: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._names = random.Random(self.plan.id)

    def act(self) -> None:
        """One thing that can be done now, by chance."""
        ssds = (self.make_filesystem, self.reuse_raw, self.repartition, self.add_partition, self.change_disk_uuid)
        slices = (self.write_boot_code, self.fill_slice, self.mount, self.other_pool, self.delete_slice, self.clone)
        pools = (self.export, self.bring_back, self.rename, self.reguid, self.destroy, self.checkpoint, self.remove_log)
        act = self.chance.choice((*ssds, *slices, *pools, self.pull, self.plug, *self.more()))
        act()
        self.did.append(act.__name__)

    def more(self) -> tuple[Callable[[], None], ...]:
        """What else can be done on such a machine."""
        return ()

    def heal(self) -> None:
        """Plug in, import, unmount, discard, and take copies out: all that stands in the way and is nobody's data."""
        for each in self.world.ssds:
            each.present = each.name != "eui.three"
            each.blind = False
            each.mounted.clear()
        self.bring_back()
        self.world.pools = [replace(pool, checkpoint="") for pool in self.world.pools]

    def clear_labels(self, commands: str) -> None:
        """Do as a refusal says with each label that no pool can need any more; not where it does not say so.

        One stays on an SSD that was out when its pool was destroyed or got another guid, and in a slice that a step
        which was cut off did not bring into its pool. OpenZFS takes no label off a device that a pool uses.
        """
        anywhere = {OTHER_POOL, *(pool.guid for pool in (*self.world.pools, *self.world.away))}
        imported = {pool.guid: {vdev.guid for vdev in pool.vdevs()} for pool in self.world.pools}
        for each in self.world.ssds:
            for part in each.parts() if each.present else ():
                label = each.labels.get(part.start_bytes // MIB)
                if label is None or not label.may_be_needed:
                    continue
                is_stale = label.pool_guid not in anywhere
                is_left = label.vdev_guid not in imported.get(label.pool_guid, {label.vdev_guid})
                told = (is_stale, f"`zpool labelclear -f {part.path}`"), (is_left, f"`zpool labelclear {part.path}`")
                if any(is_so and command in commands for is_so, command in told):
                    del each.labels[part.start_bytes // MIB]
                    self.did.append("labelclear")

    def sits_on(self, partuuids: set[str]) -> bool:
        """Whether something of theirs lies in one of these slices, or took its place."""
        for each in self.world.ssds:
            theirs = [claim for claim in self.claims if claim.ssd == each.name]
            places = {part.start_bytes // MIB for part in each.parts() if part.partuuid in partuuids}
            if any(label.pool_guid == OTHER_POOL for place, label in each.labels.items() if place in places):
                return True
            in_slices = {f"{what} {place}" for what in ("content", "label") for place in places}
            over_table = {"content 0", f"bytes {2 * SECTOR}"} if places else set()
            if any(claim.what in in_slices | over_table for claim in theirs):
                return True
        return False

    # What is written on SSDs

    def make_filesystem(self) -> None:
        each = self._idle()
        if each is None:
            return
        self._forget(each)
        each.head[2 * SECTOR : 4 * SECTOR] = self.chance.randbytes(2 * SECTOR)
        each.content[0] = "ext4"
        each.blind = self.chance.random() < 0.5
        self._claim_bytes(each, 2 * SECTOR, 2 * SECTOR)
        self._claim_content(each, 0)

    def reuse_raw(self) -> None:
        each = self._idle()
        if each is None:
            return
        was_ours = each.table()[1] in self.plan.ids.uuids
        self._forget(each)
        each.head[:], each.tail[:] = bytes(HEAD), bytes(SIZE - TAIL_START)
        each.labels.clear()
        each.content = {self.chance.randrange(1, 2000): "raw"}
        at = self.chance.randrange(3, HEAD // SECTOR) * SECTOR
        each.head[at : at + SECTOR] = self.chance.randbytes(SECTOR)
        if was_ours:  # what no tool recognises on a blank SSD is overwritten, and that is said before
            self._claim_bytes(each, at, SECTOR)

    def repartition(self) -> None:
        each = self._idle()
        if each is None:
            return
        self._forget(each)
        each.content.clear()
        each.labels.clear()
        _new_table(each, self._uuid())
        self._add_to(each, 1, self.chance.randrange(1, 400))

    def add_partition(self) -> None:
        each = self._some()
        if each and each.parts() and each.is_whole():
            self._add_to(each, 9, 1800)

    def change_disk_uuid(self) -> None:
        each = self._some()
        if each and each.parts() and each.is_whole():
            new = self._uuid()
            _edit_headers(each, lambda header: header[:56] + new.bytes_le + header[72:])
            self._claim(each, "disk uuid", lambda now: now.table()[1] == str(new))

    def write_boot_code(self) -> None:
        each = self._some()
        if each:
            each.head[:BOOT_CODE] = self.chance.randbytes(BOOT_CODE)
            self._claim_bytes(each, 0, BOOT_CODE)

    def fill_slice(self) -> None:
        found = self._idle_slice()
        if found:
            each, part = found
            place = part.start_bytes // MIB
            each.content[place] = "ext4"
            each.labels.pop(place, None)
            self._unclaim(each, f"label {place}")
            self._claim_content(each, place)

    def mount(self) -> None:
        found = self._idle_slice()
        if found and found[1].start_bytes // MIB in found[0].content:
            found[0].mounted.add(found[1].partuuid)

    def other_pool(self) -> None:
        found = self._idle_slice()
        if found:
            each, part = found
            place = part.start_bytes // MIB
            label = SliceLabel(EXPORTED, 7, "tank", OTHER_POOL, self.world.guid())
            each.labels[place] = label
            self._claim(each, f"label {place}", lambda now: now.labels.get(place) == label)

    def clone(self) -> None:
        source, target = self._some(), self.world.ssds[2]
        if source and source is not target and target.present and not self._is_used(target):
            self._forget(target)
            target.head[:], target.tail[:] = source.head, source.tail
            target.content, target.labels = dict(source.content), dict(source.labels)
            for part in target.parts():
                self._claim_partition(target, part)

    def delete_slice(self) -> None:
        found = self._idle_slice()
        if found and found[0].is_whole():
            each, part = found
            _edit_entries(each, part.number, bytes(ENTRY.size))
            place = part.start_bytes // MIB
            self._unclaim(each, f"content {place}", f"label {place}", f"partition {part.partuuid}")

    # What is done to SSDs and pools

    def pull(self) -> None:
        self.chance.choice(self.world.ssds).present = False

    def plug(self) -> None:
        for each in self.world.ssds:
            each.present = True

    def export(self) -> None:
        for pool in tuple(self.world.pools):
            self.world.pools.remove(pool)
            self.world.away.append(pool)
            self._label(pool.guid, state=EXPORTED)

    def bring_back(self) -> None:
        for pool in tuple(self.world.away):
            self.world.away.remove(pool)
            self.world.pools.append(pool)
            self._label(pool.guid, state=0)

    def rename(self) -> None:
        self.world.pools = [replace(pool, name="other") for pool in self.world.pools]
        for pool in self.world.pools:
            self._label(pool.guid, pool_name="other")

    def reguid(self) -> None:
        for pool in tuple(self.world.pools):
            guid = self.world.guid()
            self._label(pool.guid, pool_guid=guid)
            self.world.pools[self.world.pools.index(pool)] = replace(pool, guid=guid)

    def destroy(self) -> None:
        if self.chance.random() < 0.3:
            for pool in tuple(self.world.pools):
                self.world.pools.remove(pool)
                self._label(pool.guid, state=2)

    def checkpoint(self) -> None:
        size = "" if self.chance.random() < 0.5 else "1M"
        self.world.pools = [replace(pool, checkpoint=size) for pool in self.world.pools]

    def remove_log(self) -> None:
        for pool in tuple(self.world.pools):
            for top in pool.logs:
                for leaf in top.leaves():
                    for each, part in self.world.find(leaf.path.rpartition("/")[2]):
                        label = each.labels.get(part.start_bytes // MIB)
                        if label:
                            each.labels[part.start_bytes // MIB] = replace(label, txg=0)
            self.world.pools[self.world.pools.index(pool)] = replace(pool, logs=())

    # Parts of these

    def _uuid(self) -> uuid.UUID:
        """A new one, the same each time a history is repeated."""
        return uuid.UUID(int=self._names.getrandbits(128), version=4)

    def _some(self) -> Ssd | None:
        there = [each for each in self.world.ssds if each.present]
        return self.chance.choice(there) if there else None

    def _idle(self) -> Ssd | None:
        """An SSD that nothing has open: tools refuse the others."""
        each = self._some()
        return None if each is None or self._is_used(each) else each

    def _is_used(self, each: Ssd) -> bool:
        used = self.world.open_paths()
        return bool(each.mounted) or any(part.path in used for part in each.parts())

    def _idle_slice(self) -> tuple[Ssd, Partition] | None:
        ours = {piece.partuuid for piece in self.plan.slices}
        used = self.world.open_paths()
        found = [
            (each, part)
            for each in self.world.ssds
            if each.present
            for part in each.parts()
            if part.partuuid in ours and part.path not in used and part.partuuid not in each.mounted
        ]
        return self.chance.choice(found) if found else None

    def _label(self, owner: str, **changes: object) -> None:
        """OpenZFS writes labels on the devices that are there."""
        for each in self.world.ssds:
            for place, label in each.labels.items():
                if each.present and label.pool_guid == owner and label.txg:
                    each.labels[place] = replace(label, **changes)  # type: ignore[arg-type]

    def _add_to(self, each: Ssd, number: int, start_mib: int) -> None:
        if any(part.number == number for part in each.parts()):
            return
        first, last = start_mib * MIB // SECTOR, (start_mib + 100) * MIB // SECTOR - 1
        unique = self._uuid()
        name = "theirs".encode("utf-16-le").ljust(72, b"\0")
        _edit_entries(each, number, ENTRY.pack(LINUX.bytes_le, unique.bytes_le, first, last, 4, name))
        each.content[start_mib] = "ext4"
        self._claim_content(each, start_mib)
        self._claim_partition(each, next(part for part in each.parts() if part.partuuid == str(unique)))

    def _claim(self, each: Ssd, what: str, is_there: Callable[[Ssd], bool]) -> None:
        self._unclaim(each, what)
        self.claims.append(Claim(each.name, what, is_there))

    def _unclaim(self, each: Ssd, *whats: str) -> None:
        self.claims = [claim for claim in self.claims if claim.ssd != each.name or claim.what not in whats]

    def _claim_content(self, each: Ssd, place: int) -> None:
        what = each.content[place]
        self._claim(each, f"content {place}", lambda now: now.content.get(place) == what)

    def _claim_bytes(self, each: Ssd, at: int, size: int) -> None:
        data = bytes(each.head[at : at + size])
        self._claim(each, f"bytes {at}", lambda now: now.head[at : at + size] == data)

    def _claim_partition(self, each: Ssd, part: Partition) -> None:
        self._claim(each, f"partition {part.partuuid}", lambda now: part in now.parts())

    def _forget(self, each: Ssd) -> None:
        """They overwrite what was theirs."""
        self.claims = [claim for claim in self.claims if claim.ssd != each.name]
        each.blind = False


def _new_table(each: Ssd, guid: uuid.UUID) -> None:
    """An empty GPT with a UUID of its own, as any tool makes it."""
    total, entries = SIZE // SECTOR, bytes(128 * ENTRY.size)

    def header(this: int, other: int, at: int) -> bytes:
        crc = zlib.crc32(entries)
        values = (this, other, HEAD // SECTOR, TAIL_START // SECTOR - 1, guid.bytes_le, at, 128, ENTRY.size, crc)
        return _signed(struct.pack("<8sIIIIQQQQ16sQIII", b"EFI PART", 0x10000, 92, 0, 0, *values))

    each.head[:] = bytes(HEAD)
    each.head[510:512] = b"\x55\xaa"
    each.head[450] = 0xEE
    each.head[SECTOR : SECTOR + 92] = header(1, total - 1, 2)
    each.tail[:] = bytes(SIZE - TAIL_START)
    each.tail[-SECTOR : len(each.tail) - SECTOR + 92] = header(total - 1, 1, TAIL_START // SECTOR)


def _edit_entries(each: Ssd, number: int, entry: bytes) -> None:
    """As a tool does that reads the table which is whole, and writes both."""
    entries, at = bytearray(each.entries()), (number - 1) * ENTRY.size
    entries[at : at + ENTRY.size] = entry
    each.head[2 * SECTOR : 2 * SECTOR + len(entries)] = entries
    each.tail[: len(entries)] = entries
    crc = struct.pack("<I", zlib.crc32(bytes(entries)))
    _edit_headers(each, lambda header: header[:88] + crc)


def _edit_headers(each: Ssd, change: Callable[[bytes], bytes]) -> None:
    for area, at in ((each.head, SECTOR), (each.tail, len(each.tail) - SECTOR)):
        try:
            parse_header(bytes(area[at:]), SECTOR)
        except GptUnreadable:
            continue
        area[at : at + 92] = _signed(change(bytes(area[at : at + 92])))


def _signed(header: bytes) -> bytes:
    bare = header[:16] + bytes(4) + header[20:]
    return bare[:16] + struct.pack("<I", zlib.crc32(bare)) + bare[20:]
