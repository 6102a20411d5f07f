"""What is worth knowing about a host as its inventory shows it, pool by pool.

Of each pool also what the release of OpenZFS can do to it: its bugs that logs and caches meet when they are taken out
or put back, and one finding for all known bugs that can harm data.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from nasadvisor.domain.health.log_cache_findings import log_cache_findings
from nasadvisor.domain.health.pool_findings import about_pool, pool_findings, space_findings
from nasadvisor.domain.statements import Finding, Level, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage import known_bugs_table, releases
from nasadvisor.domain.storage.inventory import Host, Inventory, Pool, Vdev
from nasadvisor.domain.storage.known_bugs import Bug, Exposure, exposure_of
from nasadvisor.domain.storage.logs import was_missing_at_import
from nasadvisor.domain.storage.releases import Release, first_after, parse_release, version_text

TOLD_AT_MOST: Final = 5
"""More would not be read; `docs/explanation/health.md` has all."""


def with_names(pool: Pool, last_seen: Mapping[str, str], inventory: Inventory) -> Pool:
    """The pool with each leaf that the host does not show called by the disk that was last seen there."""

    def named(vdev: Vdev) -> Vdev:
        if vdev.children:
            return replace(vdev, children=tuple(map(named, vdev.children)))
        label = last_seen.get(vdev.guid, "")
        return replace(vdev, name=label, path="") if label and not inventory.place_of(vdev) else vdev

    return replace(
        pool,
        data=tuple(map(named, pool.data)),
        logs=tuple(map(named, pool.logs)),
        caches=tuple(map(named, pool.caches)),
        specials=tuple(map(named, pool.specials)),
        dedups=tuple(map(named, pool.dedups)),
        spares=tuple(map(named, pool.spares)),
    )


def findings_of(
    inventory: Inventory, last_seen: Mapping[str, str] | None = None, growth: Mapping[str, float] | None = None
) -> tuple[Finding, ...]:
    """Everything worth knowing, pool by pool. `last_seen` names the disks behind leaves that the host shows no more, by
    the guid of the leaf: nobody finds a slot by a path that leads nowhere. `growth` is how many bytes pools took up a
    day lately, by the pool's guid.
    """
    if not inventory.host.zfs_userland:
        missing = Finding(
            "no-openzfs",
            _(
                "OpenZFS is not installed on {node}, so there are no pools. Install zfsutils-linux and read the host "
                "again."
            ),
            {"node": inventory.host.node},
            Level.WARNING,
            explanation=_("Without its tools, neither the pools nor the contents of their disks can be read."),
        )
        return (missing,)
    grown = growth or {}
    pools = (with_names(pool, last_seen, inventory) for pool in inventory.pools) if last_seen else inventory.pools
    return tuple(finding for pool in pools for finding in _about_pool(pool, inventory, grown.get(pool.guid)))


def _about_pool(pool: Pool, inventory: Inventory, growth: float | None) -> Iterator[Finding]:
    yield from pool_findings(pool, inventory)
    yield from space_findings(pool, inventory, growth)
    yield from log_cache_findings(pool, inventory)
    yield from release_findings(pool, inventory)


def release_findings(pool: Pool, inventory: Inventory) -> Iterator[Finding]:
    """What OpenZFS can do to a pool as it is configured."""
    yield from about_pool(pool, _of_logs_and_caches(pool, inventory.host))
    yield from about_pool(pool, _of_data(pool, inventory))


def _of_logs_and_caches(pool: Pool, host: Host) -> Iterator[Finding]:
    version = host.zfs_kernel or host.zfs_userland
    values = {"pool": pool.name, "version": version}
    if pool.multihost and pool.logs and releases.MULTIHOST_HOLE.is_in(version):
        yield Finding(
            "bug-multihost-hole",
            _(
                "Do not remove the log of pool {pool} with OpenZFS {version}: the pool could not be imported "
                "afterwards."
            ),
            values,
            Level.WARNING,
            _(
                "Pool {pool} has multihost=on. Removing a log leaves a hole in the layout, and this release then "
                "refuses the import as if another host were using the pool (issue 18823). Update OpenZFS to 2.3.9 or "
                "2.4.4."
            ),
        )
    if any(was_missing_at_import(log) for log in pool.logs) and releases.REPLAY_FLAG_LEFT.is_in(version):
        yield Finding(
            "bug-log-replay-flag",
            _(
                "With OpenZFS {version}, the missing log of pool {pool} may not be removable once the pool was "
                "imported without it: `zpool remove` then reports that logs have to be replayed."
            ),
            values,
            Level.WARNING,
            _(
                "`zpool import -m` of this release leaves a flag behind, as if a replay were pending. The pool "
                "continues without the log. Reconnect the device, or update OpenZFS to 2.3.8 or 2.4.3 and then remove "
                "it (openzfs 18277)."
            ),
        )
    if pool.caches and releases.STALE_CACHE.is_in(version):
        yield Finding(
            "bug-stale-cache",
            _("OpenZFS {version} can show a wrong size for a cache of pool {pool} that was removed and added again."),
            values,
            Level.INFO,
            _(
                "It may read back old cache records (the size then shows as 16.0E). No data is harmed: every block of "
                "a cache is verified by its checksum. OpenZFS 2.3.9 and 2.4.4 have the fix."
            ),
        )


def _of_data(pool: Pool, inventory: Inventory) -> Iterator[Finding]:
    """Nothing where the version of the kernel module cannot be read."""
    release = parse_release(inventory.host.zfs_kernel)
    if release is None:
        return
    exposure = exposure_of(pool, inventory, release, known_bugs_table.ALL)
    if exposure.bugs:
        yield _harmful(pool, inventory.host, release, exposure)
    elif exposure.unclear:
        yield Finding(
            "release-unclear",
            _(
                "OpenZFS {version} is a build between releases. Only its maker can say whether it has the fixes for "
                "{count} known bugs that could harm pool {pool}."
            ),
            {
                "pool": pool.name,
                "version": inventory.host.zfs_kernel,
                "count": str(len(exposure.unclear)),
                "bugs": _chained("bugs", "{first} {rest}", [_short(bug) for bug in exposure.unclear[:TOLD_AT_MOST]]),
            },
            Level.INFO,
            _(
                "The worst of them: {bugs} Ask the maker of your system, or install a version of it that is based on "
                "a release."
            ),
            measure=len(exposure.unclear),
        )


def _harmful(pool: Pool, host: Host, release: Release, exposure: Exposure) -> Finding:
    worst, *others = exposure.bugs
    template = _("OpenZFS {version} has a known bug that can harm pool {pool}. {worst} {remedy}")
    if others:
        template = _("OpenZFS {version} has {count} known bugs that can harm pool {pool}. The worst: {worst} {remedy}")
    return Finding(
        "release-bugs",
        template,
        {
            "pool": pool.name,
            "version": host.zfs_kernel,
            "count": str(len(exposure.bugs)),
            "worst": _what(worst),
            "remedy": _remedy(host, exposure),
            "bugs": _chained("bugs", "{first} {rest}", [_told(bug, release) for bug in exposure.bugs[:TOLD_AT_MOST]]),
        },
        worst.level,
        _(
            "{bugs} The numbers are upstream's: your distribution may have a fix in an older version, so check with "
            "it. docs/explanation/health.md has the whole table."
        ),
        measure=len(exposure.bugs),
    )


def _remedy(host: Host, exposure: Exposure) -> Statement:
    """What ends it: a restart where a better release is installed already, an update, or nothing yet."""
    installed = parse_release(host.zfs_userland)
    update = exposure.update_to
    if update is None:
        return Statement("no-release-yet", _("No release has a fix yet."))
    if installed and not installed.is_between and installed.version >= update:
        return Statement(
            "restart-for-release",
            _("Restart the host: {installed} is installed, but the older module is still running."),
            {"installed": host.zfs_userland},
        )
    return Statement("update-release", _("Update to {release} or later."), {"release": version_text(update)})


def _told(bug: Bug, release: Release) -> Statement:
    """All of one bug: what, why here, fixed where, and what lessens it."""
    fixed = first_after(release, bug.spans)
    fix = Statement(bug.code, _("No release has a fix yet."))
    if fixed:
        fix = Statement(bug.code, _("Fixed in {releases}."), {"releases": ", ".join(map(version_text, fixed))})
    values: dict[str, str | Statement] = {"bug": _short(bug), "fix": fix}
    if not bug.meanwhile:
        return Statement(bug.code, _("{bug} {fix}"), values)
    return Statement(
        bug.code, _("{bug} {fix} Until then: {meanwhile}"), {**values, "meanwhile": Statement(bug.code, bug.meanwhile)}
    )


def _short(bug: Bug) -> Statement:
    if not bug.needs:
        return _what(bug)
    reasons = _chained("reasons", "{first}, {rest}", [Statement(bug.code, each.text) for each in bug.needs])
    return Statement(bug.code, _("{what} This pool: {reasons}."), {"what": _what(bug), "reasons": reasons})


def _what(bug: Bug) -> Statement:
    return Statement(bug.code, bug.what)


def _chained(code: str, template: str, statements: list[Statement]) -> Statement:
    first, *rest = statements
    return Statement(code, template, {"first": first, "rest": _chained(code, template, rest)}) if rest else first
