"""Which pool reader this machine gets, and what both of them leave to a common last step."""

import importlib
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Final

from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.host.adapters.libzfs import LibzfsPools
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.adapters.zpool import TIMEOUT_S, ZpoolJson, problem_of
from nasadvisor.host.errors import CommandFailed, NoPoolReader, OutputUnreadable, SettingInvalid

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
