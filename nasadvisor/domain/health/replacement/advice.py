"""All that there is to say about replacing one device of a pool, put together."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from nasadvisor.domain.figures import duration
from nasadvisor.domain.health.replacement.candidates import Candidate, candidates, needed_bytes
from nasadvisor.domain.health.replacement.commands import Command, commands_for
from nasadvisor.domain.health.replacement.evidence import DiskEvidence, Survey, Suspicion, evidence_against
from nasadvisor.domain.health.replacement.may_now import DATA, Redundancy, holds, redundancy_of, warnings
from nasadvisor.domain.health.replacement.member import Member
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory, Pool
from nasadvisor.domain.units import size_text

FASTEST_S: Final = 1.0
SLOWEST_S: Final = 3.0
"""[policy] A resilver reads as a scrub does, writes to one disk, and yields to programs: from as long as the last
scrub took for these bytes to three times that."""

HARD_DISK_BYTES_S: Final = (40e6, 180e6)
SSD_BYTES_S: Final = (150e6, 1000e6)
"""[policy] What is written to a new disk a second, where no scrub is on record: with small blocks, and with large."""


@dataclass(frozen=True)
class Replacement:
    """The answers to which disk, whether now, and how. `holds` is what stands in the way; `seconds` how long it takes
    at least and at most, None where that cannot be estimated.
    """

    member: Member
    evidence: DiskEvidence
    redundancy: Redundancy
    holds: tuple[Refused, ...]
    warnings: tuple[Statement, ...]
    candidates: tuple[Candidate, ...]
    commands: tuple[Command, ...]
    seconds: tuple[float, float] | None
    bytes_to_fill: int

    @property
    def best(self) -> Candidate | None:
        """The free disk that fits best."""
        return _best(self.candidates)

    @property
    def verdict(self) -> Statement:
        """In one sentence."""
        code, template = _VERDICTS[self.evidence.suspicion]
        return Statement(code, template)

    @property
    def locate(self) -> str:
        """The command that makes the light of its slot blink; "" where the host tells of no slot."""
        disk = self.member.disk
        return f"ledctl locate={disk.path}" if disk and disk.slot and disk.path else ""

    @property
    def takes(self) -> Statement | None:
        """How long the new disk takes to be filled."""
        if self.seconds is None:
            return None
        low, high = self.seconds
        values = {"size": size_text(self.bytes_to_fill), "low": duration(low), "high": duration(high)}
        return Statement("replace-takes", _("Filling the new disk ({size}) takes about {low} to {high}."), values)

    @property
    def never(self) -> tuple[Statement, ...]:
        """What must not be typed instead."""
        values = {"pool": self.member.pool.name}
        return tuple(Statement(code, template, values) for code, template in _NEVER)

    @property
    def afterwards(self) -> tuple[Statement, ...]:
        """What is left to do once the resilver has ended."""
        part = self.member.partition or self.member.disk
        values = {"path": part.path if part else "", "pool": self.member.pool.name}
        found = [Statement(code, template, values) for code, template in _AFTERWARDS]
        if part and part.path:
            found.append(Statement("replace-label", _LABEL, values))
        return tuple(found)


_VERDICTS: Final = {
    Suspicion.HEALTHY: ("replace-healthy", _("Nothing speaks against this disk. There is no reason to replace it.")),
    Suspicion.OFFLINE: ("replace-was-offline", _("Someone took this disk offline; nothing else speaks against it.")),
    Suspicion.CABLE: (
        "replace-suspect-cable",
        _("This looks like a cable, backplane or power fault: check those first."),
    ),
    Suspicion.LIKELY: ("replace-likely", _("This disk is probably failing.")),
    Suspicion.SURE: ("replace-sure", _("This disk has failed or is failing.")),
}

_NEVER: Final = (
    (
        "never-add",
        _(
            "`zpool add` makes the disk a further vdev of {pool} instead of replacing one. In a pool with raidz, that "
            "can never be undone."
        ),
    ),
    (
        "never-force",
        _("The option -f overrides exactly the checks that protect you: a disk in use, or one that is too small."),
    ),
    (
        "never-kernel-name",
        _("Names like sdb change at the next start, and when a disk fails. Use the guid and /dev/disk/by-id only."),
    ),
)

_AFTERWARDS: Final = (
    (
        "replace-watch",
        _(
            "`zpool status {pool}` shows the resilver and new errors. It is finished when it reports 0 errors and the "
            "old disk is no longer listed; leave the old disk connected until then."
        ),
    ),
    (
        "replace-half-way",
        _(
            "If the new disk fails during the resilver, `zpool detach {pool} GUID` with the guid of the new disk ends "
            "the replacement. If the old one fails, wait: the others fill the new disk alone."
        ),
    ),
)
_LABEL: Final = _(
    "The old disk can keep the label of the pool: `zpool labelclear {path}` removes it once the disk is no longer "
    "part of the pool. Its data stays readable: erase the disk before you give it away."
)


def replacement_of(member: Member, survey: Survey) -> Replacement:
    """Everything about this device. Only the device that is asked about is ever named in a command."""
    evidence = evidence_against(member, survey)
    choices = candidates(member, survey)
    fill = _bytes_on(member, survey.inventory) if member.vdev_class in DATA else 0
    best = _best(choices)
    return Replacement(
        member,
        evidence,
        redundancy_of(member),
        holds(member, evidence, survey),
        tuple(warnings(member, survey)),
        choices,
        commands_for(member, evidence, best),
        _seconds(member, fill, best),
        fill,
    )


def progress_of(pool: Pool, now: datetime) -> Statement | None:
    """How far a resilver is, and how long it still takes at its speed so far; None where none tells."""
    told = pool.scan_progress
    if pool.scan != "resilver" or told is None:
        return None
    passed = (now - datetime.fromisoformat(told.began_at)).total_seconds()
    share = min(told.done_bytes / told.all_bytes, 1)
    values = {"percent": f"{share * 100:.0f}", "done": size_text(told.done_bytes), "all": size_text(told.all_bytes)}
    if share <= 0 or passed <= 0:
        return Statement("resilver-began", _("The resilver has begun: {percent} % of {all}."), values)
    values["left"] = duration(passed / share - passed)
    template = _("Resilver: {percent} % ({done} of {all}), about {left} left at its speed so far.")
    return Statement("resilver-progress", template, values)


def errors_during(member: Member) -> Iterator[Statement]:
    """Errors of the other devices of its vdev: what a resilver must not meet."""
    for leaf in member.top.leaves():
        if leaf.guid != member.leaf.guid and leaf.errors:
            values = {"name": leaf.name, "count": str(leaf.errors)}
            yield Statement("resilver-errors", _("{name} beside it has had {count} error(s)."), values)


def _best(choices: tuple[Candidate, ...]) -> Candidate | None:
    return next((each for each in choices if each.fits), None)


def _bytes_on(member: Member, inventory: Inventory) -> int:
    """What has to be written to the new disk: the share of the device that is in use."""
    pool = member.pool
    special = member.top in pool.specials and pool.special_size_bytes
    size = pool.special_size_bytes if special else pool.size_bytes
    used = pool.special_allocated_bytes if special else pool.allocated_bytes
    return int(needed_bytes(member, inventory) * used / size) if size else 0


def _seconds(member: Member, fill: int, best: Candidate | None) -> tuple[float, float] | None:
    """From the last scrub of the pool: it read every device at once, this one's share in the same time."""
    if not fill:
        return None
    scan, pool = member.pool.last_scan, member.pool
    if scan and scan.seconds > 0 and scan.read_bytes > 0:
        whole = scan.seconds * pool.allocated_bytes / scan.read_bytes
        return whole * FASTEST_S, whole * SLOWEST_S
    new = best.disk if best else member.disk
    slow, fast = HARD_DISK_BYTES_S if new is None or new.rotational else SSD_BYTES_S
    return fill / fast, fill / slow
