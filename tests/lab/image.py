"""The guest image: built once, kept by a hash of what went in."""

from dataclasses import dataclass
from pathlib import Path

from . import layer_base, layer_final
from .cache import built, hash_of
from .python_packages import python_packages


@dataclass(frozen=True)
class Image:
    """A finished image."""

    directory: Path

    @property
    def disk(self) -> Path:
        return self.directory / "disk.img"

    @property
    def kernel(self) -> Path:
        return self.directory / "vmlinuz"

    @property
    def initrd(self) -> Path:
        return self.directory / "initrd.img"

    @property
    def key(self) -> Path:
        return self.directory / "id_ed25519"

    @property
    def known_hosts(self) -> Path:
        return self.directory / "known_hosts"


def image() -> Image:
    """The image for this state of the recipe and the lock file; builds what is missing."""
    base_key = hash_of(layer_base.INGREDIENTS)

    def build_final(directory: Path, log: Path) -> None:
        base = built("base", base_key, layer_base.build_base)
        layer_final.build_final(base, python_packages(), directory, log)

    return Image(built("image", hash_of(layer_final.INGREDIENTS, base_key), build_final))
