"""What each release does, by the versions that distributions ship, and that no other code compares versions."""

import re
from pathlib import Path

import pytest

from nasadvisor.domain.storage import releases
from nasadvisor.domain.storage.releases import ALL, Behaviour

ROOT = Path(__file__).parents[4]

OLD, FEED, SPECIAL, SMALL, MOVE, BALANCE, FLAG, HOLE, STALE = (
    releases.PREFETCH_FROM_CACHE,
    releases.FAST_FEED,
    releases.ZIL_ON_SPECIAL,
    releases.SMALL_VOLUME_BLOCKS,
    releases.REWRITE,
    releases.METADATA_BALANCE,
    releases.REPLAY_FLAG_LEFT,
    releases.MULTIHOST_HOLE,
    releases.STALE_CACHE,
)
BUILDS: tuple[tuple[str, str, set[Behaviour]], ...] = (
    # TrueNAS: META of the branches release/NUMBER of truenas/zfs, and arc.c there (PREFETCH_FROM_CACHE was looked up).
    ("TrueNAS 22.12.4", "2.1.12-1", {FLAG, STALE}),
    ("TrueNAS 23.10.0", "2.2.0-rc4", {BALANCE, FLAG, STALE}),
    ("TrueNAS 23.10.1", "2.2.2-1", {BALANCE, OLD, FLAG, STALE}),
    ("TrueNAS 24.04.2", "2.2.4-1", {BALANCE, OLD, FLAG, STALE}),
    ("TrueNAS 24.10.0", "2.2.99-1", {BALANCE, OLD, FEED, FLAG, STALE}),
    ("Ubuntu 22.04", "2.1.5-1ubuntu6~22.04.6", {FLAG, STALE}),
    ("Ubuntu 24.04", "2.2.2-0ubuntu9.4", {BALANCE, OLD, FLAG, STALE}),
    ("Debian 12", "2.1.11-1+deb12u1", {FLAG, STALE}),
    ("Debian 13 backports", "2.3.9-1~bpo13+1", {MOVE, BALANCE, OLD, FEED}),
    ("Proxmox VE 8.1", "2.2.0-pve3", {BALANCE, FLAG, STALE}),
    ("Proxmox VE 8.4", "2.2.7-pve2", {BALANCE, OLD, FEED, FLAG, STALE}),
    ("Proxmox VE 9", "2.4.1-pve2", {SMALL, MOVE, BALANCE, OLD, FEED, SPECIAL, FLAG, HOLE, STALE}),
    ("upstream", "zfs-kmod-2.3.7-1", {MOVE, BALANCE, OLD, FEED, FLAG, HOLE, STALE}),
    ("upstream", "2.3.8-1", {MOVE, BALANCE, OLD, FEED, HOLE, STALE}),
    ("upstream", "2.4.3-1", {SMALL, MOVE, BALANCE, OLD, FEED, SPECIAL, HOLE, STALE}),
    ("upstream", "2.4.4-1", {SMALL, MOVE, BALANCE, OLD, FEED, SPECIAL}),
)


@pytest.mark.parametrize(("build", "release", "expected"), BUILDS)
def test_a_build_does_what_its_row_says(build: str, release: str, expected: set[Behaviour]) -> None:
    assert {each for each in ALL if each.is_in(release)} == expected, build


def test_of_a_release_that_cannot_be_read_nothing_is_known() -> None:
    assert {each.is_in(text) for each in ALL for text in ("", "unknown", "2.3")} == {None}


def test_every_behaviour_says_where_it_is_from_and_stands_in_the_documentation() -> None:
    documented = (ROOT / "docs/explanation/evidence.md").read_text(encoding="utf-8")
    for each in ALL:
        assert re.search(r"PR \d+|issue \d+|[0-9a-f]{10}", each.source)
        assert each.source in documented
        assert each.spans or each.parameter


def test_no_other_code_compares_versions() -> None:
    versions = re.compile(r"\(2, [2-9], \d+\)|parse_version")
    found = {path.name for path in (ROOT / "nasadvisor").rglob("*.py") if versions.search(path.read_text("utf-8"))}
    assert found == {"releases.py"}
