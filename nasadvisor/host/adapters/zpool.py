"""Reading pools from `zpool status|get -j` (OpenZFS 2.3 and later; zpool-status(8), zpool-get(8)).

Source of names and states: cmd/zpool/zpool_main.c, `status_callback_json()` and `fill_vdev_info()`.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from nasadvisor.domain.inventory import Pool, Scan, Vdev
from nasadvisor.domain.units import zfs_size
from nasadvisor.host.adapters.answer import Answer
from nasadvisor.host.adapters.process import Command, Runner, Tool

TIMEOUT_S: Final = 60.0

# -P: full paths, so that two leaves never share a key; -p: exact numbers. -g names every vdev by its guid.
_STATUS: Final = ("status", "-j", "-P", "-p")
_STATUS_BY_GUID: Final = ("status", "-j", "-g", "-P", "-p")

DROPPED_KINDS: Final = frozenset({"hole", "indirect", "missing"})
"""Places without a device: left by removed vdevs, or not yet told by the pool (lib/libzfs, zpool status)."""


class ZpoolJson:
    """The pool reader for OpenZFS 2.3 and later."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def read(self) -> tuple[Pool, ...]:
        """See `PoolReader.read`."""
        pools = parse_status(self._ask(_STATUS))
        if any(is_ambiguous(pool) for pool in pools):
            exact = {pool.guid: pool for pool in parse_status(self._ask(_STATUS_BY_GUID))}
            pools = tuple(with_names(exact.get(pool.guid, pool), pool) for pool in pools)
        # Properties of a suspended pool may have to be read from its disks, which would wait for ever.
        asked = [pool.name for pool in pools if not pool.suspended]
        if not asked:
            return pools
        properties = self._ask(("get", "-j", "-p", "all", *asked)).child("pools")
        return tuple(
            pool if pool.suspended else self._complete(pool, properties.child(pool.name).child("properties"))
            for pool in pools
        )

    def _complete(self, pool: Pool, properties: Answer) -> Pool:
        tops = [top.guid for tops in _named(pool) for top in tops]
        ashifts = parse_ashifts(self._ask(("get", "-j", "-p", "ashift", pool.name, *tops))) if tops else {}
        return with_ashifts(with_properties(pool, properties), ashifts)

    def _ask(self, args: tuple[str, ...]) -> Answer:
        command = Command(Tool.ZPOOL, args, mutates=False, timeout_s=TIMEOUT_S)
        return Answer.of(str(command), self._runner.run(command).stdout)


def parse_status(answer: Answer) -> tuple[Pool, ...]:
    """The pools in an answer of `zpool status -j -P -p`, without what only properties tell."""
    return tuple(_pool(pool) for _, pool in answer.children("pools"))


def with_properties(pool: Pool, properties: Answer) -> Pool:
    """The pool with what `zpool get -j -p all` says of it."""

    def value(name: str) -> str:
        return properties.child(name).text("value", "")

    features = [name for name in properties.fields if name.startswith("feature@") and value(name) != "disabled"]
    return replace(
        pool,
        size_bytes=properties.child("size").number("value", 0),
        allocated_bytes=properties.child("allocated").number("value", 0),
        read_only=value("readonly") == "on",
        multihost=value("multihost") == "on",
        features=tuple(sorted(name.removeprefix("feature@") for name in features)),
    )


def parse_ashifts(answer: Answer) -> dict[str, int]:
    """The ashift by guid in an answer of `zpool get -j -p ashift POOL GUID…`."""
    return {
        vdev.text("guid"): vdev.child("properties").child("ashift").number("value", 0)
        for _, vdev in answer.children("vdevs")
    }


def with_ashifts(pool: Pool, ashifts: dict[str, int]) -> Pool:
    """The pool with the ashift of its top-level vdevs, and as its own the largest of its data vdevs.

    The pool's property of that name is only a default for new vdevs, and 0 unless somebody set it.
    """

    def known(tops: tuple[Vdev, ...]) -> tuple[Vdev, ...]:
        return tuple(replace(top, ashift=ashifts.get(top.guid, 0)) for top in tops)

    data = known(pool.data)
    return replace(
        pool,
        ashift=max((top.ashift for top in data), default=0),
        data=data,
        specials=known(pool.specials),
        dedups=known(pool.dedups),
        logs=known(pool.logs),
    )


def is_ambiguous(pool: Pool) -> bool:
    """Whether a guid turns up twice, apart from a spare in use.

    `zpool status -j` looks up the facts of a vdev by its name, so the second "replacing-0" or "spare-0" of a pool is
    shown with the guid and the state of the first. Named by guid (-g), each is itself.
    """
    guids = [vdev.guid for tops in _named(pool) for top in tops for vdev in top.walk()]
    return len(set(guids)) != len(guids)


