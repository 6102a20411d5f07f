"""What a platform integration tells the host."""

from pathlib import Path
from typing import Protocol


class Platform(Protocol):
    """One platform. Methods are called on every host, so they must be cheap and must not fail where it is absent."""

    name: str

    def detect(self) -> bool:
        """Whether this host is of that platform."""
        ...

    def locks(self) -> tuple[Path, ...]:
        """Lock files (flock) that the platform itself holds while it changes disks; held by us as well."""
        ...

    def tail_bytes(self) -> int:
        """How much must stay unpartitioned at the end of an SSD."""
        ...
