"""Which pool reader this machine gets, the one on top of py-libzfs, and what all leave to a common last step.

`zpool status -j` is read in `zpool`; py-libzfs (`import libzfs`) is for OpenZFS without JSON (2.1 and 2.2). It calls
the library in this process, so nothing there can be timed out: what may wait for a disk is not asked of a suspended
pool.
"""

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from nasadvisor.domain.storage.inventory import Pool, Scan, ScanProgress, Vdev, leaf_name
from nasadvisor.domain.units import size_text
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.adapters.zpool import (
    CHECKPOINT_FEATURE,
    DROPPED_KINDS,
    NOT_TOLD,
    TIMEOUT_S,
    ZpoolJson,
    ended_scan,
    limited_to,
    problem_of,
    running_scan,
    unreadable_pool,
    with_ashifts,
)
from nasadvisor.host.errors import CommandFailed, NoPoolReader, OutputUnreadable, SettingInvalid

# Positions in the arrays of numbers that the kernel hands out; members are only ever added at their ends.
# vdev_stat_t, pool_scan_stat_t, pool_checkpoint_stat_t, pool_removal_stat_t, vdev_rebuild_stat_t and
# pool_raidz_expand_stat_t in include/sys/fs/zfs.h.
_VDEV_AUX: Final = 2
_VDEV_SLOW_IOS: Final = 34
_SCAN_FUNCTION: Final = 0
_SCAN_STATE: Final = 1
_SCAN_BEGAN: Final = 2
_SCAN_END: Final = 3
_SCAN_ALL: Final = 4
_SCAN_SKIPPED: Final = 6
_SCAN_ERRORS: Final = 8
_SCAN_PAUSED_AT: Final = 11
_SCAN_PAUSED: Final = 12
_SCAN_ISSUED: Final = 14
_CHECKPOINT_STATE: Final = 0
_CHECKPOINT_SPACE: Final = 2
_REMOVAL_STATE: Final = 0
_REBUILD_STATE: Final = 0
_EXPAND_STATE: Final = 0

_AUX_SPARED: Final = 10  # vdev_aux_t
_AUX_EXTERNAL: Final = 14
_SCANNING: Final = 1  # dsl_scan_state_t
_SCAN_FINISHED: Final = 2
_REBUILDING: Final = 1  # vdev_rebuild_state_t
_SCAN_FUNCTIONS: Final = {1: "scrub", 2: "resilver", 3: "errorscrub"}  # pool_scan_func_t
_SUSPENDED: Final = frozenset({"IO_FAILURE_WAIT", "IO_FAILURE_CONTINUE", "IO_FAILURE_MMP"})


class LibzfsPools:
    """The pool reader on top of py-libzfs. `module` is the imported binding."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def read(self) -> tuple[Pool, ...]:
        """See `PoolReader.read`."""
        odd = (self._module.ZFSException, AttributeError, LookupError, TypeError, ValueError)
        try:
            with self._module.ZFS(history=False) as zfs:
                return tuple(_pool_or_problem(pool, odd) for pool in zfs.pools)
        except odd as error:
            raise OutputUnreadable("py-libzfs", f"{type(error).__name__}: {error}") from error


def _pool_or_problem(pool: Any, odd: tuple[type[Exception], ...]) -> Pool:
    try:
        return read_pool(pool)
    except odd as error:
        return unreadable_pool(str(pool.name), str(pool.guid), f"py-libzfs: {type(error).__name__}: {error}")


def read_pool(pool: Any) -> Pool:
    """A `libzfs.ZFSPool` as the domain's Pool, equal to what `zpool status -j` gives for it."""
    suspended = pool.status_code.name in _SUSPENDED
    config = pool.config
    tree = config["vdev_tree"]
    groups = pool.groups
    leaves = _leaf_stats(tree)
    found = Pool(
        name=pool.name,
        guid=str(pool.guid),
        state="SUSPENDED" if suspended else pool.status,
        ashift=0,
        size_bytes=0,
        allocated_bytes=0,
        read_only=False,
        suspended=suspended,
        checkpoint=_checkpoint(tree.get("checkpoint_stats")),
        multihost=False,
        features=(),
        scan=_scan(tree),
        last_scan=_last_scan(tree.get("scan_stats")),
        scan_progress=_progress(tree),
        data_errors=int(config.get("error_count", 0)),
        special_size_bytes=sum(vdev.stats.size for vdev in groups.get("special", ())),
        special_allocated_bytes=sum(vdev.stats.allocated for vdev in groups.get("special", ())),
        data=_vdevs(groups["data"], leaves),
        logs=_vdevs(groups["log"], leaves),
        caches=_vdevs(groups["cache"], leaves),
        specials=_vdevs(groups.get("special", ()), leaves),
        dedups=_vdevs(groups.get("dedup", ()), leaves),
        spares=_spares(groups["spare"], tree.get("spares", ())),
    )
    if suspended:
        stats = pool.root_vdev.stats
        return replace(found, size_bytes=stats.size, allocated_bytes=stats.allocated)
    ashifts = {str(top["guid"]): int(top.get("ashift", 0)) for top in tree.get("children", ())}
    return with_ashifts(_with_properties(found, pool), ashifts)


