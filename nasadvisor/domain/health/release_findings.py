"""What the release of OpenZFS that runs can do to a pool: one finding for all known bugs that it can meet."""

from collections.abc import Iterable, Iterator
from typing import Final

from nasadvisor.domain.statements import Finding, Level, NextStep, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage import known_bugs_table
from nasadvisor.domain.storage.inventory import Host, Inventory, Pool
from nasadvisor.domain.storage.known_bugs import Bug, Exposure, exposure_of
from nasadvisor.domain.storage.releases import Release, first_after, parse_release, version_text

TOLD_AT_MOST: Final = 5
"""More would not be read; `docs/health.md` has all."""


def release_findings(pool: Pool, inventory: Inventory) -> Iterator[Finding]:
    """What the kernel module can do to a pool as it is configured; nothing where its version cannot be read."""
    release = parse_release(inventory.host.zfs_kernel)
    if release is None:
        return
    exposure = exposure_of(pool, inventory, release, known_bugs_table.ALL)
    if exposure.bugs:
        yield _harmful(pool, inventory.host, release, exposure)
    elif exposure.unclear:
        yield _unclear(pool, inventory.host, exposure.unclear)


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
            "bugs": _joined(_told(bug, release) for bug in exposure.bugs[:TOLD_AT_MOST]),
        },
        worst.level,
        _(
            "{bugs} The numbers are upstream's: your distribution may have a fix behind an older number, so ask it. "
            "docs/health.md has the whole table."
        ),
        subject=pool.guid,
        measure=len(exposure.bugs),
        step=NextStep.LOOK_AT_POOL,
        place=pool.guid,
    )


def _unclear(pool: Pool, host: Host, bugs: tuple[Bug, ...]) -> Finding:
    return Finding(
        "release-unclear",
        _(
            "OpenZFS {version} is a build between releases. Whether it has the fixes for {count} known bugs that could "
            "harm pool {pool}, only its maker can tell."
        ),
        {
            "pool": pool.name,
            "version": host.zfs_kernel,
            "count": str(len(bugs)),
            "bugs": _joined(_short(bug) for bug in bugs[:TOLD_AT_MOST]),
        },
        Level.INFO,
        _("The worst of them: {bugs} Ask the maker of your system, or install one of its versions that has a release."),
        subject=pool.guid,
        measure=len(bugs),
        step=NextStep.LOOK_AT_POOL,
        place=pool.guid,
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
            _("Restart the host: {installed} is installed, the older module still runs."),
            {"installed": host.zfs_userland},
        )
    return Statement("update-release", _("Update to {release} or later."), {"release": version_text(update)})


def _told(bug: Bug, release: Release) -> Statement:
    """All of one bug: what, why here, fixed where, and what lessens it."""
    values: dict[str, str | Statement] = {"bug": _short(bug), "fix": _fix(bug, release)}
    if not bug.meanwhile:
        return Statement(bug.code, _("{bug} {fix}"), values)
    return Statement(
        bug.code, _("{bug} {fix} Until then: {meanwhile}"), {**values, "meanwhile": Statement(bug.code, bug.meanwhile)}
    )


def _short(bug: Bug) -> Statement:
    if not bug.needs:
        return _what(bug)
    reasons = _listed([Statement(bug.code, each.text) for each in bug.needs])
    return Statement(bug.code, _("{what} This pool: {reasons}."), {"what": _what(bug), "reasons": reasons})


def _fix(bug: Bug, release: Release) -> Statement:
    fixed = first_after(release, bug.spans)
    if not fixed:
        return Statement(bug.code, _("No release has a fix yet."))
    return Statement(bug.code, _("Fixed in {releases}."), {"releases": ", ".join(map(version_text, fixed))})


def _what(bug: Bug) -> Statement:
    return Statement(bug.code, bug.what)


def _joined(statements: Iterable[Statement]) -> Statement:
    first, *rest = statements
    return Statement("bugs", "{first} {rest}", {"first": first, "rest": _joined(rest)}) if rest else first


def _listed(statements: list[Statement]) -> Statement:
    first, *rest = statements
    return Statement("reasons", "{first}, {rest}", {"first": first, "rest": _listed(rest)}) if rest else first
