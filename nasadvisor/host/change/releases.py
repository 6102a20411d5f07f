"""Which releases were installed here and what each writes, so that none gives way to one that could not read it."""

from importlib.resources import files
from pathlib import Path
from typing import Final

from nasadvisor.domain.fleet.schema_versions import Releases, SchemaVersions
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.change.journal import write_whole
from nasadvisor.host.errors import HostError
from nasadvisor.stored.documents import DocumentError, from_json, to_json
from nasadvisor.stored.kinds import own_schema_versions
from nasadvisor.stored.packing import form

FILE_NAME: Final = "releases.json"
MIGRATIONS: Final = files("nasadvisor") / "console" / "migrations"


class CannotGoBack(HostError):  # noqa: N818 - named for what happened
    """The release that shall be installed is too old for what is stored."""

    def __init__(self, release: str, kinds: tuple[str, ...]) -> None:
        template = _(
            "NAS Advisor {release} cannot read the data that later releases have stored on this host ({kinds}), so it "
            "could not undo their runs. Nothing was changed; the installed release stays. To downgrade anyway, undo "
            "the runs that `nasadvisor runs --in-place` lists, keep a copy of /var/lib/nasadvisor, and purge the "
            "package first."
        )
        super().__init__(template, release=release, kinds=", ".join(kinds))


def note_release(state: Path, release: str) -> None:
    """Note that a release is installed from now on, before it writes anything.

    Raises:
        JournalUnwritable: it could not be noted.
    """
    write_whole(state / FILE_NAME, to_json(releases_in(state).with_one(written_by(release))))


def refuse_older(state: Path, release: str) -> None:
    """Refuse a release that could not read what is stored here.

    Raises:
        CannotGoBack
    """
    kinds = releases_in(state).beyond(release)
    if kinds:
        raise CannotGoBack(release, kinds)


def releases_in(state: Path) -> Releases:
    """The releases that were noted; the one that runs alone, where nothing or nothing readable is."""
    try:
        return from_json(Releases, (state / FILE_NAME).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, DocumentError):
        return Releases((written_by(""),))


def written_by(release: str) -> SchemaVersions:
    """What the release that runs writes; the console's database counts by its migrations."""
    ours = own_schema_versions()
    migrations = sum(1 for each in MIGRATIONS.iterdir() if each.name[:1].isdigit())
    return SchemaVersions("", release or ours.release, {**ours.forms, "packed-sample": form(), "database": migrations})
