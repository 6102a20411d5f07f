"""The platforms this host may be of, found by name in the `plugins` package."""

import pkgutil
from importlib import import_module
from pathlib import Path
from typing import Protocol

from nasadvisor.domain.units import MIB


class _Platform(Protocol):
    def detect(self) -> bool: ...
    def locks(self) -> tuple[Path, ...]: ...
    def tail_bytes(self) -> int: ...


def extra_locks() -> tuple[Path, ...]:
    """The lock files of the platforms that this host is of."""
    return tuple(path for platform in _detected() for path in platform.locks())


def tail_bytes() -> int:
    """What must stay free at the end of an SSD on this host."""
    return max((platform.tail_bytes() for platform in _detected()), default=MIB)


def _detected() -> tuple[_Platform, ...]:
    plugins = import_module("plugins")
    names = (f"plugins.{module.name}" for module in pkgutil.iter_modules(plugins.__path__) if module.ispkg)
    platforms = (import_module(name).PLATFORM for name in names)
    return tuple(platform for platform in platforms if platform.detect())
