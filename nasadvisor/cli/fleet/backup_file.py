"""What a backup of the console is: a tar file with database, keys, what hosts elsewhere trust, and settings.

`backup.json` stands first and says what is in it, with the SHA-256 of each file.
"""

import hashlib
import io
import os
import re
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nasadvisor.cli.errors import Refusal
from nasadvisor.runtime.private_files import new_private
from nasadvisor.stored.documents import from_json, to_json
from nasadvisor.stored.kinds import Kind, register

MANIFEST: Final = "backup.json"
SETTINGS: Final = "environment"
STATE: Final = "console/"
LARGEST_MANIFEST: Final = 2**20
_NAME: Final = re.compile(r"console/(?:[A-Za-z0-9_-][A-Za-z0-9._-]*/)?[A-Za-z0-9_-][A-Za-z0-9._-]*|environment")


@dataclass(frozen=True)
class BackedUpFile:
    """A file of the backup."""

    name: str
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """`database` is the name of the copy among the files; `migrations` say which release can read it."""

    release: str
    node: str
    made_at: str
    database: str
    migrations: int
    files: tuple[BackedUpFile, ...]


register(Kind("backup", Manifest))


def can_be_kept(name: str) -> bool:
    """Whether a file of the console has a name with which it comes back."""
    return _NAME.fullmatch(f"{STATE}{name}") is not None


def write(target: Path, manifest: Manifest, folder: Path) -> None:
    """Make the file, readable for its owner only. One that is there is not written over.

    Raises:
        FileExistsError
        OSError: nothing is left of it.
    """
    with new_private(target) as file, tarfile.open(fileobj=file, mode="w") as archive:
        text = to_json(manifest).encode()
        said = tarfile.TarInfo(MANIFEST)
        said.size, said.mode = len(text), 0o600
        archive.addfile(said, io.BytesIO(text))
        for kept in manifest.files:
            archive.add(folder / kept.name, kept.name, recursive=False)


def kept_in(folder: Path) -> tuple[BackedUpFile, ...]:
    """All files of a folder, by their names below it."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return tuple(BackedUpFile(path.relative_to(folder).as_posix(), _digest(path)) for path in paths)


def manifest_of(source: Path) -> Manifest:
    """What a backup says of itself.

    Raises:
        Refusal: it is none.
        NewerForm: a later release has made it.
    """
    with _opened(source) as archive:
        first = archive.next()
        data = archive.extractfile(first) if first and first.name == MANIFEST else None
        if first is None or data is None or first.size > LARGEST_MANIFEST:
            raise Refusal(f"{source} is no backup of NAS Advisor. Nothing was changed.")
        return from_json(Manifest, data.read().decode("utf-8", errors="replace"))


def unpack(source: Path, manifest: Manifest, folder: Path) -> None:
    """Put its files below a folder; just those that it names, each as it was.

    Raises:
        Refusal: it is damaged, or was changed.
    """
    wanted = {kept.name for kept in manifest.files}
    with _opened(source) as archive:
        for member in (each for each in archive if each.name != MANIFEST):
            data = archive.extractfile(member)
            if member.name not in wanted or not _NAME.fullmatch(member.name) or data is None:
                raise Refusal(f"{source} has {member.name!r}, which no backup has. Nothing was changed.")
            path = folder / member.name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with path.open("xb") as file:
                while block := data.read(2**20):
                    file.write(block)
                os.fsync(file.fileno())
    if kept_in(folder) != manifest.files:
        raise Refusal(f"{source} is damaged: its files differ from its list of files. Nothing was changed.")


def _opened(source: Path) -> tarfile.TarFile:
    try:
        return tarfile.open(source, "r:")
    except (tarfile.TarError, OSError) as error:
        raise Refusal(f"{source} cannot be read as a backup: {error}. Nothing was changed.") from error


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
