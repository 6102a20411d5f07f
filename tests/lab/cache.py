"""What the lab has built, kept by a hash of what went in."""

import fcntl
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .paths import cache_directory
from .stages import say

KEPT = 3


def hash_of(files: Sequence[Path], seed: str = "") -> str:
    """A short hash of the names and contents of files, and of what the seed stands for."""
    digest = hashlib.sha256(seed.encode())
    for file in files:
        digest.update(f"{file.name}\0{file.stat().st_size}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def built(kind: str, key: str, make: Callable[[Path, Path], None]) -> Path:
    """The directory of something built. If it is not there, `make` gets an empty directory to fill and a log file."""
    cache = cache_directory()
    target = cache / f"{kind}-{key}"
    if not target.exists():
        with _only_one_build(cache, kind):
            if not target.exists():
                _build(target, kind, make)
            _forget_old(cache, kind)
    target.touch()
    return target


@contextmanager
def _only_one_build(cache: Path, kind: str) -> Iterator[None]:
    """Two builds of the same at once would do the same work twice."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"build-{kind}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another build is under way; waiting for it …")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(target: Path, kind: str, make: Callable[[Path, Path], None]) -> None:
    """Build beside the target and rename, so that a build cut short leaves nothing that looks finished."""
    for leftover in target.parent.glob(f".building-{kind}-*"):
        shutil.rmtree(leftover)
    work = Path(tempfile.mkdtemp(prefix=f".building-{kind}-", dir=target.parent))
    make(work, target.parent / f"{target.name}.log")
    work.chmod(0o755)
    work.rename(target)


def _forget_old(cache: Path, kind: str) -> None:
    """Keep the newest; what an instance runs from stays."""
    in_use = {link.resolve() for link in cache.glob("run/*/image")}
    directories = sorted(
        (path for path in cache.glob(f"{kind}-*") if path.is_dir()),
        key=lambda path: path.stat().st_mtime,
        reverse=True,
    )
    for old in directories[KEPT:]:
        if old.resolve() not in in_use:
            shutil.rmtree(old)
            for log in cache.glob(f"{old.name}*.log"):
                log.unlink()
