"""The guest image: built once, kept by a hash of what went in."""

import fcntl
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import layer_base, layer_final
from .paths import cache_directory
from .stages import say

KEPT = 3


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
    base_key = _hash(layer_base.INGREDIENTS)
    image_key = _hash(layer_final.INGREDIENTS, base_key)
    cache = cache_directory()
    base, final = cache / f"base-{base_key}", cache / f"image-{image_key}"
    if not final.exists():
        with _only_one_build(cache):
            if not base.exists():
                _build(base, layer_base.build_base)
            if not final.exists():
                _build(final, lambda work, log: layer_final.build_final(base, work, log))
                base.touch()
            _forget_old(cache)
    final.touch()
    return Image(final)


def _hash(files: Sequence[Path], seed: str = "") -> str:
    digest = hashlib.sha256(seed.encode())
    for file in files:
        digest.update(f"{file.name}\0{file.stat().st_size}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def _only_one_build(cache: Path) -> Iterator[None]:
    """Two builds at once would do the same work twice."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "build.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another build is under way; waiting for it …")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(target: Path, make: Callable[[Path, Path], None]) -> None:
    """Build beside the target and rename, so that a build cut short leaves nothing that looks finished."""
    for leftover in target.parent.glob(".building-*"):
        shutil.rmtree(leftover)
    work = Path(tempfile.mkdtemp(prefix=".building-", dir=target.parent))
    make(work, target.parent / f"{target.name}.log")
    work.chmod(0o755)
    work.rename(target)


def _forget_old(cache: Path) -> None:
    """Keep the newest images and bases; an image that an instance runs from stays."""
    in_use = {link.resolve() for link in cache.glob("run/*/image")}
    for kind in ("base", "image"):
        directories = sorted(
            (path for path in cache.glob(f"{kind}-*") if path.is_dir()),
            key=lambda path: path.stat().st_mtime,
            reverse=True,
        )
        for old in directories[KEPT:]:
            if old.resolve() not in in_use:
                shutil.rmtree(old)
                old.with_suffix(".log").unlink(missing_ok=True)
