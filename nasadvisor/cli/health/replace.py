"""`nasadvisor replace`: which disk, whether it may go now, and what to type; nothing is run."""

import json
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

import click

from nasadvisor.cli.errors import Refusal, json_option
from nasadvisor.cli.health.sweep import look
from nasadvisor.cli.services import Services, services_for
from nasadvisor.cli.storage.disks import find_disk
from nasadvisor.cli.tables import command_line, heading, paragraph
from nasadvisor.cli.watching import findings_in
from nasadvisor.domain.health.replacement.advice import Replacement, errors_during, progress_of, replacement_of
from nasadvisor.domain.health.replacement.candidates import Candidate
from nasadvisor.domain.health.replacement.evidence import Survey, survey_of, troubled
from nasadvisor.domain.health.replacement.member import Member, member_with, members_on
from nasadvisor.domain.statements import Statement
from plugins.contract.replacing import PlatformWay
from plugins.replacing import ways_to_replace


@click.command()
@click.argument("disk", required=False)
@json_option
@click.pass_context
def replace(ctx: click.Context, disk: str | None, as_json: bool) -> None:
    """Say how to replace DISK in its pool: which disk, whether it may go now, the commands to type.

    DISK is a name from /dev/disk/by-id, a serial, or the guid of a device as `zpool status -g` shows it. Without one,
    the devices against which something speaks are listed.
    """
    services = services_for(ctx)
    survey = _survey(services)
    chosen = _chosen(survey, disk) if disk else troubled(survey)
    if as_json:
        click.echo(json.dumps([_document(replacement_of(each, survey)) for each in chosen], ensure_ascii=False))
    elif disk:
        platforms = [each.name for each in services.platforms(survey.inventory).platforms]
        for member in chosen:
            _print(replacement_of(member, survey), platforms, datetime.fromisoformat(survey.inventory.read_at))
    else:
        _list(chosen)


def _survey(services: Services) -> Survey:
    found = look(services)
    said = {disk.answer.disk_key: tuple(findings_in(disk.answer, disk.reading)) for disk in found.disks}
    return survey_of(found.inventory, said)


def _chosen(survey: Survey, text: str) -> tuple[Member, ...]:
    """The devices on a disk, or the one with a guid.

    Raises:
        Refusal: the disk is in no pool.
    """
    by_guid = member_with(text, survey.members)
    if by_guid:
        return (by_guid,)
    disk = find_disk(survey.inventory, text)
    found = members_on(disk, survey.members)
    if not found:
        raise Refusal(f"{disk.label} is in no imported pool, so there is nothing to replace. Nothing was changed.")
    return found


def _list(found: tuple[Member, ...]) -> None:
    if not found:
        click.echo("Nothing speaks against any disk of the imported pools.")
        return
    for member in found:
        click.echo(f"{member.pool.name}  {member.top.name}  {_name(member)}  {member.leaf.state}  {member.leaf.guid}")
    paragraph("What to do about one: nasadvisor replace GUID", "")


def _name(member: Member) -> str:
    return member.disk.label if member.disk else member.leaf.name


def _print(found: Replacement, platforms: Collection[str], now: datetime) -> None:
    member = found.member
    click.echo(f"{_name(member)}: {member.top.name} of pool {member.pool.name}, {member.leaf.state}")
    heading("Which disk")
    _sentences((found.verdict, *found.evidence.reasons, *filter(None, (member.doubt,))))
    if member.disk:
        paragraph(f"Serial {member.disk.identity.serial or 'unknown'}, {member.disk.path or 'no persistent name'}")
        if member.disk.slot:
            paragraph(f"Slot {' '.join((member.disk.slot.enclosure, member.disk.slot.name)).strip()}")
    if found.locate:
        click.echo(f"    {found.locate}")
    heading("May it go now")
    _sentences((found.redundancy.said,))
    for hold in found.holds:
        paragraph(str(hold), "  Held back: ")
    _sentences((*found.warnings, *filter(None, (progress_of(member.pool, now),)), *errors_during(member)))
    heading("Free disks")
    _candidates(found.candidates)
    if found.commands:
        heading("What to type, once nothing holds it back" if found.holds else "What to type")
        _commands(found, ways_to_replace(platforms, found))
        _sentences(filter(None, (found.takes,)))
        heading("While it runs, and afterwards")
        _sentences(found.afterwards)
        heading("Do not type")
        _sentences(found.never)
    click.echo()


def _commands(found: Replacement, ways: list[PlatformWay]) -> None:
    for command in () if any(way.is_only for way in ways) else found.commands:
        paragraph(str(command.what))
        click.echo(f"    {command_line(command.argv)}")
    for way in ways:
        paragraph(str(way.said))
        if way.command:
            click.echo(f"    {way.command}")


def _sentences(statements: Iterable[Statement]) -> None:
    for each in statements:
        paragraph(str(each))


def _candidates(found: tuple[Candidate, ...]) -> None:
    if not found:
        paragraph("None is free. Connect one that is at least as large, and read the host again.")
    for each in found:
        why = " ".join(map(str, each.against or each.warnings)) or "It fits."
        paragraph(f"{each.disk.label}: {why}")


def _document(found: Replacement) -> dict[str, Any]:
    """What was found, for other programs."""
    member = found.member
    return {
        "pool": member.pool.name,
        "vdev": member.top.name,
        "guid": member.leaf.guid,
        "state": member.leaf.state,
        "disk": member.disk.key if member.disk else None,
        "identity": member.identity,
        "suspicion": found.evidence.suspicion,
        "reasons": [str(each) for each in found.evidence.reasons],
        "may_lose_now": found.redundancy.now,
        "may_lose_without": found.redundancy.without,
        "held_back": [{"code": each.code, "text": str(each)} for each in found.holds],
        "candidates": [
            {"disk": each.disk.key, "fits": each.fits, "why_not": [str(why) for why in each.against]}
            for each in found.candidates
        ],
        "commands": [command_line(each.argv) for each in found.commands],
        "seconds": found.seconds,
    }
