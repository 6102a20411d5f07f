"""Reading pools from `zpool status|get -j` (OpenZFS 2.3 and later; zpool-status(8), zpool-get(8)).

Source of names and states: cmd/zpool/zpool_main.c, `status_callback_json()`, `vdev_stats_nvlist()` and
`fill_vdev_info()`. What they print of every pool and every vdev is asked for here and its absence is an error; only
what they leave out where there is nothing to tell may be missing.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from nasadvisor.domain.storage.inventory import UNREADABLE, Pool, Scan, ScanProgress, Vdev, leaf_name
from nasadvisor.domain.units import size_text
from nasadvisor.host.adapters.answer import Answer
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import CommandFailed, HostError, OutputUnreadable

TIMEOUT_S: Final = 60.0

# -P: full paths, so that two leaves never share a key; -p: exact numbers. -g names every vdev by its guid.
_STATUS: Final = ("status", "-j", "-P", "-p")
_STATUS_BY_GUID: Final = ("status", "-j", "-g", "-P", "-p")

CHECKPOINT_FEATURE: Final = "zpool_checkpoint"
"""Active for as long as there is a checkpoint, and until one that is discarded is gone: spa_checkpoint_get_stats() in
module/zfs/spa_checkpoint.c asks for nothing else. So it is a second witness where the statistics are absent."""

FEATURE_FLAGS: Final = "-"
"""The property `version` of a pool that has features; older pools have a number there, and none (zpoolprops(7))."""

NOT_TOLD: Final = "-"
"""A property that a pool does not have."""

WENT_MEANWHILE: Final = "it was not there any more when it was asked for by guid"

NO_LIMIT: Final = "off"
"""The property `compatibility` of a pool that may have every feature; releases before 2.1 have none of that name."""

DROPPED_KINDS: Final = frozenset({"hole", "indirect", "missing"})
"""Places without a device: left by removed vdevs, or not yet told by the pool (lib/libzfs, zpool status)."""


class ZpoolJson:
    """The pool reader for OpenZFS 2.3 and later."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def read(self) -> tuple[Pool, ...]:
        """See `PoolReader.read`."""
        pools = parse_status(self._ask(_STATUS))
        if any(pool.problem or is_ambiguous(pool) for pool in pools):
            exact = {pool.guid: pool for pool in parse_status(self._ask(_STATUS_BY_GUID))}
            pools = tuple(
                with_names(exact[pool.guid], pool) if pool.guid in exact else replace(pool, problem=WENT_MEANWHILE)
                for pool in pools
            )
        # Properties of a suspended pool may have to be read from its disks, which would wait for ever.
        asked = [pool for pool in pools if not pool.suspended and not pool.problem]
        told = {pool.guid: pool for pool in self._with_properties(asked)} if asked else {}
        return tuple(told.get(pool.guid, pool) for pool in pools)

    def _with_properties(self, pools: list[Pool]) -> list[Pool]:
        """All are asked at once; one that went meanwhile, or answers oddly, is no reason to lose the others."""
        try:
            answer = self._ask(("get", "-j", "-p", "all", *(pool.name for pool in pools))).need("pools")
            return [self._complete(pool, answer) for pool in pools]
        except (CommandFailed, OutputUnreadable) as error:
            if len(pools) == 1:
                return [replace(pools[0], problem=problem_of(error))]
            return [found for pool in pools for found in self._with_properties([pool])]

    def _complete(self, pool: Pool, answer: Answer) -> Pool:
        properties = answer.need(pool.name).need("properties")
        guid = properties.need("guid").text("value")
        if guid != pool.guid:
            raise OutputUnreadable(answer.source, f"the pool {pool.name} has the guid {guid} by now, not {pool.guid}")
        tops = [top.guid for tops in _named(pool) for top in tops]
        ashifts = parse_ashifts(self._ask(("get", "-j", "-p", "ashift", pool.name, *tops))) if tops else {}
        return with_ashifts(with_properties(pool, properties), ashifts)

    def _ask(self, args: tuple[str, ...]) -> Answer:
        command = Command(Tool.ZPOOL, args, timeout_s=TIMEOUT_S)
        return Answer.of(str(command), self._runner.run(command).stdout)


def parse_status(answer: Answer) -> tuple[Pool, ...]:
    """The pools in an answer of `zpool status -j -P -p`, without what only properties tell.

    One of which the answer is not understood is there with its name, its guid and the problem.

    Raises:
        OutputUnreadable: not even the name and the guid of each pool are told.
    """
    pools = answer.need("pools")
    return tuple(_pool_or_problem(pools.need(name)) for name in pools.fields)


