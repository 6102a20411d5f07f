"""The commands that replace a device, in the order in which they are typed; nothing here is ever run by NAS Advisor.

The old device is named by its guid, the new one by its name in /dev/disk/by-id, and nothing is forced.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.change.actions import Argv
from nasadvisor.domain.health.replacement.candidates import Candidate, ashift_of
from nasadvisor.domain.health.replacement.evidence import DiskEvidence, Suspicion
from nasadvisor.domain.health.replacement.may_now import DATA, redundancy_of
from nasadvisor.domain.health.replacement.member import WORKS, Member
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.storage.logs import OFFLINE, is_dead

NEW: Final = "/dev/disk/by-id/NEW"
"""Stands for a disk that the host does not show yet."""


@dataclass(frozen=True)
class Command:
    """A command to type, and what it does."""

    argv: Argv
    what: Statement


def commands_for(member: Member, evidence: DiskEvidence, best: Candidate | None) -> tuple[Command, ...]:
    """What to type; nothing where the state of the pool leaves no command that is right."""
    new = best.disk.path if best else NEW
    match member.vdev_class:
        case VdevClass.SPARE:
            return tuple(_spare(member, new))
        case VdevClass.CACHE:
            return (_cache(member),)
        case VdevClass.LOG:
            return tuple(_log(member, new))
        case _:
            return tuple(_data(member, evidence, best, new)) if member.vdev_class in DATA else ()


def _data(member: Member, evidence: DiskEvidence, best: Candidate | None, new: str) -> Iterator[Command]:
    if member.part.kind == "replacing" or _is_lost(member):
        return
    came_back = member.disk and member.leaf.state in ("REMOVED", "UNAVAIL", OFFLINE)
    if came_back and evidence.suspicion not in (Suspicion.SURE, Suspicion.CABLE):
        template = _("If it was only unplugged or taken offline: puts it back; what it missed is written to it.")
        yield _on(member, "online", "replace-online", template)
    if member.works and best is None and redundancy_of(member).without >= 0:
        template = _("If there is no slot for both disks: takes the old one out of use, so that it can be pulled.")
        yield _on(member, "offline", "replace-offline", template)
    ashift = ashift_of(member)
    option = ("-o", f"ashift={ashift}") if ashift else ()
    template = _("Fills the new disk and then drops the old one from the pool. It returns at once; the resilver runs.")
    argv = ("zpool", "replace", *option, member.pool.name, member.leaf.guid, new)
    yield Command(argv, Statement("replace-replace", template))
    if best is None and _spare_is_filled(member):
        template = _("Or, without a new disk: keeps the spare in its place permanently.")
        yield _on(member, "detach", "replace-keep-spare", template)


def _is_lost(member: Member) -> bool:
    """Whether nothing is left from which a new disk could be filled."""
    return not member.works and redundancy_of(member).now < 0


def _spare_is_filled(member: Member) -> bool:
    """Whether a spare, other than one that dRAID has built in, works in the place of a device that does not."""
    part = member.part
    spares = [leaf for leaf in part.leaves() if leaf.guid != member.leaf.guid] if part.kind == "spare" else []
    is_own = part.children and part.children[0].guid == member.leaf.guid
    distributed = any(leaf.kind == "dspare" or leaf.name.startswith("draid") for leaf in spares)
    works = any(leaf.state in WORKS for leaf in spares)
    return bool(is_own) and works and not distributed and not member.works and not member.pool.scan


def _spare(member: Member, new: str) -> Iterator[Command]:
    if member.leaf.state == "INUSE":
        return
    yield _on(member, "remove", "replace-spare-out", _("Takes the spare out of the pool; it holds nothing."))
    template = _("Makes the new disk a spare. The word spare is essential: without it, the disk becomes data.")
    yield Command(("zpool", "add", member.pool.name, "spare", new), Statement("replace-spare-in", template))


def _cache(member: Member) -> Command:
    template = _("Takes the cache out; it holds only copies. Add a new one with “Add log or cache”.")
    return _on(member, "remove", "replace-cache-out", template)


def _log(member: Member, new: str) -> Iterator[Command]:
    pool, top = member.pool, member.top
    options: tuple[str, ...]
    if is_dead(top):
        template = _("Makes a plan that removes the failed log and adds a new one. Nothing is changed yet.")
        options = ("--replace-dead-log", top.guid, "--log", new, "--log-size", "4G")
    elif not member.works and member.leaf.state != OFFLINE and top.children:
        template = _("Makes a plan that replaces the failed side of the log. Nothing is changed yet.")
        options = ("--replace-log-side", member.leaf.guid, "--log", new)
    else:
        return
    yield Command(("nasadvisor", "plan", "--pool", pool.name, *options), Statement("replace-log", template))


def _on(member: Member, verb: str, code: str, template: str) -> Command:
    return Command(("zpool", verb, member.pool.name, member.leaf.guid), Statement(code, template))
