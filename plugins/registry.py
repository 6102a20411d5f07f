"""Finding platform integrations: the packages beside this file, and those that register by entry point."""

import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Final, Literal

import plugins

GROUP: Final = "nasadvisor.platforms"
"""Entry points of this group name a package with a module `host`, `console` or `replacing`, or several of them."""

OURS: Final = frozenset({"contract"})


@dataclass(frozen=True)
class FoundPlugin:
    """The part of one package: its `PLATFORM`, or None and why it cannot be used."""

    package: str
    platform: Any
    problem: str = ""


def find(part: Literal["host", "console", "replacing"]) -> tuple[FoundPlugin, ...]:
    """This part of every package that has it. No other part is imported."""
    return tuple(found for package in dict.fromkeys(_packages()) if (found := _load(package, part)))


def _packages() -> Iterator[str]:
    for module in pkgutil.iter_modules(plugins.__path__):
        if module.ispkg and module.name not in OURS:
            yield f"plugins.{module.name}"
    for entry in entry_points(group=GROUP):
        yield entry.value


def _load(package: str, part: str) -> FoundPlugin | None:
    name = f"{package}.{part}"
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        return None if error.name == name else FoundPlugin(package, None, str(error))
    except (ImportError, SyntaxError) as error:
        return FoundPlugin(package, None, str(error))
    platform = getattr(module, "PLATFORM", None)
    return FoundPlugin(package, platform, "" if platform else f"{name} has no PLATFORM")