def problem_of(error: HostError) -> str:
    """What was wrong with an answer, in a few words."""
    if isinstance(error, CommandFailed):
        return error.stderr.strip() or f"{error.command} failed with exit code {error.code}"
    return error.problem if isinstance(error, OutputUnreadable) else str(error)


def unreadable_pool(name: str, guid: str, problem: str) -> Pool:
    """A pool that is there, and of which nothing else is known."""
    return Pool(
        name=name,
        guid=guid,
        state=UNREADABLE,
        ashift=0,
        size_bytes=0,
        allocated_bytes=0,
        read_only=False,
        suspended=False,
        checkpoint="",
        multihost=False,
        features=(),
        problem=problem,
    )


def with_properties(pool: Pool, properties: Answer) -> Pool:
    """The pool with what `zpool get -j -p all` says of it."""

    features = {
        name.removeprefix("feature@"): properties.child(name).text("value")
        for name in properties.fields
        if name.startswith("feature@")
    }
    told = properties.need("fragmentation")  # "-" without a histogram of free space (feature spacemap_histogram)
    return replace(
        pool,
        size_bytes=properties.need("size").number("value"),
        allocated_bytes=properties.need("allocated").number("value"),
        fragmentation_percent=None if told.text("value") == NOT_TOLD else told.number("value"),
        read_only=_is_on(properties, "readonly"),
        multihost=_is_on(properties, "multihost"),
        checkpoint=pool.checkpoint or _checkpoint_by_feature(properties, features),
        features=tuple(sorted(name for name, state in features.items() if state != "disabled")),
        compatibility=limited_to(properties.child("compatibility").text("value", NO_LIMIT)),
        active_features=tuple(sorted(name for name, state in features.items() if state == "active")),
        cloned_bytes=properties.child("bcloneused").number("value", 0),
        dedup_table_bytes=properties.child("dedup_table_size").number("value", 0),
        autotrim=_is_on(properties, "autotrim") if "autotrim" in properties.fields else None,
    )


def limited_to(compatibility: str) -> str:
    """The sets of features that a pool is limited to; "" where it is not."""
    return "" if compatibility in (NO_LIMIT, NOT_TOLD) else compatibility


def _is_on(properties: Answer, name: str) -> bool:
    value = properties.need(name).text("value")
    if value not in ("on", "off"):
        raise OutputUnreadable(properties.source, f"{properties.where}/{name} is {value!r} instead of on or off")
    return value == "on"


def _checkpoint_by_feature(properties: Answer, features: dict[str, str]) -> str:
    """The checkpoint that the feature tells of although there are no statistics; "" where there is none."""
    if properties.need("version").text("value") != FEATURE_FLAGS:
        return ""
    if CHECKPOINT_FEATURE not in features:
        raise OutputUnreadable(properties.source, f"{properties.where}/feature@{CHECKPOINT_FEATURE} is missing")
    if features[CHECKPOINT_FEATURE] != "active":
        return ""
    return size_text(properties.need("checkpoint").number("value"))


def parse_ashifts(answer: Answer) -> dict[str, int]:
    """The ashift by guid in an answer of `zpool get -j -p ashift POOL GUID…`."""
    vdevs = answer.need("vdevs")
    return {
        vdev.text("guid"): vdev.need("properties").need("ashift").number("value")
        for vdev in map(vdevs.need, vdevs.fields)
    }


def with_ashifts(pool: Pool, ashifts: dict[str, int]) -> Pool:
    """The pool with the ashift of its top-level vdevs, and as its own the largest of its data vdevs.

    It is 0, which is unknown, if that of any of them is. The pool's property of that name is only a default for new
    vdevs, and 0 unless somebody set it.
    """

    def known(tops: tuple[Vdev, ...]) -> tuple[Vdev, ...]:
        return tuple(replace(top, ashift=ashifts.get(top.guid, 0)) for top in tops)

    data = known(pool.data)
    return replace(
        pool,
        ashift=max((top.ashift for top in data), default=0) if all(top.ashift for top in data) else 0,
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


def _pool_or_problem(answer: Answer) -> Pool:
    try:
        return _pool(answer)
    except OutputUnreadable as error:
        problem = error.problem
    except RecursionError:
        problem = f"{answer.where}: its vdevs are nested too deeply"
    return unreadable_pool(answer.text("name"), answer.text("pool_guid"), problem)


def _pool(pool: Answer) -> Pool:
    name = pool.text("name")
    state = pool.text("state")
    vdevs = pool.need("vdevs")
    # Named by guid, the pool's own place in the tree is too, and it is the only one there.
    root = vdevs.need(name if name in vdevs.fields else next(iter(vdevs.fields), name))
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
        scan_progress=_progress(pool) if _runs(pool, "scan_stats") else None,
        data_errors=pool.number("error_count"),
        special_size_bytes=sum(vdev.number("total_space", 0) for _, vdev in pool.children("special")),
        special_allocated_bytes=sum(vdev.number("alloc_space", 0) for _, vdev in pool.children("special")),
        data=_vdevs(_below(root)),
        logs=_vdevs(pool.children("logs")),
        caches=_vdevs(pool.children("l2cache")),
        specials=_vdevs(pool.children("special")),
        dedups=_vdevs(pool.children("dedup")),
        spares=tuple(_vdev(name, spare, counted=False) for name, spare in pool.children("spares")),
    )


