"""What spells told, kept on the host for a week, so that the command line knows it: a file for each pool and hour."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nasadvisor.domain.evidence.spells import PoolSpells
from nasadvisor.domain.units import DAY_S
from nasadvisor.stored.documents import DocumentError, from_json, to_json

KEPT_S: Final = 7 * DAY_S


def keep_spells(directory: Path, spells: PoolSpells) -> None:
    """In the place of what was kept of the same hour. It is not forced to disk: what is lost is made up for by the
    rest.

    Raises:
        OSError: it cannot be written.
    """
    folder = directory / spells.pool_guid
    path = folder / f"{spells.began}.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for old in _files(folder):
            if int(old.stem) < spells.began - KEPT_S:
                old.unlink(missing_ok=True)
    new = path.with_suffix(".new")
    new.write_text(to_json(spells), encoding="utf-8")
    new.replace(path)


def kept_spells(directory: Path, guid: str, since: int) -> tuple[PoolSpells, ...]:
    """The hours of a pool that ended after a moment; what cannot be read, or be an hour, is left out."""
    found = (each for each in map(_read, _files(directory / guid)) if each and each.is_an_hour)
    return tuple(each for each in found if each.until > since)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.glob("*.json") if path.stem.isdecimal())


def _read(path: Path) -> PoolSpells | None:
    try:
        return from_json(PoolSpells, path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, DocumentError):
        return None
