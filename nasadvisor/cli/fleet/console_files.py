"""Reading the files of the console as root, who trusts nothing in its folder: its user may put anything in their place.

They are opened with the rights of that user, folder by folder, and no link is followed. What is kept are ordinary files
of a few kilobytes; anything else is told, and nothing is taken for complete that is not.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from nasadvisor.cli.errors import Refusal
from nasadvisor.cli.fleet.backup_file import can_be_kept
from nasadvisor.domain.units import MIB

KEYS: Final = ("secret-key", "channel-key")
REMOTE: Final = "remote"
"""What hosts elsewhere trust; a folder of files."""

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""O_NONBLOCK: a named pipe is not waited for."""


def read_files(state: Path, owner: tuple[int, int]) -> dict[str, bytes]:
    """The keys and what hosts elsewhere trust, by their names below the folder.

    Raises:
        Refusal: something there is no ordinary file of the console.
        OSError: it cannot be read with the rights of the console's user.
    """
    with as_user(*owner), _open_folder(state, None) as top:
        there = {*_names_in(top), KEYS[0]}  # without the first there is no console
        files: dict[str, bytes] = {name: _read(state / name, top) for name in KEYS if name in there}
        if REMOTE in there:
            with _open_folder(state / REMOTE, top) as remote:
                for name in sorted(_names_in(remote)):
                    files[f"{REMOTE}/{name}"] = _read(state / REMOTE / name, remote)
    return files


def refuse_open_place(state: Path) -> None:
    """See to it that nobody but root can exchange the folder of the console, or what root makes beside it.

    Raises:
        Refusal
    """
    above = state.parent.stat()
    is_sticky = above.st_mode & stat.S_ISVTX and state.stat().st_uid == 0  # only its owner can rename it (unlink(2))
    is_open = above.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not is_sticky
    if os.geteuid() == 0 and (above.st_uid != 0 or is_open):
        raise Refusal(
            f"{state.parent} can be changed by others than root, so root works on nothing in it. Nothing was changed. "
            f"NASADVISOR_CONSOLE_STATE must name a folder that lies in one of root's."
        )


@contextmanager
def as_user(user: int, group: int) -> Iterator[None]:
    """This process, and the programs that it starts, as somebody else; nothing where it is not root."""
    if os.geteuid() != 0 or user == 0:
        yield
        return
    groups = os.getgroups()
    os.setgroups([group])
    os.setresgid(group, group, 0)
    os.setresuid(user, user, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
        os.setgroups(groups)


@contextmanager
def _open_folder(path: Path, above: int | None) -> Iterator[int]:
    descriptor = _opened(path, _FOLDER, above, "folder")
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _names_in(folder: int) -> list[str]:
    return os.listdir(folder)


def _read(path: Path, folder: int) -> bytes:
    if not can_be_kept(path.name):
        raise Refusal(f"{path} has a name that no backup keeps. No backup was made. Remove it if it is not needed.")
    descriptor = _opened(path, _FILE, folder, "file")
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _odd(path, "file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(MIB + 1)
    finally:
        os.close(descriptor)
    if len(data) > MIB:
        raise Refusal(f"{path} is larger than any file of the console. No backup was made. Find out who wrote it.")
    return data


def _opened(path: Path, flags: int, folder: int | None, what: str) -> int:
    try:
        return os.open(path if folder is None else path.name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):  # a link, no folder, a socket
            raise _odd(path, what) from error
        raise OSError(error.errno, error.strerror, str(path)) from error


def _odd(path: Path, what: str) -> Refusal:
    return Refusal(
        f"{path} is no ordinary {what}, so it was not followed and not read. No backup was made. The console makes "
        f"nothing of that kind: see who has (ls -l {path})."
    )
