"""What we would choose ourselves: which SSDs, for what and how large; and why nothing, or not the others.

`propose` is what the wizard ticks and what `nasadvisor plan --recommended` plans. Only what the evidence says helps is
proposed, at the recommended size, and nothing that `make_plan` refuses or `warnings_for` warns of. The one exception is
the second side of a single log: attaching it resilvers the pool, which is said with it and is better than no mirror.

Evidence and health are rooms above this one, so what they say comes as plain values. An inventory does not tell to
which controller or in which enclosure a disk is attached, so the sides of a mirror cannot be kept apart by that.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from nasadvisor.domain.change.checks import can_use_disk, physical
from nasadvisor.domain.change.plan import PlanIds, PlanRefused, PlanRequest, make_plan, room_on
from nasadvisor.domain.change.targets import can_be_target
from nasadvisor.domain.change.warnings import HEADER_MEMORY_PERCENT, warnings_for, warnings_for_target
from nasadvisor.domain.statements import Allowed, Level, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Bus, Disk, Host, Inventory, Pool, Vdev
from nasadvisor.domain.storage.logs import find_log_side, log_mirror_of, new_side_bytes
from nasadvisor.domain.storage.sizing import L2ARC_HEADER_BYTES, TYPICAL_BLOCK_BYTES
from nasadvisor.domain.units import GIB, MIB, align_down, align_up

USUAL_RESERVE_PERCENT: Final = 10
"""Of each SSD, unless somebody says otherwise (see the warning "no-reserve")."""

WORN_PERCENT: Final = 80
"""[policy] From here on an SSD is not proposed: a log or a cache is to last for years, and alerts begin at 90 %."""

MOST_CACHE_SSDS: Final = 2
"""[policy] A cache of the recommended size is read fast enough from two; each further one only wears with it."""

NOT_PROPOSED: Final = "not-proposed"
NOT_NEEDED: Final = "not-needed"
"""Codes of what is said of SSDs that are left out: something speaks against them, or others fit better."""

_PROTECTION_ORDER: Final = {"confirmed": 0, "likely": 1, "unlikely": 3}
"""Power-loss protection, the surest first; what is not known stands between "likely" and "unlikely"."""

_UNKNOWN_PROTECTION: Final = 2
_UNKNOWN_WEAR: Final = float(WORN_PERCENT)
_SAID_WITH_IT: Final = frozenset({"attach-resilvers"})

_TRIAL_UUID: Final = "6e617361-6476-4973-8f72-{number:012d}"
"""Identifiers of the plan by which a proposal is tried; that plan is thrown away."""


@dataclass(frozen=True)
class SsdHealth:
    """How an SSD is: what speaks against it if anything does, its used endurance in percent, None where unknown, and
    how sure its power-loss protection is ("confirmed", "likely", "unlikely", else unknown).
    """

    problem: Statement | None = None
    percent_used: float | None = None
    power_loss: str = ""


@dataclass(frozen=True)
class Want:
    """What the evidence says about a log or a cache: whether it helps and how large it should be (all caches
    together), in bytes; `because` is the sentence that decided.
    """

    helps: bool
    size_bytes: int
    because: Statement


@dataclass(frozen=True)
class Wanted:
    """The evidence for one pool."""

    log: Want
    cache: Want


@dataclass(frozen=True)
class ProposalFacts:
    """All that a proposal goes by. `health` and `vetoes` (what a platform has against a disk) are by the disk's key."""

    inventory: Inventory
    pool: Pool
    wanted: Wanted
    health: Mapping[str, SsdHealth] = field(default_factory=dict)
    vetoes: Mapping[str, Statement] = field(default_factory=dict)


@dataclass(frozen=True)
class Proposal:
    """What is proposed, None for nothing. `no_log` and `no_cache` say why not; `left_out`, by key, why not an SSD."""

    request: PlanRequest | None
    no_log: Statement | None
    no_cache: Statement | None
    left_out: Mapping[str, Statement]


def is_free_ssd(disk: Disk) -> bool:
    """Whether a disk is an SSD inside the machine with nothing on it, be it recognised or not."""
    is_inside = not disk.removable and not disk.network and disk.bus not in (Bus.USB, Bus.MMC)
    return is_inside and not disk.rotational and disk.is_blank and isinstance(can_use_disk(disk), Allowed)


