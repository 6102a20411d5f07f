"""What is remembered about one instance, so that a later command finds it again."""

import json
import re
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .errors import LabError
from .paths import cache_directory, instance_directory

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")


@dataclass(frozen=True)
class Instance:
    """One guest, running or not."""

    name: str
    scenario: str
    image: str
    ssh_port: int
    # Ports of the guest that can be reached on a port of this machine.
    forwards: Mapping[int, int]
    # Serial numbers that a swap has changed, by disk.
    serials: Mapping[str, str] = field(default_factory=dict)

    @property
    def directory(self) -> Path:
        return instance_directory(self.name)

    def save(self) -> None:
        """Write the record, atomically."""
        new = self.directory / "instance.json.new"
        new.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
        new.rename(self.directory / "instance.json")


def check_name(name: str) -> str:
    """Names become directories and socket paths."""
    if not NAME.fullmatch(name):
        raise LabError(f"{name!r} is no name for an instance: use lower-case letters, digits and hyphens.")
    return name


def load_instance(name: str) -> Instance:
    """The record of an instance."""
    file = instance_directory(check_name(name)) / "instance.json"
    if not file.exists():
        known = ", ".join(instance_names()) or "none"
        raise LabError(f"There is no lab instance named {name}. There are: {known}.")
    record = json.loads(file.read_text(encoding="utf-8"))
    record["forwards"] = {int(guest): host for guest, host in record["forwards"].items()}
    return Instance(**record)


def instance_names() -> tuple[str, ...]:
    """Every instance that has a record."""
    return tuple(sorted(file.parent.name for file in cache_directory().glob("run/*/instance.json")))


def free_port() -> int:
    """A TCP port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
