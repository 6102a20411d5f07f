"""The guest images: built once, kept by a hash of what went in."""

from dataclasses import dataclass
from pathlib import Path

from . import layer_base, layer_final
from .cache import built, hash_of
from .deb import deb, deb_key
from .python_packages import python_packages
from .stages import side_by_side

WITH_PYTHON = "Making Debian, OpenZFS and the Python packages side by side (three minutes on two cores)"
WITH_PACKAGE = "Making Debian, OpenZFS and the package side by side (three minutes on two cores)"


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

    def build(directory: Path, log: Path) -> None:
        base, venv = side_by_side(WITH_PYTHON, _base, python_packages)
        layer_final.build_final(base, layer_final.WithPythonPackages(venv), directory, log)

    return Image(built("image", hash_of(layer_final.INGREDIENTS, _base_key()), build))


def product_image() -> Image:
    """The same with the product of this source tree installed, so that it need not be under emulation."""

    def build(directory: Path, log: Path) -> None:
        base, packages = side_by_side(WITH_PACKAGE, _base, deb)
        layer_final.build_final(base, layer_final.WithProduct(packages), directory, log)

    key = hash_of((*layer_final.INGREDIENTS, layer_final.INSTALLS), f"{_base_key()}\n{deb_key()}")
    return Image(built("product-image", key, build))


def _base_key() -> str:
    return hash_of(layer_base.INGREDIENTS)


def _base() -> Path:
    return built("base", _base_key(), layer_base.build_base)