def propose(known: ProposalFacts) -> Proposal:
    """What we would add to a pool. A single log gets a second side, and never a second log beside it."""
    fit, unfit = _sorted_out(known)
    return _with_cache(known, fit, unfit, _log_for(known, fit))


def propose_side(known: ProposalFacts, attach_to: str, replaces: str = "") -> Proposal:
    """What we would give a log as its new side, whatever the evidence says; see `PlanRequest` for the guids.

    Nothing else is proposed beside a replacement.
    """
    fit, unfit = _sorted_out(known)
    log = _side_for(known, fit, attach_to, replaces)
    if not replaces:
        return _with_cache(known, fit, unfit, log)
    request, no_log = (log, None) if isinstance(log, PlanRequest) else (None, log)
    return Proposal(request, no_log, None, _left_out(fit, unfit, request))


def propose_instead(known: ProposalFacts, dead_log: str) -> Proposal:
    """What we would put in the place of a dead log, whatever the evidence says; nothing else is proposed beside it."""
    fit, unfit = _sorted_out(known)
    log = _pair_for(known, fit, dead_log)
    request, no_log = (log, None) if isinstance(log, PlanRequest) else (None, log)
    return Proposal(request, no_log, None, _left_out(fit, unfit, request))


def _sorted_out(known: ProposalFacts) -> tuple[tuple[Disk, ...], dict[str, Statement]]:
    """The free SSDs that are fit, the best first, and why the others are not."""
    fit: list[Disk] = []
    unfit: dict[str, Statement] = {}
    for disk in known.inventory.disks:
        is_whole_ssd = not disk.rotational and not disk.partitions and known.inventory.disk(disk.key) is disk
        if not is_whole_ssd or not isinstance(can_be_target(disk, known.pool, known.inventory.host), Allowed):
            continue
        reason = next(_against(disk, known), None)
        if reason:
            unfit[disk.key] = _not_proposed(reason)
        else:
            fit.append(disk)
    return tuple(sorted(fit, key=lambda disk: _rank(disk, known))), unfit


def _against(disk: Disk, known: ProposalFacts) -> Iterator[Statement]:
    """What speaks against proposing a disk that may be used."""
    health = known.health.get(disk.key, SsdHealth())
    if disk.key in known.vetoes:
        yield known.vetoes[disk.key]
    if health.problem:
        yield health.problem.plain
    if health.percent_used is not None and health.percent_used >= WORN_PERCENT:
        yield Statement(
            "worn-for-proposal",
            _("{disk} has used {percent} % of its rated endurance; SSDs at {limit} % or more are not proposed."),
            {"disk": disk.label, "percent": f"{health.percent_used:.0f}", "limit": str(WORN_PERCENT)},
        )
    yield from (warning.plain for warning in warnings_for_target(disk, known.pool))


def _not_proposed(reason: Statement, code: str = NOT_PROPOSED) -> Statement:
    return Statement(code, _("Not proposed: {reason}"), {"reason": reason})


def _rank(disk: Disk, known: ProposalFacts) -> tuple[int, float]:
    """Power-loss protection before wear; the lower the better."""
    health = known.health.get(disk.key, SsdHealth())
    wear = _UNKNOWN_WEAR if health.percent_used is None else health.percent_used
    return _PROTECTION_ORDER.get(health.power_loss, _UNKNOWN_PROTECTION), wear


def _log_for(known: ProposalFacts, fit: tuple[Disk, ...]) -> PlanRequest | Statement:
    pool, want = known.pool, known.wanted.log
    single = single_log_of(pool)
    if single:
        return _side_for(known, fit, single.guid, "") if want.helps else want.because
    if pool.logs:
        return Statement("has-log", _("Pool {pool} already has a log."), {"pool": pool.name})
    if not want.helps:
        return want.because
    return _pair_for(known, fit)