def _with_properties(found: Pool, pool: Any) -> Pool:
    properties = pool.properties
    features = {feature.name: feature.state.name for feature in pool.features}
    fragmentation = properties["fragmentation"].rawvalue
    # The binding lists every feature that the library knows, whatever version the pool is of.
    holds_checkpoint = features[CHECKPOINT_FEATURE] == "ACTIVE"
    return replace(
        found,
        size_bytes=_number(properties["size"].rawvalue),
        allocated_bytes=_number(properties["allocated"].rawvalue),
        fragmentation_percent=None if fragmentation == NOT_TOLD else int(fragmentation),
        read_only=_is_on(properties["readonly"].rawvalue),
        multihost=_is_on(properties["multihost"].rawvalue),
        checkpoint=found.checkpoint or (size_text(0) if holds_checkpoint else ""),
        features=tuple(sorted(name for name, state in features.items() if state != "DISABLED")),
        compatibility=limited_to(properties["compatibility"].rawvalue) if "compatibility" in properties else "",
        active_features=tuple(sorted(name for name, state in features.items() if state == "ACTIVE")),
        cloned_bytes=_number_told(properties, "bcloneused"),
        dedup_table_bytes=_number_told(properties, "dedup_table_size"),
        autotrim=_is_on(properties["autotrim"].rawvalue) if "autotrim" in properties else None,
    )


def _is_on(text: str) -> bool:
    """A property that is either.

    Raises:
        ValueError: it is something else, as where it could not be read.
    """
    if text not in ("on", "off"):
        raise ValueError(f"{text!r} instead of on or off")
    return text == "on"


def _number(text: str) -> int:
    return 0 if text == NOT_TOLD else int(text)


def _number_told(properties: Mapping[str, Any], name: str) -> int:
    """A property that only later releases have."""
    return _number(properties[name].rawvalue) if name in properties else 0


