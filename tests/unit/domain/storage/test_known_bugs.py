"""Which known bugs of OpenZFS a pool can meet: by its release, by what it is made of, and what ends them."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nasadvisor.domain.statements import Level
from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev, ZfsParameters
from nasadvisor.domain.storage.known_bugs import exposure_of
from nasadvisor.domain.storage.known_bugs_table import ALL
from nasadvisor.domain.storage.releases import parse_release, spans, version_text
from tests.unit.machines import home_server

ROOT = Path(__file__).parents[4]
BY_CODE = {bug.code: bug for bug in ALL}


def codes(release: str, parameters: ZfsParameters | None = None, **changes: Any) -> set[str]:
    """The bugs of a release that the pool tank meets, its make changed."""
    machine = home_server()
    host = replace(machine.host, parameters=parameters or ZfsParameters())
    return _met(release, replace(machine, host=host), tank(**changes))


def tank(**changes: Any) -> Pool:
    return replace(home_server().pools[0], **changes)


def _met(release: str, machine: Inventory, pool: Pool) -> set[str]:
    runs = parse_release(release)
    assert runs
    return {bug.code for bug in exposure_of(pool, machine, runs, ALL).bugs}


CLONING: dict[str, Any] = {"features": ("block_cloning",)}

BUILDS: tuple[tuple[str, set[str]], ...] = (
    # What distributions ship, and what they do to a pool with nothing but block cloning.
    ("2.1.11-1", {"dirty-holes", "mapped-reads", "mapped-writes", "free-ranges", "receive-skips", "foreign-root"}),
    (
        "2.2.0-pve3",
        {"dirty-holes", "clone-first", "clone-crash", "clone-after-truncate", "mapped-writes", "foreign-root"},
    ),
    ("2.2.2-0ubuntu9.4", {"clone-first", "clone-crash", "clone-after-truncate", "mapped-writes", "foreign-root"}),
    ("zfs-2.3.4-pve1", {"clone-after-truncate", "direct-io-error", "foreign-root"}),
    ("2.3.8-1~bpo12+1", {"clone-then-freed", "foreign-root"}),
    ("2.3.99-412", {"clone-after-truncate", "direct-io-error", "foreign-root"}),
    ("2.4.0-rc3", {"clone-after-truncate", "direct-io-error", "foreign-root"}),
    ("2.4.1-pve2", {"clone-after-truncate", "direct-io-error", "foreign-root"}),
    ("2.3.9-1", set()),
    ("2.4.4-1", set()),
)


@pytest.mark.parametrize(("release", "expected"), BUILDS)
def test_a_pool_with_cloning_meets_the_bugs_of_its_release(release: str, expected: set[str]) -> None:
    assert codes(release, **CLONING) - {"free-ranges"} == expected - {"free-ranges"}


@pytest.mark.parametrize(("last", "first"), [("2.3.6", "2.3.7"), ("2.4.1", "2.4.2"), ("2.2.11", "2.3.7")])
def test_the_race_while_data_is_freed_ends_with_its_fix_and_2_2_never_had_it(last: str, first: str) -> None:
    assert "free-ranges" in codes(last)
    assert "free-ranges" not in codes(first)


DRAID = (Vdev("7", "draid", "draid2:4d:7c:1s-0", "ONLINE"),)
NEEDS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("clone-first", "2.2.3", CLONING),
    ("clone-after-removal", "2.2.7", {"cloned_bytes": 1, "active_features": ("device_removal",)}),
    ("clone-into-encrypted", "2.2.0", {**CLONING, "active_features": ("encryption",)}),
    ("clone-large-vdev", "2.3.4", {**CLONING, "size_bytes": 65 * 2**40}),
    ("clone-volume-key", "2.3.7", {**CLONING, "active_features": ("encryption",), "has_volumes": True}),
    ("dedup-zeros", "2.4.3", {"dedup_table_bytes": 1}),
    ("dedup-gang", "2.4.4", {"dedup_table_bytes": 1}),
    ("dedup-pruned-clone", "2.3.7", {"dedup_table_bytes": 1, "cloned_bytes": 1}),
    ("dedup-encrypted-size", "2.4.4", {"dedup_table_bytes": 1, "active_features": ("encryption",)}),
    ("encrypted-send", "2.3.2", {"active_features": ("encryption",)}),
    ("send-redacted", "2.3.7", {"active_features": ("redaction_bookmarks",)}),
    ("project-attributes", "2.2.11", {"active_features": ("project_quota",)}),
    ("draid-clear", "2.3.6", {"data": DRAID}),
    ("rebuild-race", "2.2.11", {"data": DRAID}),
    ("removal-export", "2.3.8", {"scan": "removal"}),
    ("class-space", "2.4.0", {"specials": (Vdev("8", "disk", "x", "ONLINE"),)}),
    ("log-removal-crash", "2.1.16", {"logs": (Vdev("8", "disk", "x", "ONLINE"),)}),
    ("multihost-race", "2.3.5", {"multihost": True}),
    ("volume-flushes", "2.3.1", {"has_volumes": True}),
)


@pytest.mark.parametrize(("code", "release", "changes"), NEEDS)
def test_a_bug_is_met_only_where_the_pool_has_all_that_it_needs(
    code: str, release: str, changes: dict[str, Any]
) -> None:
    assert code in codes(release, **changes)
    for left_out in changes:
        rest = {name: value for name, value in changes.items() if name != left_out}
        assert code not in codes(release, **rest), left_out


@pytest.mark.parametrize(("value", "is_met"), [(None, True), (1, True), (0, False)])
def test_a_parameter_that_turns_cloning_or_direct_io_off_ends_what_needs_it(value: int | None, is_met: bool) -> None:
    parameters = ZfsParameters(zfs_bclone_enabled=value, zfs_dio_enabled=value)
    assert ({"clone-after-truncate", "direct-io-error"} <= codes("2.3.4", parameters, **CLONING)) is is_met
    assert "clone-after-truncate" in codes("2.3.4", ZfsParameters(zfs_dio_enabled=0), **CLONING)


def test_the_queues_of_volumes_matter_only_where_somebody_turned_them_on() -> None:
    assert "volume-queues" in codes("2.3.4", ZfsParameters(zvol_use_blk_mq=1), has_volumes=True)
    assert "volume-queues" not in codes("2.3.4", ZfsParameters(zvol_use_blk_mq=0), has_volumes=True)


def test_trim_matters_only_where_data_lies_on_an_ssd() -> None:
    machine = home_server()
    ssd = machine.disks[-1]
    assert not ssd.rotational
    leaf = Vdev("9", "disk", "x", "ONLINE", path=ssd.path)
    assert "trim-overtaken" not in _met("2.1.13", machine, tank(logs=(leaf,)))
    assert "trim-overtaken" in _met("2.1.13", machine, tank(data=(leaf,)))
    assert "trim-overtaken" not in _met("2.1.14", machine, tank(data=(leaf,)))


@pytest.mark.parametrize(
    ("release", "changes", "expected"),
    [
        ("2.3.4", CLONING, "2.3.9"),  # the fix in 2.3.7 brought the next bug
        ("2.3.4", {}, "2.3.9"),
        ("2.2.5", {}, "2.3.9"),  # 2.2 never had the fix of one of them
        ("2.4.1", CLONING, "2.4.4"),
        ("2.4.0", {"multihost": True}, "2.4.4"),
        ("2.4.4", {"dedup_table_bytes": 1}, None),  # no release has a fix
    ],
)
def test_the_release_to_update_to_has_none_of_what_the_pool_could_meet(
    release: str, changes: dict[str, Any], expected: str | None
) -> None:
    runs = parse_release(release)
    assert runs
    update_to = exposure_of(tank(**changes), home_server(), runs, ALL).update_to
    assert (version_text(update_to) if update_to else None) == expected


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        ("2.3.99-1", None),
        ("2.4.0-rc3", None),
        ("2.4.0~rc3", None),
        ("2.2.99", False),
        ("2.3.0", False),
        ("2.4.0", True),
    ],
)
def test_a_build_on_the_way_has_what_both_its_ends_have_and_else_cannot_be_told(
    build: str, expected: bool | None
) -> None:
    runs = parse_release(build)
    assert runs
    assert runs.has(spans("2.4.0 2.4.4")) is expected
    assert runs.has(spans("2.1.0")) is True
    assert runs.has(()) is False


def test_the_worst_comes_first() -> None:
    runs = parse_release("2.3.4")
    assert runs
    bugs = exposure_of(tank(**CLONING), home_server(), runs, ALL).bugs
    assert [bug.level for bug in bugs] == [Level.CRITICAL, Level.WARNING, Level.WARNING, Level.WARNING]


def test_every_bug_is_in_the_documentation_with_its_releases() -> None:
    page = (ROOT / "docs/explanation/health.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", page, re.MULTILINE))
    for bug in ALL:
        fixed = ", ".join(version_text(span.until) for span in bug.spans if span.until) or "none yet"
        first = version_text(bug.spans[0].first)
        needs = ", ".join(each.text for each in bug.needs) or "any pool"
        assert rows.get(bug.code) == f"{bug.level} | {first} | {fixed} | {needs} | {bug.what}"


def test_codes_and_fixes_are_there_once_and_begin_with_the_table() -> None:
    assert len(BY_CODE) == len(ALL)
    for bug in ALL:
        assert bug.fixed_by
        assert bug.begun_by or bug.spans[0].first == (2, 1, 0)
