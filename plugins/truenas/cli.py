"""`nasadvisor-truenas`: the supported way, whole disks by TrueNAS's own API, on the command line."""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

import click

from nasadvisor.cli.errors import Attention, Misuse, Refusal, SentenceGroup
from nasadvisor.cli.services import who
from nasadvisor.cli.tables import heading, paragraph
from nasadvisor.domain.change.refusals import DiskHeld, DiskNotBlank, ErasureNotAgreed
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.storage.inventory import Disk
from nasadvisor.domain.units import size_text
from nasadvisor.host.build import machine_of
from nasadvisor.host.change.journal import JournalUnwritable
from nasadvisor.host.config import load_config, load_environment
from nasadvisor.host.errors import HostError, RulesForbid
from plugins.truenas import SUPPORTS
from plugins.truenas.api.access import access_from
from plugins.truenas.api.connection import Session, Sessions, local_connection, session_with
from plugins.truenas.api.errors import VersionOutside
from plugins.truenas.api.jobs import Desk, Given, JobProgress, Wait, nothing_given, send_mail
from plugins.truenas.api.reading import Picture, read_picture
from plugins.truenas.api.records import Record, Records, RecordState
from plugins.truenas.api.remains import against_saying_gone, remnants
from plugins.truenas.api.taking_back import take_back
from plugins.truenas.api.whole_disks import WholeDisks, add, against, shown
from plugins.truenas.guests import guest_devices
from plugins.truenas.hazards import against_given_away

Result = TypeVar("Result", Record, tuple[Record, tuple[Statement, ...]])

NOTHING_CHANGED: Final = (RulesForbid, VersionOutside, JournalUnwritable)

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})

yes_option = click.option("--yes", is_flag=True, help="Skip the confirmation prompt.")


@dataclass(frozen=True)
class Office:
    """What the commands work with; tests put another one into the context's `obj`. `disks` reads those of this host."""

    sessions: Callable[[], Sessions]
    records: Callable[[], Records]
    disks: Callable[[], tuple[Disk, ...]]
    wait: Wait = time.sleep
    root: Path = Path("/")

    def local_disks(self, session: Session) -> dict[str, Disk]:
        """The disks of this host by kernel name, if it is the TrueNAS that is asked; else none."""
        is_this_host = session.host in LOOPBACK
        return {disk.kernel_name: disk for disk in self.disks()} if is_this_host else {}

    def given(self, session: Session, local: Mapping[str, Disk], agreed: Mapping[str, int]) -> Given:
        """What stands against a disk of the TrueNAS that is asked, known only if it is this very host: the guests that
        have it, and what is on it as `local` has it, of which `agreed` may be erased (see `_unrecognised`).

        Raises:
            HostError: it is this host, but does not say.
        """
        if session.host not in LOOPBACK:
            return nothing_given
        with local_connection(self.root) as connection:
            devices = guest_devices(connection)

        def against(disk: Disk) -> Iterator[Refused]:
            yield from against_given_away(disk, devices, self.root)
            if disk.kernel_name in local:
                yield from _against_contents(local[disk.kernel_name], agreed)

        return against


def _against_contents(disk: Disk, agreed: Mapping[str, int]) -> Iterator[Refused]:
    """What is on a disk that TrueNAS counts as unused: it knows pools and mounts, and does not look for other data."""
    held = tuple(dict.fromkeys(disk.all_holds))
    yield from (DiskHeld(disk, hold) for hold in held)
    if disk.partitions and not held:
        yield DiskNotBlank(disk)
    if disk.unrecognised_at is not None and agreed.get(disk.key) != disk.unrecognised_at:
        yield ErasureNotAgreed(disk, disk.unrecognised_at)


def _sessions() -> Sessions:
    access = access_from(load_environment())
    return lambda: session_with(access)


def _disks() -> tuple[Disk, ...]:
    return machine_of(load_config()).disks.read(())


REAL: Final = Office(_sessions, lambda: Records(load_config().state_dir / "whole-disks"), _disks)