def _pair_for(known: ProposalFacts, fit: tuple[Disk, ...], dead_log: str = "") -> PlanRequest | Statement:
    """The two SSDs for a mirrored log, in the place of a dead one if there is one."""
    pool, want, host = known.pool, known.wanted.log, known.inventory.host
    roomy = [disk for disk in fit if room_on(disk, host, USUAL_RESERVE_PERCENT).size_bytes >= want.size_bytes]
    protected = [disk for disk in roomy if known.health.get(disk.key, SsdHealth()).power_loss != "unlikely"]
    pair = _pair(protected, known) or _pair(roomy, known)
    if pair is None and dead_log:
        return Statement(
            "no-pair-instead",
            _("The new log needs two suitable free SSDs for a mirror; found: {count}."),
            {"count": str(len(_distinct(roomy)))},
        )
    if pair is None:
        return Statement(
            "no-pair-for-log",
            _("A log would help, but its mirror needs two suitable free SSDs; found: {count}."),
            {"count": str(len(_distinct(roomy)))},
        )
    keys = tuple(disk.key for disk in pair)
    request = PlanRequest(pool.guid, keys, want.size_bytes, reserve_percent=USUAL_RESERVE_PERCENT, dead_log=dead_log)
    return _tried(request, known)


def single_log_of(pool: Pool) -> Vdev | None:
    """The log of a pool whose only log vdev is one device."""
    return pool.logs[0] if len(pool.logs) == 1 and not pool.logs[0].children else None


def _side_for(known: ProposalFacts, fit: tuple[Disk, ...], attach_to: str, replaces: str) -> PlanRequest | Statement:
    """The SSD for a new side: one like the SSD of the side that stays, if there is any."""
    inventory, pool = known.inventory, known.pool
    size_bytes = new_side_bytes(pool, attach_to, replaces, inventory)
    top = log_mirror_of(pool, attach_to) or find_log_side(pool, attach_to)
    places = (inventory.place_of(leaf) for leaf in top.leaves()) if top else ()
    partners = tuple(place[0] for place in places if place)
    taken = {physical(disk) for disk in partners}
    kinds = {_kind(disk) for disk in partners}
    roomy = [
        disk
        for disk in fit
        if physical(disk) not in taken and room_on(disk, inventory.host, USUAL_RESERVE_PERCENT).size_bytes >= size_bytes
    ]
    best = min(roomy, key=lambda disk: (_kind(disk) not in kinds, _rank(disk, known)), default=None)
    if best is None:
        return Statement("no-side-for-log", _("No free SSD is suitable as the other side of the log."))
    request = PlanRequest(
        pool.guid, (best.key,), reserve_percent=USUAL_RESERVE_PERCENT, attach_to=attach_to, replaces=replaces
    )
    return _tried(request, known)


def _pair(disks: Iterable[Disk], known: ProposalFacts) -> tuple[Disk, Disk] | None:
    """The two for a mirror: of one model on one bus if there are such, else on one bus, else any; the best of those.

    `disks` are ordered, the best first.
    """
    found = _distinct(disks)
    for likeness in (_kind, lambda disk: disk.bus, lambda _: None):
        alike: dict[object, list[Disk]] = {}
        for disk in found:
            alike.setdefault(likeness(disk), []).append(disk)
        pairs = [(group[0], group[1]) for group in alike.values() if len(group) > 1]
        if pairs:
            return min(pairs, key=lambda pair: max(_rank(disk, known) for disk in pair))
    return None


def _distinct(disks: Iterable[Disk]) -> list[Disk]:
    """The first namespace of each piece of hardware."""
    found: dict[str, Disk] = {}
    for disk in disks:
        found.setdefault(physical(disk), disk)
    return list(found.values())


def _kind(disk: Disk) -> tuple[str, Bus]:
    return disk.identity.model, disk.bus


def _with_cache(
    known: ProposalFacts, fit: tuple[Disk, ...], unfit: Mapping[str, Statement], log: PlanRequest | Statement
) -> Proposal:
    without = log if isinstance(log, PlanRequest) else None
    cache = _cache_for(known, fit, without or PlanRequest(known.pool.guid, reserve_percent=USUAL_RESERVE_PERCENT))
    request = cache if isinstance(cache, PlanRequest) else without
    return Proposal(
        request=request,
        no_log=None if isinstance(log, PlanRequest) else log,
        no_cache=None if isinstance(cache, PlanRequest) else cache,
        left_out=_left_out(fit, unfit, request),
    )


