"""py-libzfs and `zpool status -j` on the same real pools: not a field may differ.

Needs the Python module `libzfs` in the guest, where it is not part of the image; without it the tests are skipped.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from nasadvisor.domain.storage.inventory import Pool
from tests.integration.agent import PYTHON, Agent
from tests.lab.guest import Guest

pytestmark = [pytest.mark.lab, pytest.mark.long]

FILES = "/root/files"
SUSPEND_SCAN = "/sys/module/zfs/parameters/zfs_scan_suspend_progress"

# Shell commands, with $F the directory of twelve empty files f1 … f12; what they make is called `other`.
SHAPES = {
    "mirrored log, caches": "zpool create other mirror $F/f1 $F/f2 log mirror $F/f3 $F/f4 cache $F/f5 $F/f6",
    "single log": "zpool create -o ashift=12 other mirror $F/f1 $F/f2 log $F/f3",
    "raidz": "zpool create -o ashift=13 other raidz2 $F/f1 $F/f2 $F/f3 $F/f4",
    "draid": "zpool create other draid1:2d:5c:1s $F/f1 $F/f2 $F/f3 $F/f4 $F/f5",
    "degraded": "zpool create other mirror $F/f1 $F/f2 && zpool offline other $F/f1",
    "gone": (
        "zpool create other mirror $F/f1 $F/f2 log mirror $F/f3 $F/f4 cache $F/f5 spare $F/f6 && "
        "zpool export other && rm $F/f1 $F/f3 $F/f5 $F/f6 && zpool import -d $F other"
    ),
    "checkpoint": "zpool create other $F/f1 && zpool checkpoint other",
    "classes": "zpool create other mirror $F/f1 $F/f2 special mirror $F/f3 $F/f4 dedup mirror $F/f5 $F/f6 spare $F/f7",
    "spare in use": "zpool create other mirror $F/f1 $F/f2 spare $F/f7 && zpool replace other $F/f1 $F/f7",
    "replacing": (
        f"zpool create other mirror $F/f1 $F/f2 mirror $F/f3 $F/f4 && echo 1 > {SUSPEND_SCAN} && "
        "zpool replace other $F/f1 $F/f5 && zpool replace other $F/f3 $F/f6"
    ),
    "hole": "zpool create other $F/f1 log $F/f2 && zpool remove other $F/f2 && zpool add other $F/f3",
    "odd names": """f="$F/ü  \\"q\\" it's"; truncate -s 256M "$f" && zpool create "other b:c" "$f" """,
    "locked": (
        "echo passphrase > $F/key && zpool create other $F/f1 && zfs create -o encryption=on -o keyformat=passphrase "
        "-o keylocation=file://$F/key other/secret && zfs umount other/secret && zfs unload-key other/secret"
    ),
    "read-only": "zpool create other $F/f1 && zpool export other && zpool import -o readonly=on -d $F other",
    "old": "zpool create -d other $F/f1",
}

MAKE_FILES = "mkdir -p $F && cd $F && for n in 1 2 3 4 5 6 7 8 9 10 11 12; do truncate -s 256M f$n; done"
CLEAR_AWAY = (
    f'echo 0 > {SUSPEND_SCAN}; zpool list -H -o name | grep ^other | while read -r p; do zpool destroy "$p"; done'
)


@pytest.fixture(scope="module")
def with_binding(sourced_guest: Guest) -> Guest:
    if sourced_guest.run([PYTHON, "-c", "import libzfs"], check=False).code:
        pytest.skip("py-libzfs (the Python module libzfs) is not installed in the guest.")
    return sourced_guest


@pytest.fixture
def other(with_binding: Guest) -> Iterator[Guest]:
    """The guest, in which a pool `other` is taken away afterwards."""
    with_binding.run(f"F={FILES}; {MAKE_FILES}")
    yield with_binding
    with_binding.run(f"{CLEAR_AWAY}; rm -rf {FILES}")


def pools(guest: Guest, reader: str) -> tuple[Pool, ...]:
    """As that reader sees them, without the space in use: it changes from one moment to the next."""
    with Agent(guest, f"NASADVISOR_POOL_READER={reader}") as agent:
        return tuple(
            replace(pool, allocated_bytes=0, checkpoint="some" if pool.checkpoint else "")
            for pool in agent.inventory().pools
        )


@pytest.mark.parametrize("shape", SHAPES)
def test_both_readers_see_the_same(other: Guest, shape: str) -> None:
    other.run(f"F={FILES}; set -e; {SHAPES[shape]}")
    read = pools(other, "json")
    assert any(pool.name.startswith("other") for pool in read)
    assert pools(other, "libzfs") == read
