"""Bugs of released OpenZFS that can harm data: what each needs of a pool, and which of them a pool can meet now.

The table stands in `known_bugs_table`. Its releases are those of the upstream project; `scripts/releases.py` works them
out anew from its history. A distribution may have a fix behind an older number.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.statements import RANK, Level, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory, Pool, has_data_on_ssds
from nasadvisor.domain.storage.releases import Release, ReleaseSpan, Version, first_after
from nasadvisor.domain.units import TIB

MULTIHOST_HOLE_WHY: Final = Statement(
    "multihost-hole",
    _(
        "removing a log later leaves a hole, and the import of a pool with multihost=on and a hole is then refused as "
        "if another host were using it (issue 18823). Update OpenZFS to 2.3.9 or 2.4.4 first."
    ),
)

LARGE_VDEV_BYTES: Final = 64 * TIB
"""From here on the table of clones of a vdev is counted wrongly (openzfs 17915)."""


@dataclass(frozen=True)
class Condition:
    """What a bug needs of a pool, in words that fit after "this pool:"."""

    text: str
    holds: Callable[[Pool, Inventory], bool]


@dataclass(frozen=True)
class Bug:
    """One bug. It is critical where what is used every day can silently give or keep wrong data and somebody met it.

    `fixed_by` and `begun_by` are the subjects of the commits that ended and began it, as the release branches have
    them; all fixes are needed. Without `begun_by` it is older than 2.1.0, where the table begins. `meanwhile` is what
    lessens it before an update, and was tried or is documented upstream; "" where nothing is.
    """

    code: str
    level: Level
    spans: tuple[ReleaseSpan, ...]
    needs: tuple[Condition, ...]
    what: str
    meanwhile: str
    fixed_by: tuple[str, ...]
    begun_by: str = ""


@dataclass(frozen=True)
class Exposure:
    """What a release can do to a pool: the bugs that it has, worst first, and those of which it cannot be told.

    `update_to` is the first later release that has none of those that any release has a fix for; None where it has
    none of these.
    """

    bugs: tuple[Bug, ...]
    unclear: tuple[Bug, ...]
    update_to: Version | None


def exposure_of(pool: Pool, inventory: Inventory, release: Release, table: Iterable[Bug]) -> Exposure:
    """What this release of OpenZFS can do to a pool."""
    possible = [bug for bug in table if all(need.holds(pool, inventory) for need in bug.needs)]
    bugs = [bug for bug in possible if release.has(bug.spans)]
    bugs.sort(key=lambda bug: -RANK[bug.level])
    unclear = tuple(bug for bug in possible if release.has(bug.spans) is None)
    # A fix can bring the next bug (openzfs 18421), so it is looked for among all that the pool could meet.
    mended = [bug for bug in possible if all(span.until for span in bug.spans)]
    candidates = sorted({version for bug in bugs for version in first_after(release, bug.spans)})
    sound = (each for each in candidates if not any(Release(each, False).has(bug.spans) for bug in mended))
    return Exposure(tuple(bugs), unclear, next(sound, None))


def _kinds(pool: Pool) -> set[str]:
    return {vdev.kind for top in pool.data for vdev in top.walk()}


CLONING: Final = Condition(
    _("block cloning is on"),
    lambda pool, inventory: "block_cloning" in pool.features and inventory.host.parameters.zfs_bclone_enabled != 0,
)
CLONES: Final = Condition(_("it contains cloned blocks"), lambda pool, _inventory: pool.cloned_bytes > 0)
VDEV_REMOVED: Final = Condition(
    _("a data vdev was removed from it"), lambda pool, _inventory: "device_removal" in pool.active_features
)
LARGE: Final = Condition(_("it is larger than 64 TiB"), lambda pool, _inventory: pool.size_bytes > LARGE_VDEV_BYTES)
ENCRYPTION: Final = Condition(
    _("it has encrypted datasets"), lambda pool, _inventory: "encryption" in pool.active_features
)
DEDUP: Final = Condition(_("it contains deduplicated data"), lambda pool, _inventory: pool.dedup_table_bytes > 0)
SIDEACY_DEDUP: Final = Condition(
    _("it contains deduplicated data"),
    lambda pool, _inventory: pool.dedup_table_bytes > 0 and "fast_dedup" not in pool.active_features,
)
DIRECT: Final = Condition(
    _("Direct I/O is on"), lambda _pool, inventory: inventory.host.parameters.zfs_dio_enabled != 0
)
VOLUMES: Final = Condition(_("it has volumes"), lambda pool, _inventory: pool.has_volumes)
BLK_MQ: Final = Condition(
    _("zvol_use_blk_mq is set"), lambda _pool, inventory: bool(inventory.host.parameters.zvol_use_blk_mq)
)
REDACTED: Final = Condition(
    _("it has redaction bookmarks"), lambda pool, _inventory: "redaction_bookmarks" in pool.active_features
)
PROJECTS: Final = Condition(
    _("project quotas are in use"), lambda pool, _inventory: "project_quota" in pool.active_features
)
DRAID: Final = Condition(_("it has dRAID"), lambda pool, _inventory: "draid" in _kinds(pool))
EXPANDABLE: Final = Condition(
    _("its raidz can be expanded"),
    lambda pool, _inventory: "raidz" in _kinds(pool) and "raidz_expansion" in pool.features,
)
FLASH: Final = Condition(_("it has SSDs"), lambda pool, inventory: has_data_on_ssds(pool, inventory.disks))
REMOVING: Final = Condition(_("a vdev is being removed"), lambda pool, _inventory: pool.scan == "removal")
OWN_CLASS: Final = Condition(
    _("it has special or dedup vdevs"), lambda pool, _inventory: bool(pool.specials or pool.dedups)
)
LOGS: Final = Condition(_("it has a log"), lambda pool, _inventory: bool(pool.logs))
SPARES_OR_CACHES: Final = Condition(
    _("it has spares or caches"), lambda pool, _inventory: bool(pool.spares or pool.caches)
)
MULTIHOST: Final = Condition(_("multihost is on"), lambda pool, _inventory: pool.multihost)