def _cache_for(known: ProposalFacts, fit: tuple[Disk, ...], request: PlanRequest) -> PlanRequest | Statement:
    """The wish with a cache too: on SSDs that carry no log if there are any, for its writes slow the log's."""
    pool, want = known.pool, known.wanted.cache
    if pool.caches:
        return Statement("has-cache", _("Pool {pool} already has a cache."), {"pool": pool.name})
    if not want.helps:
        return want.because
    taken = {physical(disk) for disk in fit if disk.key in request.log_disks}
    others = [disk for disk in fit if physical(disk) not in taken] or list(fit)
    if not others:
        return Statement("no-ssd-for-cache", _("A cache would help, but no free SSD is suitable for it."))
    alike = _distinct(disk for disk in others if _kind(disk) == _kind(others[0]))
    wish = replace(request, cache_disks=tuple(disk.key for disk in alike[:MOST_CACHE_SSDS]))
    return _tried(replace(wish, cache_size_bytes=cache_bytes_each(known.inventory, wish, want.size_bytes)), known)


def _tried(request: PlanRequest, known: ProposalFacts) -> PlanRequest | Statement:
    """The wish if a plan can be made of it that nobody is warned of, else what stands against it."""
    uuids = (_TRIAL_UUID.format(number=number) for number in range(PlanIds.uuids_needed(request)))
    plan = make_plan(request, known.inventory, PlanIds("proposal", known.inventory.read_at, tuple(uuids)))
    if isinstance(plan, PlanRefused):
        return plan.refusals[0].plain
    protection = {key: health.power_loss for key, health in known.health.items()}
    told = (each for each in warnings_for(plan, known.inventory, protection) if each.code not in _SAID_WITH_IT)
    return next((finding.plain for finding in told if finding.level is not Level.INFO), request)


def _left_out(
    fit: tuple[Disk, ...], unfit: Mapping[str, Statement], request: PlanRequest | None
) -> Mapping[str, Statement]:
    """Why free SSDs are not proposed; where nothing is, nothing has to be said of those that are fit."""
    if request is None:
        return unfit
    better = Statement("others-fit-better", _("The proposed SSDs are a better fit or are enough."))
    not_needed = _not_proposed(better, NOT_NEEDED)
    return {**unfit, **{disk.key: not_needed for disk in fit if disk.key not in request.disks}}


def cache_bytes_each(inventory: Inventory, request: PlanRequest, total_bytes: int) -> int | None:
    """How large each cache of a wish should be, so that all together have no more than this, fit, and are not worth a
    warning for their headers' memory: whole GiB, below that whole MiB; None for as much as fits, where that is no more.
    """
    total_bytes = min(total_bytes, largest_quiet_cache_bytes(inventory.host))
    rooms = []  # what the log leaves on each of the disks, without the reserve
    for disk in filter(None, map(inventory.disk, request.cache_disks)):
        room_bytes = room_on(disk, inventory.host, request.reserve_percent).size_bytes
        rooms.append(room_bytes - (_log_bytes(inventory, request) if disk.key in request.log_disks else 0))
    share_bytes = total_bytes // max(len(request.cache_disks), 1)
    if max(rooms, default=0) <= share_bytes:
        return None
    size_bytes = max(min(share_bytes, *rooms), 0)
    return align_down(size_bytes, GIB if size_bytes >= GIB else MIB)


def largest_quiet_cache_bytes(host: Host) -> int:
    """The largest cache whose headers are not worth the warning "cache-headers-large"."""
    return host.memory_bytes * HEADER_MEMORY_PERCENT // 100 * TYPICAL_BLOCK_BYTES // L2ARC_HEADER_BYTES


def _log_bytes(inventory: Inventory, request: PlanRequest) -> int:
    """How much the log takes of each of its disks."""
    pool = inventory.pool(request.pool_guid)
    if pool is None or not request.attach_to:
        return align_up(request.log_size_bytes)
    return align_up(new_side_bytes(pool, request.attach_to, request.replaces, inventory))
