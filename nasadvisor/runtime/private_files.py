"""Files that hold secrets: put in place as a whole, and at no moment readable for others than they are for."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_private(path: Path, data: bytes, mode: int = 0o600, group_id: int = -1) -> None:
    """Write a file beside and put it in its place; readable for its owner only, or for a group by `mode`.

    Raises:
        OSError: what was there before is there still.
    """
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)  # whatever the umask is
        os.fchown(descriptor, -1, group_id)
        file.write(data)
    fresh.rename(path)


@contextmanager
def new_private(path: Path) -> Iterator[BinaryIO]:
    """A new file, readable for its owner only; one that is there is not written over. Nothing is left after an error.

    Raises:
        FileExistsError
        OSError
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink()
        raise
