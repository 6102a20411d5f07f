"""What somebody should know before a plan is applied, although nothing forbids it."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from nasadvisor.domain.change.actions import AddCache, AddLog, AttachLog, Role
from nasadvisor.domain.change.checks import ASHIFTS
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.statements import RANK, Finding, Level, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage import releases
from nasadvisor.domain.storage.inventory import Bus, Disk, Host, Inventory, Pool
from nasadvisor.domain.storage.logs import dead_log, was_missing_at_import, without_logs
from nasadvisor.domain.storage.sizing import header_memory
from nasadvisor.domain.units import size_text

HEADER_MEMORY_PERCENT: Final = 5
"""Headers of more than this share of the memory are worth a warning: they cannot be given back under pressure, and
memory serves reads better than any cache device (openzfs-docs, "Hardware", L2ARC)."""

SCANS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "scrub": _("a scrub"),
        "resilver": _("a resilver"),
        "errorscrub": _("a scrub of known errors"),
        "removal": _("a device removal"),
        "expansion": _("a RAID-Z expansion"),
    }
)
OTHER_SCAN: Final = _("a scan")

_NOTHING_KNOWN: Final[Mapping[str, str]] = MappingProxyType({})
_ANSWERED: Final = frozenset({"confirmed", "likely", "unlikely"})


def warnings_for(
    plan: Plan, inventory: Inventory, protection: Mapping[str, str] = _NOTHING_KNOWN
) -> tuple[Finding, ...]:
    """Everything worth knowing, the most important first.

    `protection` is how sure the power-loss protection of disks is ("confirmed", "likely", "unlikely", else unknown), by
    their keys, as far as somebody has asked them.
    """
    pool = inventory.pool(plan.request.pool_guid)
    if pool is None:
        return ()
    findings = [*_about_log(plan, without_logs(pool, plan.request.dead_log)), *_about_pool(plan, pool)]
    findings.extend((*_about_dead_log(plan, pool, inventory.host), *_about_cache(plan, inventory.host)))
    findings.extend(_about_power_loss(plan, inventory, protection))
    for key in plan.request.disks:
        disk = inventory.disk(key)
        if disk:
            findings.extend(warnings_for_target(disk, pool))
    findings.extend(_about_slices(plan))
    return tuple(sorted(findings, key=lambda finding: -RANK[finding.level]))


def warnings_for_disk(disk: Disk) -> tuple[Finding, ...]:
    """What speaks against a disk as a target, whatever is planned on it."""
    return tuple(_about_disk(disk))


def warnings_for_target(disk: Disk, pool: Pool) -> Iterator[Finding]:
    """What speaks against a disk as a target for this pool."""
    yield from _about_disk(disk)
    if pool.ashift in ASHIFTS and disk.identity.physical_sector_bytes > 1 << pool.ashift:
        yield Finding(
            "physical-sector-larger",
            _(
                "{disk} works in units of {sector} bytes, but pool {pool} writes units of {unit} (ashift {ashift}). "
                "Small writes make the SSD read and rewrite a whole unit: slower, and with more wear."
            ),
            {
                "disk": disk.label,
                "pool": pool.name,
                "sector": str(disk.identity.physical_sector_bytes),
                "unit": str(1 << pool.ashift),
                "ashift": str(pool.ashift),
            },
            Level.WARNING,
            explanation=_(
                "NAS Advisor gives a new device the ashift of the existing vdevs. An SSD that works in smaller units "
                "wears less as a log of this pool."
            ),
        )


def _about_log(plan: Plan, pool: Pool) -> Iterator[Finding]:
    for action in plan.actions:
        if isinstance(action, AddLog) and not action.is_mirror:
            yield Finding(
                "single-log",
                _(
                    "The log of pool {pool} is a single SSD. If it has failed after a crash or a power cut, the last "
                    "~5 s of synchronous writes are lost, and the pool can be imported only with `zpool import -m`; "
                    "the pool itself survives. With a mirror, both SSDs would have to fail."
                ),
                {"pool": pool.name},
                Level.CRITICAL,
                explanation=_(
                    "Programs that get a write confirmed as saved (a database, a virtual machine, an NFS client) rely "
                    "on it. Losing those seconds can leave such a program with inconsistent data."
                ),
            )
        if isinstance(action, AddLog) and pool.logs:
            yield Finding(
                "log-striped",
                _(
                    "Pool {pool} already has a log. The new one is striped with it, not mirrored: each of them then "
                    "matters after a crash. To protect the existing log, mirror it instead."
                ),
                {"pool": pool.name},
                Level.WARNING,
                explanation=_(
                    "Log blocks are then spread over both logs. That is faster if one log is not enough, but twice as "
                    "many devices must survive a crash."
                ),
            )
        if isinstance(action, AttachLog):
            yield Finding(
                "attach-resilvers",
                _(
                    "Attaching a side to the log resilvers the whole pool {pool} ({allocated} in use), not only the "
                    "log. The resilver runs automatically, and the pool stays usable, but slower, until it is done."
                ),
                {"pool": pool.name, "allocated": size_text(pool.allocated_bytes)},
                Level.WARNING,
                explanation=_(
                    "A resilver reads all data of the pool. It changes nothing and continues after a reboot; `zpool "
                    "status` shows its progress. If it is not urgent, a quiet night is the best time."
                ),
            )


def _about_dead_log(plan: Plan, pool: Pool, host: Host) -> Iterator[Finding]:
    log = dead_log(pool, plan.request.dead_log)
    if log and was_missing_at_import(log) and releases.REPLAY_FLAG_LEFT.is_in(host.zfs_kernel or host.zfs_userland):
        yield Finding(
            "dead-log-may-stay",
            _(
                "OpenZFS {version} may refuse to remove the log of pool {pool}, which was missing at the import, and "
                "report that logs have to be replayed. In that case nothing is changed, and the run is reverted."
            ),
            {"pool": pool.name, "version": host.zfs_kernel or host.zfs_userland},
            Level.WARNING,
            explanation=_(
                "`zpool import -m` of this release leaves a flag that claims that logs have to be replayed (openzfs "
                "18277). OpenZFS 2.3.8 and 2.4.3 have the fix."
            ),
        )


def _about_pool(plan: Plan, pool: Pool) -> Iterator[Finding]:
    if plan.request.log_disks and pool.locked_datasets:
        yield Finding(
            "keys-not-loaded",
            _(
                "No key is loaded for {count} of the encrypted datasets of pool {pool} ({datasets}). While writes of "
                "theirs wait in the log, OpenZFS refuses to remove the log device. Load the keys before an undo."
            ),
            {
                "pool": pool.name,
                "count": str(len(pool.locked_datasets)),
                "datasets": ", ".join(pool.locked_datasets[:3]) + (" …" if len(pool.locked_datasets) > 3 else ""),
            },
            Level.WARNING,
            explanation=_(
                "Writes that wait in a log are encrypted like their dataset, so they can be written to the pool only "
                "with its key."
            ),
        )
    if plan.request.log_disks and pool.multihost:
        yield Finding(
            "log-on-one-host",
            _(
                "Pool {pool} has multihost=on. If another host imports the pool, a log on an SSD inside this host is "
                "missing, and the import is refused. Every host must be able to reach the SSD."
            ),
            {"pool": pool.name},
            Level.WARNING,
            explanation=_(
                "multihost prevents two hosts from importing one pool at once, so the pool is meant to move between "
                "hosts. A log moves with it only if its SSDs do."
            ),
        )
    if pool.scan:
        yield Finding(
            "scan-running",
            _(
                "Pool {pool} is busy with {scan}. That continues, but both take longer. It is better to wait until it "
                "ends."
            ),
            {"pool": pool.name, "scan": Statement("scan", SCANS.get(pool.scan, OTHER_SCAN))},
            Level.WARNING,
            explanation=_("A scrub or a resilver reads the whole pool. Adding a log or a cache does not stop it."),
        )


def _about_cache(plan: Plan, host: Host) -> Iterator[Finding]:
    cache_bytes = sum(piece.size_bytes for piece in plan.slices if piece.role is Role.CACHE)
    if not cache_bytes:
        return
    memory = header_memory(cache_bytes)
    if memory.typical_bytes * 100 > host.memory_bytes * HEADER_MEMORY_PERCENT:
        yield Finding(
            "cache-headers-large",
            _(
                "A full cache of {cache} needs about {headers} of memory for its headers with 128 KiB blocks and "
                "{worst} with 16 KiB blocks, out of {memory}; even smaller blocks need even more. The ARC can no "
                "longer use that memory. A smaller cache may work better."
            ),
            {
                "cache": size_text(cache_bytes),
                "headers": size_text(memory.typical_bytes),
                "worst": size_text(memory.small_blocks_bytes),
                "memory": size_text(host.memory_bytes),
            },
            Level.WARNING,
            explanation=_(
                "For each block in a cache, OpenZFS keeps a header of about 100 bytes in the ARC, the cache in "
                "memory. Small blocks mean many headers. The memory they use is lost to the ARC, where reads are "
                "fastest."
            ),
        )
    yield Finding(
        "cache-removal-takes-time",
        _(
            "Removing a full cache later can stall volumes (zvols) for up to several minutes, because OpenZFS drops "
            "every header first. The fuller the cache, the longer it takes."
        ),
        {},
        Level.INFO,
        explanation=_(
            "Nothing is lost, but programs that use a volume wait for that long. A quiet hour is the best time to "
            "remove a large cache."
        ),
    )


def _about_power_loss(plan: Plan, inventory: Inventory, protection: Mapping[str, str]) -> Iterator[Finding]:
    disks = [disk for key in plan.request.log_disks if (disk := inventory.disk(key))]
    unlikely = [disk.label for disk in disks if protection.get(disk.key) == "unlikely"]
    labels = [disk.label for disk in disks if protection.get(disk.key) not in _ANSWERED]
    if unlikely:
        yield Finding(
            "power-loss-protection-unlikely",
            _(
                "These SSDs probably have no power-loss protection: {disks}. Without it, an SSD that honours flushes "
                "is slow at each one, and an SSD that ignores them can lose acknowledged writes at a power cut, on "
                "both sides of a mirror at once."
            ),
            {"disks": ", ".join(unlikely)},
            Level.WARNING,
            explanation=_("The data they report, or their model, suggests that they have none. Check the data sheet."),
        )
    if labels:
        yield Finding(
            "power-loss-protection-unknown",
            _(
                "It is unknown whether these SSDs have power-loss protection: {disks}. Without it, an SSD that "
                "honours flushes is slow at each one, and an SSD that ignores them can lose acknowledged writes at a "
                "power cut, on both sides of a mirror at once. Check the data sheet."
            ),
            {"disks": ", ".join(labels)},
            Level.INFO,
            explanation=_(
                "SSDs with power-loss protection have capacitors that power them until everything they have "
                "acknowledged is in the flash. They can therefore acknowledge at once, which is the sole purpose of a "
                "log. `nasadvisor health` and a measurement of the SSD show more."
            ),
        )


def _about_disk(disk: Disk) -> Iterator[Finding]:
    if disk.unrecognised_at is not None:
        yield Finding(
            "unrecognised-data",
            _(
                "{disk} holds data that no tool here recognises, first at byte {offset}. A log or a cache on it "
                "erases this data."
            ),
            {"disk": disk.label, "offset": str(disk.unrecognised_at)},
            Level.CRITICAL,
            explanation=_(
                "An encrypted volume without a header (VeraCrypt, plain dm-crypt), a raw database and the remains of "
                "a pool whose labels were cleared all look like this and cannot be distinguished; so do files of a "
                "deleted partition. The first and the last MiB of the free space and 64 places in between are read. "
                "A place with one repeated byte counts as empty."
            ),
        )
    yield from _about_hardware(disk)


def _about_hardware(disk: Disk) -> Iterator[Finding]:
    if disk.rotational:
        yield Finding(
            "hard-disk",
            _(
                "{disk} is a hard disk. As a log or cache, it is about as slow as the pool itself, and often slower. "
                "Use an SSD."
            ),
            {"disk": disk.label},
            Level.WARNING,
            explanation=_(
                "A log completes small writes at once, and a cache serves small reads at once. A hard disk needs "
                "several milliseconds for either, like those of the pool."
            ),
        )
    if disk.network:
        yield Finding(
            "network-disk",
            _(
                "{disk} is not in this host but connected over a network ({network}). A log there is missing whenever "
                "the network is, and each synchronous write waits for the network."
            ),
            {"disk": disk.label, "network": disk.network},
            Level.WARNING,
            explanation=_(
                "If the network comes up after the pools are imported, or fails, the pool lacks its log or cache. The "
                "same disk may also be assigned to another host."
            ),
        )
    if disk.bus is Bus.MMC:
        yield Finding(
            "card-disk",
            _(
                "{disk} is an eMMC chip or an SD card. It is slow at flushes, built for few writes, and does not "
                "report its wear. Use an SSD."
            ),
            {"disk": disk.label},
            Level.WARNING,
            explanation=_(
                "A log is written and flushed all the time, and a cache is written as fast as its limit allows. Such "
                "chips endure only a small fraction of the writes of an SSD."
            ),
        )
    if disk.bus is Bus.USB:
        yield Finding(
            "usb-disk",
            _(
                "{disk} is connected by USB. Many adapters ignore flushes and disconnect under load; if a log is "
                "missing at boot, the import of the pool fails."
            ),
            {"disk": disk.label},
            Level.WARNING,
            explanation=_(
                "A log must have written the data that it acknowledged. An adapter that answers before the SSD has "
                "the data breaks this promise."
            ),
        )
    elif disk.removable:
        yield Finding(
            "removable-disk",
            _("{disk} is removable. If a log is missing at boot, the import of the pool fails."),
            {"disk": disk.label},
            Level.WARNING,
            explanation=_(
                "If it is unplugged while the pool is exported or the host is off, the pool can be imported only with "
                "`zpool import -m`."
            ),
        )


def _about_slices(plan: Plan) -> Iterator[Finding]:
    if plan.request.reserve_percent == 0:
        yield Finding(
            "no-reserve",
            _(
                "No space is reserved. An SSD with no spare space wears faster and slows down under "
                "sustained writes; 10 % is usual."
            ),
            {},
            Level.WARNING,
            explanation=_(
                "An SSD can write only to blocks that it has erased before. Unwritten space lets it do that ahead of "
                "time, instead of while a program waits."
            ),
        )
    if any(isinstance(action, AddLog | AttachLog | AddCache) for action in plan.actions):
        shared = set(plan.request.log_disks) & set(plan.request.cache_disks)
        yield _log_and_cache_share() if shared else _slices_not_disks()


def _log_and_cache_share() -> Finding:
    return Finding(
        "log-and-cache-share",
        _(
            "Log and cache share an SSD. This is a trade-off: OpenZFS itself recommends whole disks, because the "
            "sustained writes of the cache slow down the short ones of the log, and one failed SSD takes both. It "
            "saves buying an SSD for each."
        ),
        {},
        Level.INFO,
        explanation=_("If the pool constantly waits for its log, give the log SSDs of its own."),
    )


def _slices_not_disks() -> Finding:
    return Finding(
        "slices-not-disks",
        _(
            "The plan uses slices of an SSD, not the whole SSD. OpenZFS itself recommends whole disks; a slice leaves "
            "room for the reserve and for other slices."
        ),
        {},
        Level.INFO,
        explanation=_(
            "A log needs only a few GB, far less than any SSD has; the reserve and a cache can use the rest."
        ),
    )