def with_names(exact: Pool, named: Pool) -> Pool:
    """The pool as read by guid, with the names from the same pool as read by name."""

    def both(exact: tuple[Vdev, ...], named: tuple[Vdev, ...]) -> tuple[Vdev, ...]:
        if len(exact) != len(named):
            return exact
        pairs = zip(exact, named, strict=True)
        return tuple(replace(one, name=two.name, children=both(one.children, two.children)) for one, two in pairs)

    data, specials, dedups, logs = map(both, _named(exact), _named(named))
    return replace(exact, data=data, specials=specials, dedups=dedups, logs=logs)


def _named(pool: Pool) -> tuple[tuple[Vdev, ...], ...]:
    """The classes that can have vdevs named by OpenZFS."""
    return pool.data, pool.specials, pool.dedups, pool.logs


def state_name(state: str, aux: str) -> str:
    """The state of a vdev as `zpool status` prints it: `zpool_state_to_name()` in lib/libzfs/libzfs_pool.c.

    JSON has the kernel's own words instead, as in CANT_OPEN for UNAVAIL.
    """
    if state == "CANT_OPEN":
        return {"CORRUPT_DATA": "FAULTED", "BAD_LOG": "FAULTED", "SPLIT_POOL": "SPLIT"}.get(aux, "UNAVAIL")
    return "OFFLINE" if state == "CLOSED" else state


def _pool(pool: Answer) -> Pool:
    name = pool.text("name")
    state = pool.text("state")
    root = pool.child("vdevs").child(name)
    if not root.fields:  # named by guid
        root = next((vdev for _, vdev in pool.children("vdevs")), root)
    return Pool(
        name=name,
        guid=pool.text("pool_guid"),
        state=state,
        ashift=0,
        size_bytes=root.number("total_space", 0),
        allocated_bytes=root.number("alloc_space", 0),
        read_only=False,
        suspended=state == "SUSPENDED",
        checkpoint=_checkpoint(pool),
        multihost=False,
        features=(),
        scan=_scan(pool),
        last_scan=_last_scan(pool.child("scan_stats")),
        data_errors=pool.number("error_count", 0),
        data=_vdevs(root.children("vdevs")),
        logs=_vdevs(pool.children("logs")),
        caches=_vdevs(pool.children("l2cache")),
        specials=_vdevs(pool.children("special")),
        dedups=_vdevs(pool.children("dedup")),
        spares=_vdevs(pool.children("spares")),
    )


def _vdevs(children: Iterable[tuple[str, Answer]]) -> tuple[Vdev, ...]:
    vdevs = (_vdev(name, vdev) for name, vdev in children)
    return tuple(vdev for vdev in vdevs if vdev.kind not in DROPPED_KINDS)


def _vdev(key: str, vdev: Answer) -> Vdev:
    kind = vdev.text("vdev_type", "unknown")
    path = vdev.text("path", "")
    guid = vdev.text("guid", "")
    return Vdev(
        guid=guid,
        kind=kind,
        name=leaf_name(path) or (kind if key == guid else key),
        state=state_name(vdev.text("state", "UNKNOWN"), vdev.text("aux", "")),
        path=path,
        children=_vdevs(vdev.children("vdevs")),
        read_errors=vdev.number("read_errors", 0),
        write_errors=vdev.number("write_errors", 0),
        checksum_errors=vdev.number("checksum_errors", 0),
        slow_ios=vdev.number("slow_ios", 0),
    )


def leaf_name(path: str) -> str:
    """The name of a leaf: the last part of its path; "" where it has none."""
    return path.rpartition("/")[2]


def _checkpoint(pool: Answer) -> str:
    """From the statistics, for the property reads "-" until a new checkpoint holds any space."""
    stats = pool.child("checkpoint_stats")
    if stats.text("state", "NONE") == "NONE":
        return ""
    return zfs_size(stats.number("space", 0))


def _scan(pool: Answer) -> str:
    stats = pool.child("scan_stats")
    if stats.text("state", "NONE") == "SCANNING":
        return stats.text("function").lower()
    rebuilds = (rebuild.text("state", "") for _, rebuild in stats.children("rebuild_stats"))
    if "ACTIVE" in rebuilds:
        return "resilver"
    if pool.child("removal_stats").text("state", "NONE") == "SCANNING":
        return "removal"
    if pool.child("raidz_expand_stats").text("state", "NONE") == "SCANNING":
        return "expansion"
    return ""


def _last_scan(stats: Answer) -> Scan | None:
    if stats.text("state", "NONE") != "FINISHED":
        return None
    return ended_scan(stats.text("function").lower(), stats.number("end_time"), stats.number("errors", 0))


def ended_scan(kind: str, ended_s: int, errors: int) -> Scan | None:
    """A scan that ended so many seconds after 1970; None for a time that cannot be one."""
    try:
        ended_at = datetime.fromtimestamp(ended_s, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return Scan(kind, ended_at.isoformat(timespec="seconds"), errors)