@click.group(cls=SentenceGroup, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Have TrueNAS itself make whole SSDs a log or a cache, and take them out again.

    Exit codes: 0 done, 2 usage, 3 refused and nothing changed, 5 needs attention.
    """


@main.command()
@click.pass_context
def status(ctx: click.Context) -> None:
    """Show the version, the pools and the free disks as TrueNAS tells them. Changes nothing."""
    with _office(ctx).sessions()() as session:
        picture = read_picture(session)
    click.echo(f"TrueNAS {session.version}, API {session.connection.version}")
    if not SUPPORTS.holds(session.version):
        paragraph(str(VersionOutside(session.version)), "  Warning: ")
    heading("Pools")
    for pool in picture.inventory.pools:
        click.echo(f"  {pool.name}  {pool.state}  {len(pool.logs)} log, {len(pool.caches)} cache")
    heading("Disks that TrueNAS counts as unused")
    for disk in picture.inventory.disks:
        if not disk.holds:
            click.echo(f"  {disk.identity.serial}  {disk.label}  {size_text(disk.identity.size_bytes)}")
    heading("Added before")
    records = _office(ctx).records()
    for record in records.all():
        click.echo(f"  {record.id}  {record.at}  {record.pool_name}  {_presence(record, picture)}")
    for damaged in records.damaged():
        paragraph(str(damaged), "  Warning: ")


@main.command("add")
@click.option("--pool", required=True, metavar="POOL", help="The pool's name.")
@click.option("--log", multiple=True, metavar="SERIAL", help="An SSD for the log; give it twice for a mirror.")
@click.option("--cache", multiple=True, metavar="SERIAL", help="An SSD for the cache; several are striped.")
@click.option("--erase-unrecognised", is_flag=True, help="Agree to erase unrecognised data on these SSDs.")
@yes_option
@click.pass_context
def add_disks(
    ctx: click.Context, pool: str, log: tuple[str, ...], cache: tuple[str, ...], erase_unrecognised: bool, yes: bool
) -> None:
    """Make whole SSDs a log or a cache. Everything on them is erased."""
    office = _office(ctx)
    with office.sessions()() as session:
        session.must_allow_adding()
        picture = read_picture(session)
        wish = WholeDisks(
            pool, tuple(_named(each, picture) for each in log), tuple(_named(each, picture) for each in cache)
        )
        local = office.local_disks(session)
        holding = _unrecognised(wish, picture, local)
        agreed = {disk.key: at for disk, at in holding}
        refusals: tuple[Refused, ...] = tuple(against(wish, picture, office.given(session, local, agreed)))
    if refusals:
        raise Refusal("\n".join(map(str, refusals)))
    for disk, at in () if erase_unrecognised else holding:
        told = f"{disk.label} holds data that no tool here recognises, first at byte {at}."
        if yes:
            raise Refusal(f"{told}\nNothing was changed. If it is not needed, add --erase-unrecognised.")
        click.echo(told, err=True)
        _ask("Erase it?")
    click.echo(f"TrueNAS will do this; everything on the SSDs is erased:\n  {shown(wish, picture)}", err=True)
    if not yes:
        _ask(f"Add them to pool {pool}?")
    record_id = str(uuid.uuid4())
    record = _attended(record_id, lambda: add(wish, record_id, _desk(office, agreed)))
    click.echo(f"Added. To undo it: nasadvisor-truenas undo {record.id}")


@main.command()
@click.argument("record_id", metavar="RECORD")
@yes_option
@click.pass_context
def undo(ctx: click.Context, record_id: str, yes: bool) -> None:
    """Take out what `add` added. TrueNAS wipes the SSDs afterwards."""
    office = _office(ctx)
    record = office.records().read(record_id)
    if not yes:
        with office.sessions()() as session:
            warning = session.warning_with_undo
        if warning:
            click.echo(f"  Warning: {warning}", err=True)
        _ask(f"Remove it from pool {record.pool_name}? TrueNAS wipes the SSDs {', '.join(record.disks)} afterwards.")
    _, notes = _attended(record_id, lambda: take_back(record, _desk(office)))
    for note in notes:
        paragraph(str(note), "  Warning: ")
    click.echo("Undone.")


@main.command()
@click.pass_context
def mail(ctx: click.Context) -> None:
    """Have TrueNAS send its administrators a test message."""
    text = "This is a test message of NAS Advisor. If you can read it, alerts reach you this way."
    send_mail(_office(ctx).sessions(), "NAS Advisor: test message", text)
    click.echo("TrueNAS accepted the message.")


def _presence(record: Record, picture: Picture) -> str:
    """What is there of it now, whatever the record says."""
    if remnants(record, picture):
        return "in the pool"
    doubts = tuple(against_saying_gone(record, picture))
    if doubts:
        return f"not known: {doubts[0]}"
    return "undone" if record.state is RecordState.TAKEN_BACK else "no longer in the pool; undo closes it"


def _attended(record_id: str, work: Callable[[], Result]) -> Result:
    """What may be half done is said so, with the way on."""
    try:
        return work()
    except NOTHING_CHANGED as error:
        raise Refusal(str(error)) from error
    except HostError as error:
        way = f"To undo its effects: nasadvisor-truenas undo {record_id}"
        raise Attention(f"{error}\n{way}") from error


def _unrecognised(wish: WholeDisks, picture: Picture, local: Mapping[str, Disk]) -> tuple[tuple[Disk, int], ...]:
    """The chosen disks that hold data which nobody recognises, as this host reads them, and where these begin."""
    chosen = (picture.disk_named(name) for name in dict.fromkeys((*wish.log_disks, *wish.cache_disks)))
    found = (local[disk.kernel_name] for disk in chosen if disk and disk.kernel_name in local)
    return tuple((disk, disk.unrecognised_at) for disk in found if disk.unrecognised_at is not None)


def _named(text: str, picture: Picture) -> str:
    """TrueNAS's identifier of the disk with this serial or identifier."""
    found = [disk for disk in picture.inventory.disks if text in (disk.identity.serial, picture.names[disk.key])]
    if len(found) != 1:
        raise Misuse(
            f"{len(found) or 'No'} disk(s) here have the serial {text}. `nasadvisor-truenas status` shows them."
        )
    disk: Disk = found[0]
    return picture.names[disk.key]


def _desk(office: Office, agreed: Mapping[str, int] = MappingProxyType({})) -> Desk:
    def given(session: Session) -> Given:
        return office.given(session, office.local_disks(session), agreed)

    return Desk(office.sessions(), office.records(), _tell, who(), office.wait, given)


def _tell(progress: JobProgress) -> None:
    click.echo(f"  {progress.percent:>3} %  {progress.description or progress.state}", err=True)


def _ask(question: str) -> None:
    if not click.confirm(question, err=True):
        raise Refusal("Nothing was changed.")


def _office(ctx: click.Context) -> Office:
    return ctx.obj if isinstance(ctx.obj, Office) else REAL