def _below(vdev: Answer) -> Iterable[tuple[str, Answer]]:
    """The vdevs below one that has no path, and so must have some."""
    vdev.need("vdevs")
    return vdev.children("vdevs")


def _vdevs(children: Iterable[tuple[str, Answer]]) -> tuple[Vdev, ...]:
    return tuple(_vdev(key, vdev) for key, vdev in children if vdev.text("vdev_type") not in DROPPED_KINDS)


def _vdev(key: str, vdev: Answer, *, counted: bool = True) -> Vdev:
    """One vdev. Of spares no errors are counted, and of inner vdevs no slow requests."""
    kind, guid, path = vdev.text("vdev_type"), vdev.text("guid"), vdev.text("path", "")
    aux = vdev.text("aux", "")
    return Vdev(
        guid=guid,
        kind=kind,
        name=leaf_name(path) or (kind if key == guid else key),
        state=state_name(vdev.text("state"), aux),
        is_forced=aux == "EXTERNAL",
        path=path,
        children=_vdevs(vdev.children("vdevs") if path else _below(vdev)),
        read_errors=vdev.number("read_errors") if counted else 0,
        write_errors=vdev.number("write_errors") if counted else 0,
        checksum_errors=vdev.number("checksum_errors") if counted else 0,
        slow_ios=vdev.number("slow_ios") if counted and path else 0,
    )


def _checkpoint(pool: Answer) -> str:
    """From the statistics, for the property reads "-" until a new checkpoint holds any space.

    A pool without a checkpoint has no statistics of one (`checkpoint_status_nvlist()`).
    """
    if "checkpoint_stats" not in pool.fields:
        return ""
    stats = pool.child("checkpoint_stats")
    return "" if stats.text("state") == "NONE" else size_text(stats.number("space"))


def _scan(pool: Answer) -> str:
    if _runs(pool, "scan_stats"):
        return pool.child("scan_stats").text("function").lower()
    rebuilds = (rebuild.text("state") for _, rebuild in pool.child("scan_stats").children("rebuild_stats"))
    if "ACTIVE" in rebuilds:
        return "resilver"
    if _runs(pool, "removal_stats"):
        return "removal"
    if _runs(pool, "raidz_expand_stats"):
        return "expansion"
    return ""


def _runs(pool: Answer, stats: str) -> bool:
    """Whether something goes on. Where nothing of the kind ever did, there are no statistics of it.

    Those of a rebuild stand among those of a scan, also where there never was a scan (`scan_status_nvlist()`).
    """
    told = pool.child(stats)
    return bool(told.fields.keys() - {"rebuild_stats"}) and told.text("state") == "SCANNING"


def _last_scan(stats: Answer) -> Scan | None:
    """Of one that went on, `_scan` has asked for the state already."""
    if stats.text("state", "NONE") != "FINISHED":
        return None
    ended_s, paused_s = stats.number("end_time"), stats.number("scrub_spent_paused", 0)
    began_s = stats.number("start_time", ended_s)
    scan = ended_scan(stats.text("function").lower(), ended_s, stats.number("errors"))
    return scan and replace(scan, seconds=max(ended_s - began_s - paused_s, 0), read_bytes=stats.number("issued", 0))


def _progress(pool: Answer) -> ScanProgress | None:
    stats = pool.child("scan_stats")
    return running_scan(
        stats.number("start_time", 0),
        stats.number("issued", 0),
        stats.number("to_examine", 0) - stats.number("skipped", 0),
        stats.number("scrub_pause", 0),
    )


def running_scan(began_s: int, done_bytes: int, all_bytes: int, paused_s: int) -> ScanProgress | None:
    """How far one is that began so many seconds after 1970, and was paused so many after; 0 for one that works."""
    began_at, paused_at = _moment(began_s), _moment(paused_s) if paused_s else ""
    return ScanProgress(began_at, done_bytes, all_bytes, paused_at) if began_at and all_bytes > 0 else None


def ended_scan(kind: str, ended_s: int, errors: int) -> Scan | None:
    """A scan that ended so many seconds after 1970; None for a time that cannot be one."""
    ended_at = _moment(ended_s)
    return Scan(kind, ended_at, errors) if ended_at else None


def _moment(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""