def _leaf_stats(tree: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """What the kernel counts of each leaf, by its guid; the binding's own statistics leave out some of it."""
    found: dict[str, tuple[int, ...]] = {}
    for config in (*tree.get("children", ()), *tree.get("l2cache", ())):
        if "children" in config:
            found |= _leaf_stats(config)
        else:
            found[str(config["guid"])] = tuple(config.get("vdev_stats", ()))
    return found


def _vdevs(vdevs: Iterable[Any], leaves: Mapping[str, tuple[int, ...]]) -> tuple[Vdev, ...]:
    return tuple(_vdev(vdev, leaves) for vdev in vdevs if vdev.type not in DROPPED_KINDS)


def _vdev(vdev: Any, leaves: Mapping[str, tuple[int, ...]]) -> Vdev:
    path = vdev.path or ""
    # The binding adds the parity ("raidz2"); OpenZFS's own vdev_type has it only in the name.
    kind = "raidz" if vdev.type.startswith("raidz") else vdev.type
    stats, counted = vdev.stats, leaves.get(str(vdev.guid), ())
    below = tuple(vdev.children)
    if not path and not below:
        raise ValueError(f"the {kind} {vdev.guid} has neither a path nor anything below it")
    return Vdev(
        guid=str(vdev.guid),
        kind=kind,
        name=leaf_name(path) or vdev.name,
        state=vdev.status,
        path=path,
        children=_vdevs(below, leaves),
        read_errors=stats.read_errors,
        write_errors=stats.write_errors,
        checksum_errors=stats.checksum_errors,
        slow_ios=counted[_VDEV_SLOW_IOS] if len(counted) > _VDEV_SLOW_IOS else 0,
        is_forced=counted[_VDEV_AUX : _VDEV_AUX + 1] == (_AUX_EXTERNAL,),
    )


def _spares(vdevs: Iterable[Any], configs: Iterable[Mapping[str, Any]]) -> tuple[Vdev, ...]:
    """Spares have states of their own, INUSE and AVAIL; see `print_status_config()` in cmd/zpool/zpool_main.c."""
    in_use = {str(config["guid"]) for config in configs if config["vdev_stats"][_VDEV_AUX] == _AUX_SPARED}

    def state(spare: Vdev) -> str:
        if spare.guid in in_use:
            return "INUSE"
        return "AVAIL" if spare.state == "ONLINE" else spare.state

    # Errors are not counted for spares in JSON, so not here either.
    return tuple(
        replace(spare, state=state(spare), read_errors=0, write_errors=0, checksum_errors=0)
        for spare in _vdevs(vdevs, {})
    )


def _checkpoint(stats: list[int] | None) -> str:
    if not stats or not stats[_CHECKPOINT_STATE]:
        return ""
    return size_text(stats[_CHECKPOINT_SPACE])


def _scan(tree: Mapping[str, Any]) -> str:
    scan = tree.get("scan_stats")
    if scan and scan[_SCAN_STATE] == _SCANNING:
        return _SCAN_FUNCTIONS.get(scan[_SCAN_FUNCTION], "unknown")
    rebuilds = [top.get("org.openzfs:rebuild_stats") for top in tree.get("children", ())]
    if any(stats and stats[_REBUILD_STATE] == _REBUILDING for stats in rebuilds):
        return "resilver"
    removal, expansion = tree.get("removal_stats"), tree.get("raidz_expand_stats")
    if removal and removal[_REMOVAL_STATE] == _SCANNING:
        return "removal"
    if expansion and expansion[_EXPAND_STATE] == _SCANNING:
        return "expansion"
    return ""


def _last_scan(stats: list[int] | None) -> Scan | None:
    if not stats or stats[_SCAN_STATE] != _SCAN_FINISHED:
        return None
    kind = _SCAN_FUNCTIONS.get(stats[_SCAN_FUNCTION], "unknown")
    scan = ended_scan(kind, stats[_SCAN_END], stats[_SCAN_ERRORS])
    seconds = stats[_SCAN_END] - stats[_SCAN_BEGAN] - stats[_SCAN_PAUSED]
    return scan and replace(scan, seconds=max(seconds, 0), read_bytes=stats[_SCAN_ISSUED])


def _progress(tree: Mapping[str, Any]) -> ScanProgress | None:
    stats = tree.get("scan_stats")
    if not stats or stats[_SCAN_STATE] != _SCANNING:
        return None
    all_bytes = stats[_SCAN_ALL] - stats[_SCAN_SKIPPED]
    return running_scan(stats[_SCAN_BEGAN], stats[_SCAN_ISSUED], all_bytes, stats[_SCAN_PAUSED_AT])


_USAGE_ERROR: Final = 2  # zpool(8): "Invalid command line options were specified"


class Reader(StrEnum):
    """The setting that chooses how pools are read."""

    AUTO = "auto"
    JSON = "json"
    LIBZFS = "libzfs"

    @classmethod
    def named(cls, name: str) -> "Reader":
        """The reader that a setting names.

        Raises:
            SettingInvalid: it names none.
        """
        if name not in list(cls):
            raise SettingInvalid("NASADVISOR_POOL_READER", name, tuple(cls))
        return cls(name)


def import_libzfs() -> ModuleType | None:
    """The py-libzfs binding, None where it is not installed for this Python."""
    try:
        return importlib.import_module("libzfs")
    except ImportError:
        return None


class HostPools:
    """The pool reader of this machine: JSON where `zpool` has it (OpenZFS 2.3), else py-libzfs."""

    def __init__(
        self,
        runner: Runner,
        sys: Path,
        choice: Reader = Reader.AUTO,
        find_libzfs: Callable[[], ModuleType | None] = import_libzfs,
    ) -> None:
        self._runner = runner
        self._module_loaded = sys / "module/zfs"
        self._choice = choice
        self._find_libzfs = find_libzfs

    def read(self) -> tuple[Pool, ...]:
        """See `PoolReader.read`."""
        if not self._module_loaded.exists():
            return ()  # asking zpool would load the module
        pools = self._look()
        # Most often a pool is exported or made anew between two questions; then it is told apart the second time.
        return self._look() if any(pool.problem for pool in pools) else pools

    def _look(self) -> tuple[Pool, ...]:
        pools = self._reader().read()
        return with_locked_datasets(pools, self._runner) if self._runner.has(Tool.ZFS) else pools

    def _reader(self) -> ZpoolJson | LibzfsPools:
        if self._choice is not Reader.LIBZFS and self._has_json:
            return ZpoolJson(self._runner)
        binding = self._find_libzfs() if self._choice is not Reader.JSON else None
        if binding is None:
            raise NoPoolReader(self._choice)
        return LibzfsPools(binding)

    @cached_property
    def _has_json(self) -> bool:
        """Asked once: it does not change within a run, and each start of a program costs."""
        if not self._runner.has(Tool.ZPOOL):
            return False
        command = Command(Tool.ZPOOL, ("version", "-j"), TIMEOUT_S, frozenset({0, _USAGE_ERROR}))
        return self._runner.run(command).code == 0


def with_locked_datasets(pools: tuple[Pool, ...], runner: Runner) -> tuple[Pool, ...]:
    """The pools with their encryption roots whose key is not loaded; a suspended pool is not asked."""
    asked = tuple(pool for pool in pools if not pool.suspended and not pool.problem)
    told = {pool.guid: pool for pool in _with_locked(asked, runner)} if asked else {}
    return tuple(told.get(pool.guid, pool) for pool in pools)


def _with_locked(pools: tuple[Pool, ...], runner: Runner) -> tuple[Pool, ...]:
    """All are asked at once; one that went meanwhile is no reason to lose the others."""
    try:
        locked = _locked_datasets([pool.name for pool in pools], runner)
    except (CommandFailed, OutputUnreadable) as error:
        if len(pools) == 1:
            return (replace(pools[0], problem=problem_of(error)),)
        return tuple(found for pool in pools for found in _with_locked((pool,), runner))
    return tuple(
        replace(pool, locked_datasets=tuple(name for name in locked if name.split("/")[0] == pool.name))
        for pool in pools
    )


def _locked_datasets(names: list[str], runner: Runner) -> list[str]:
    command = ("get", "-H", "-o", "name,value", "feature@encryption", *names)
    question = Command(Tool.ZPOOL, command, timeout_s=TIMEOUT_S)
    states = {name: state for name, *state in _rows(runner, question)}
    for name in names:
        if name not in states:
            raise OutputUnreadable(str(question), f"it says nothing of {name}")
    encrypted = [name for name in names if states[name] == ["active"]]
    if not encrypted:
        return []  # and a pool with thousands of datasets need not list them
    columns = "name,encryptionroot,keystatus"
    command = ("list", "-H", "-r", "-t", "filesystem,volume", "-o", columns, *encrypted)
    rows = _rows(runner, Command(Tool.ZFS, command, timeout_s=TIMEOUT_S))
    return [name for name, *rest in rows if rest == [name, "unavailable"]]


def _rows(runner: Runner, command: Command) -> list[list[str]]:
    """The rows of an answer in scripted mode: one line each, columns separated by single tabs."""
    return [line.split("\t") for line in runner.run(command).stdout.split("\n") if line]
