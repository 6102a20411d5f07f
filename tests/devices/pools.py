"""Pools that live in memory: what `zpool` changes is kept here, and real labels are written on real slices.

While a pool is imported it holds its devices open exclusively, as OpenZFS does.
"""

import os
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Final

from nasadvisor.domain.storage.inventory import Pool, Vdev
from nasadvisor.domain.units import GIB
from tests.devices.labels import LABEL_BYTES, Label, PoolState, label_offsets, read_label

ASHIFT: Final = 12
_GUIDS = count(7_000_000_000_000_000_001)


class ZpoolRefused(Exception):  # noqa: N818 - named for what happened
    """What `zpool` says before it ends with 1."""


@dataclass
class Leaf:
    """A device of a pool: its path as the pool knows it, and the claim on it while the pool is imported."""

    path: str
    guid: int = field(default_factory=lambda: next(_GUIDS))
    claim: int = -1

    def take(self) -> None:
        """Claim the device, or leave it as not there."""
        self.release()
        try:
            self.claim = os.open(self.path, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC)
        except OSError:
            self.claim = -1

    def release(self) -> None:
        if self.claim >= 0:
            os.close(self.claim)
        self.claim = -1

    def write_labels(self, pool_name: str, pool_guid: int, state: PoolState, txg: int = 4) -> None:
        self.write(Label(pool_name, pool_guid, self.guid, state, txg).packed())

    def write(self, label: bytes) -> None:
        """Put these bytes where the four labels are, if the device is there."""
        if self.claim >= 0:
            for offset in label_offsets(os.lseek(self.claim, 0, os.SEEK_END)):
                os.pwrite(self.claim, label, offset)
            os.fsync(self.claim)

    def label(self) -> Label | None:
        return read_label(os.pread(self.claim, LABEL_BYTES, 0)) if self.claim >= 0 else None

    @property
    def vdev(self) -> Vdev:
        state = "ONLINE" if self.claim >= 0 else "UNAVAIL"
        return Vdev(str(self.guid), "disk", self.path, state, path=self.path, ashift=ASHIFT)


@dataclass
class Log:
    """A log vdev: one leaf alone, or a mirror with a guid of its own."""

    leaves: list[Leaf]
    guid: int = field(default_factory=lambda: next(_GUIDS))

    @property
    def vdev(self) -> Vdev:
        sides = tuple(leaf.vdev for leaf in self.leaves)
        if len(sides) == 1:
            return sides[0]
        state = "ONLINE" if all(side.state == "ONLINE" for side in sides) else "DEGRADED"
        return Vdev(str(self.guid), "mirror", "mirror-1", state, ashift=ASHIFT, children=sides)


@dataclass
class MemoryPool:
    """One pool, imported or exported."""

    name: str
    guid: int
    logs: list[Log] = field(default_factory=list)
    caches: list[Leaf] = field(default_factory=list)
    imported: bool = True
    checkpoint: str = ""

    @property
    def leaves(self) -> list[Leaf]:
        return [leaf for log in self.logs for leaf in log.leaves] + self.caches

    @property
    def pool(self) -> Pool:
        """As a pool reader shows it. Its data lie on a hard disk that is nowhere else."""
        logs = tuple(log.vdev for log in self.logs)
        data = Vdev("1", "disk", "wwn-0xhdd", "ONLINE", path="/dev/disk/by-id/wwn-0xhdd", ashift=ASHIFT)
        return Pool(
            name=self.name,
            guid=str(self.guid),
            state="ONLINE" if all(log.state == "ONLINE" for log in logs) else "DEGRADED",
            ashift=ASHIFT,
            size_bytes=100 * GIB,
            allocated_bytes=GIB,
            read_only=False,
            suspended=False,
            checkpoint=self.checkpoint,
            multihost=False,
            features=("allocation_classes",),
            data=(data,),
            logs=logs,
            caches=tuple(replace(leaf.vdev, ashift=0) for leaf in self.caches),
        )


