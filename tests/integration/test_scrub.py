"""A scrub that the pages ask for, on real OpenZFS."""

import pytest

from tests.integration.agent import python_in_guest
from tests.integration.command_line import CommandLine, cli
from tests.integration.test_stories import CHECK, PHOTOS
from tests.integration.wishes import pool_of

pytestmark = pytest.mark.lab
__all__ = ["cli"]

SIDE = "vdev=$(zpool list -vHPL tank | grep -o '/dev/[^\t]*' | head -1)"
FILL = "head -c 150000000 /dev/urandom > /tank/large"
SPOIL = f"{SIDE}; dd if=/dev/zero of=$vdev bs=1M seek=8 count=64 conv=notrunc,fsync status=none"
"""Zeros over 64 MiB of one side of the mirror, behind its labels, as a controller that lies might leave. Of what fills
both mirrors some is there."""


def test_a_scrub_repairs_goes_on_after_a_pause_and_is_refused_by_openzfs(
    cli: CommandLine,
) -> None:
    """Proves: the pool with the guid is scrubbed and its good side repairs the other, one that is paused goes on, and
    what OpenZFS says against a second one, and that no pool has another guid, is told without any change."""
    guest = cli.guest
    guid = guest.run("zpool get -H -o value guid tank").stdout.strip()
    guest.run(f"{PHOTOS} {FILL}; zpool sync tank; {SPOIL}", timeout=300)
    assert guest.run(python_in_guest("start_scrub", guid)).stdout == ""
    guest.run("zpool wait -t scrub tank", timeout=300)
    status = guest.run("zpool status tank").stdout
    assert "scrub repaired" in status
    assert "repaired 0B" not in status
    assert "errors: No known data errors" in status
    guest.run(CHECK)

    guest.run("echo 1 > /sys/module/zfs/parameters/zfs_scan_suspend_progress")
    try:
        guest.run("zpool scrub tank && zpool scrub -p tank")
        assert "scrub paused" in guest.run("zpool status tank").stdout
        progress = pool_of(cli.agent).scan_progress
        assert progress
        assert progress.paused_at
        assert guest.run(python_in_guest("start_scrub", guid)).stdout == ""
        assert "scrub in progress" in guest.run("zpool status tank").stdout
        assert "currently scrubbing" in guest.run(python_in_guest("start_scrub", guid)).stdout
    finally:
        guest.run(
            "echo 0 > /sys/module/zfs/parameters/zfs_scan_suspend_progress; zpool wait -t scrub tank", timeout=300
        )
    assert "No pool with the guid 42 is imported" in guest.run(python_in_guest("start_scrub", "42")).stdout
