"""Which machine to emulate: scenario files, read into frozen data."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from .errors import LabError
from .paths import SCENARIOS

UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


class Bus(StrEnum):
    """How a disk is attached."""

    SATA = "sata"
    NVME = "nvme"
    SAS = "sas"


@dataclass(frozen=True, kw_only=True)
class Disk:
    """One virtual disk. Names are the lab's own; the guest sees model, serial and WWN."""

    name: str
    bus: Bus
    size: int
    serial: str
    model: str = ""
    vendor: str = ""
    wwn: int | None = None
    # Revolutions per minute; 1 says SSD, as in the ATA standard.
    rotation: int = 1
    logical_sector: int = 512
    physical_sector: int = 512
    namespaces: int = 1
    # Each read and each write takes this long on top.
    latency_ms: int = 0
    iops: int = 0
    # Makes `fault err` possible; costs a process that every request goes through.
    error_switch: bool = False
    # Every write and flush goes into the machine's record (recorder.py), and flushes reach the disk.
    recorded: bool = False

    @property
    def is_ssd(self) -> bool:
        return self.bus is Bus.NVME or self.rotation == 1

    @property
    def served(self) -> bool:
        """Whether a server stands between QEMU and the file: nbdkit or the recorder."""
        return self.error_switch or self.latency_ms > 0 or self.recorded


@dataclass(frozen=True)
class Boot:
    """The identity of the disk that the guest boots from: a SATA SSD."""

    model: str
    serial: str
    wwn: int


@dataclass(frozen=True)
class Pool:
    """The pool that a reset creates."""

    name: str
    ashift: int
    mirrors: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Scenario:
    """A whole machine."""

    name: str
    boot: Boot
    disks: tuple[Disk, ...]
    pool: Pool | None = None
    cpus: int = 2
    memory_mib: int = 4096

    def disk(self, name: str) -> Disk:
        """The disk of that name."""
        for disk in self.disks:
            if disk.name == name:
                return disk
        known = ", ".join(disk.name for disk in self.disks)
        raise LabError(f"The scenario {self.name} has no disk named {name}. It has {known}.")


def scenario_names() -> tuple[str, ...]:
    """Every scenario there is a file for."""
    return tuple(sorted(file.stem for file in SCENARIOS.glob("*.toml")))


def load_scenario(name: str) -> Scenario:
    """Read a scenario by name."""
    file = SCENARIOS / f"{name}.toml"
    if not file.exists():
        raise LabError(f"There is no scenario named {name}. There are {', '.join(scenario_names())}.")
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    try:
        return _scenario(name, document)
    except (KeyError, TypeError, ValueError) as error:
        raise LabError(f"{file} describes no machine: {error!r}.") from error


def _scenario(name: str, document: dict[str, Any]) -> Scenario:
    own_disks = tuple(_disk(entry) for entry in document.get("disk", ()))
    changes: Mapping[str, Mapping[str, Any]] = document.get("change", {})
    machine: dict[str, Any] = {key: document[key] for key in ("cpus", "memory_mib") if key in document}
    if "boot" in document:
        machine["boot"] = Boot(**document["boot"])
    if "pool" in document:
        entry = document["pool"]
        mirrors = tuple(tuple(mirror) for mirror in entry["mirrors"])
        machine["pool"] = Pool(entry["name"], entry["ashift"], mirrors)
    if "extends" not in document:
        return Scenario(name=name, disks=own_disks, **machine)
    parent = load_scenario(document["extends"])
    for changed in changes:
        parent.disk(changed)
    inherited = tuple(replace(disk, **_values(changes.get(disk.name, {}))) for disk in parent.disks)
    return replace(parent, name=name, disks=inherited + own_disks, **machine)


def _disk(entry: Mapping[str, Any]) -> Disk:
    return Disk(**_values(entry))


def _values(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a table in the types of Disk."""
    known = {field.name for field in fields(Disk)}
    if unknown := set(entry) - known:
        raise ValueError(f"unknown keys {', '.join(sorted(unknown))}")
    values = dict(entry)
    if "size" in values:
        values["size"] = parse_size(values["size"])
    if "bus" in values:
        values["bus"] = Bus(values["bus"])
    return values


def parse_size(text: str) -> int:
    """Bytes from "16GiB"."""
    number, unit = text[:-3], text[-3:]
    if unit not in UNITS or not number.isdigit():
        raise ValueError(f"{text!r} is not a size like 16GiB")
    return int(number) * UNITS[unit]