@dataclass
class MemoryPools:
    """Every pool of the machine; a pool reader (`read`), and `zpool` (`run`)."""

    pools: list[MemoryPool] = field(default_factory=list)

    def read(self) -> tuple[Pool, ...]:
        """See `PoolReader.read`."""
        return tuple(pool.pool for pool in self.pools if pool.imported)

    def run(self, args: tuple[str, ...]) -> str:
        """One call of `zpool`: what it prints.

        Raises:
            ZpoolRefused: it would end with 1, and did nothing.
        """
        verb, rest = args[0], list(args[1:])
        match verb:
            case "add" if rest[0] == "-n":
                return self._dry_run(self._named(rest[3]), rest[4:])
            case "add":
                self._add(self._named(rest[2]), rest[3:])
            case "attach":
                self._attach(self._named(rest[2]), int(rest[3]), rest[4])
            case "remove" | "detach":
                self._take_out(self._named(rest[0]), int(rest[1]))
            case "labelclear":
                self._clear_label(rest[0])
            case "list" if rest[0] == "-vHPpg":
                return "".join(f"\t{log.vdev.guid}\t{GIB}\t0\t{GIB}\n" for log in self._named(rest[1]).logs)
            case _:
                raise AssertionError(f"this zpool does not know: {' '.join(args)}")
        return ""

    def export(self, pool: MemoryPool, state: PoolState = PoolState.EXPORTED) -> None:
        self._write_labels(pool, state)
        pool.imported = False
        for leaf in pool.leaves:
            leaf.release()

    def bring_in(self, pool: MemoryPool, name: str = "") -> None:
        """Import it, under another name if one is given."""
        pool.imported, pool.name = True, name or pool.name
        for leaf in pool.leaves:
            leaf.take()
        self._write_labels(pool, PoolState.ACTIVE)

    def destroy(self, pool: MemoryPool) -> None:
        """The labels stay, and say so."""
        self.export(pool, PoolState.DESTROYED)
        self.pools.remove(pool)

    def let_go(self, real_paths: set[str]) -> None:
        """These devices are about to go: give up the claims on them."""
        for pool in self.pools:
            for leaf in pool.leaves:
                if os.path.realpath(leaf.path) in real_paths:
                    leaf.release()

    def close(self) -> None:
        for leaf in (leaf for pool in self.pools for leaf in pool.leaves):
            leaf.release()

    def _write_labels(self, pool: MemoryPool, state: PoolState) -> None:
        """Those of the logs; a cache's label tells no pool (vdev_label_init() in module/zfs/vdev_label.c)."""
        for leaf in (leaf for log in pool.logs for leaf in log.leaves):
            leaf.write_labels(pool.name, pool.guid, state)

    def _named(self, name: str) -> MemoryPool:
        found = next((pool for pool in self.pools if pool.imported and pool.name == name), None)
        if found is None:
            raise ZpoolRefused(f"cannot open '{name}': no such pool")
        return found

    def _dry_run(self, pool: MemoryPool, wanted: list[str]) -> str:
        heading = "logs" if wanted[0] == "log" else "cache"
        names = [Path(path).name for path in wanted if path.startswith("/")]
        tree = [f"\t{pool.name}", "\t  wwn-0xhdd", f"\t{heading}", *(f"\t  {name}" for name in names)]
        return "\n".join([f"would update '{pool.name}' to the following configuration:", "", *tree, ""])

    def _add(self, pool: MemoryPool, wanted: list[str]) -> None:
        leaves = self._claimed([path for path in wanted if path.startswith("/")])
        if wanted[0] == "log":
            pool.logs += [Log(leaves)] if "mirror" in wanted else [Log([leaf]) for leaf in leaves]
            self._write_labels(pool, PoolState.ACTIVE)
            return
        pool.caches += leaves
        for leaf in leaves:
            leaf.write_labels("", 0, PoolState.L2CACHE)

    def _attach(self, pool: MemoryPool, existing: int, path: str) -> None:
        log = next((log for log in pool.logs if any(leaf.guid == existing for leaf in log.leaves)), None)
        if log is None:
            raise ZpoolRefused("no such device in pool")
        (leaf,) = self._claimed([path])
        leaf.write_labels(pool.name, pool.guid, PoolState.ACTIVE)
        log.leaves.append(leaf)

    def _claimed(self, paths: list[str]) -> list[Leaf]:
        leaves = [Leaf(path) for path in paths]
        for leaf in leaves:
            leaf.take()
            if leaf.claim < 0 or leaf.label():
                for each in leaves:
                    each.release()
                raise ZpoolRefused(f"{leaf.path} is busy, missing, or labelled for a pool")
        return leaves

    def _take_out(self, pool: MemoryPool, guid: int) -> None:
        """Labels stay on what is taken out, with txg 0; a mirror of which one side is left becomes that side."""
        logs = [log for log in pool.logs if guid == int(log.vdev.guid)]
        sides = [(log, leaf) for log in pool.logs for leaf in log.leaves if len(log.leaves) > 1 and leaf.guid == guid]
        caches = [leaf for leaf in pool.caches if leaf.guid == guid]
        if not logs and not sides and not caches:
            raise ZpoolRefused(f"cannot remove {guid}: no such device in pool")
        for log in logs:
            pool.logs.remove(log)
        for log, leaf in sides:
            log.leaves.remove(leaf)
        for leaf in caches:
            pool.caches.remove(leaf)
        for leaf in [leaf for log in logs for leaf in log.leaves] + [leaf for _, leaf in sides]:
            leaf.write_labels(pool.name, pool.guid, PoolState.ACTIVE, txg=0)
            leaf.release()
        for leaf in caches:
            leaf.release()

    def _clear_label(self, path: str) -> None:
        real = os.path.realpath(path)
        users = [pool for pool in self.pools for leaf in pool.leaves if os.path.realpath(leaf.path) == real]
        if users:
            raise ZpoolRefused(f"{path} is a member of pool '{users[0].name}'")
        leaf = Leaf(path)
        leaf.take()
        found = leaf.label()
        if found:
            leaf.write(bytes(LABEL_BYTES))
        leaf.release()
        if not found:
            raise ZpoolRefused(f"failed to clear label for {path}")


def zdb(args: tuple[str, ...]) -> str:
    """What `zdb -l` prints; "" where there is no label."""
    assert args[0] == "-l", f"this zdb does not know: {' '.join(args)}"
    with Path(args[1]).open("rb") as device:
        found = read_label(device.read(LABEL_BYTES))
    return found.told if found else ""
