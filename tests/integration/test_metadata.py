"""What metadata would take up on special vdevs: said from a count on raidz, then measured on a special mirror."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.integration.command_line import CommandLine, cli
from tests.lab.guest import Guest

pytestmark = [pytest.mark.lab, pytest.mark.long]
__all__ = ["cli"]

WITHIN = 0.15
"""Said and measured may differ by so much."""

PLAIN, SPLIT = "plain", "split"
HARD_DISKS = ("hdd0", "hdd1", "hdd2", "hdd3")
SSDS = (("nvme0", "sata0"), ("nvme1", "sas0"))

SMALL_FILES = """
for d in range(20):
    os.mkdir(f"{root}/{d}")
    for f in range(30):
        with open(f"{root}/{d}/file-{f}", "wb") as out:
            out.write(BYTES[f * 37:][:1000 + f * 699])
"""
LARGE_FILES = """
for f in range(3):
    with open(f"{root}/{f}", "wb") as out:
        for n in range(1000):
            out.seek(n << 22)
            out.write(BYTES[n:][:4096])
"""
DEEP = """
def grow(path, depth):
    for n in range(4):
        below = f"{path}/folder-with-a-name-{n}"
        os.mkdir(below)
        for f in range(2):
            with open(f"{below}/{f}", "wb") as out:
                out.write(b"x")
            os.setxattr(f"{below}/{f}", "user.said", BYTES[f:][:600])
        if depth:
            grow(below, depth - 1)
grow(root, 3)
"""
GROW = "import os, random, sys\nroot = sys.argv[1]\nBYTES = random.Random(7).randbytes(1 << 20)\n"


@dataclass(frozen=True)
class Tree:
    """A file tree: the code that makes it below `root`, and the properties of its dataset."""

    code: str
    properties: str


TREES = {
    "many small files": Tree(SMALL_FILES, ""),
    "few large files, mostly holes": Tree(LARGE_FILES, "-o recordsize=4k"),
    "deep directories with attributes": Tree(DEEP, "-o xattr=sa"),
}


def make_pools(guest: Guest) -> None:
    """A raidz of hard disks, and a pool with a special mirror."""
    disks = {each: disk.by_id for each, disk in guest.disks().items()}
    guest.run(
        "zpool destroy tank; udevadm settle; for d in {}; do sgdisk --zap-all $d; done; udevadm settle".format(
            " ".join(disks[each] for each in HARD_DISKS)
        )
    )
    raidz, mirror, special = (" ".join(disks[each] for each in group) for group in (HARD_DISKS, *SSDS))
    guest.run(f"zpool create -o ashift=12 {PLAIN} raidz1 {raidz}")
    guest.run(f"zpool create -o ashift=12 {SPLIT} mirror {mirror} special mirror {special}")


def plant(guest: Guest, pool: str, name: str) -> None:
    """Make a tree, and let all that it freed meanwhile be free."""
    tree, dataset = TREES[name], f"{pool}/{name.split(maxsplit=1)[0]}"
    guest.run(f"zfs create {tree.properties} {dataset}")
    guest.run(["python3", "-c", GROW + tree.code, f"/{dataset}"], timeout=900)
    guest.run(f"for i in 1 2 3 4; do zpool sync {pool}; sleep 1; done")


def said(cli: CommandLine, pool: str) -> dict[str, Any]:
    """What the command line says of the pool's metadata."""
    done = cli("advise", pool, "--metadata", "--seconds", "20", "--json")
    assert done.code == 0, done.stderr
    metadata: dict[str, Any] = json.loads(done.stdout)["metadata"]
    return metadata


def held_by_special(guest: Guest, pool: str) -> int:
    """ALLOC of the special mirror."""
    lines = guest.run(f"zpool list -vHp {pool}").stdout.splitlines()
    after = lines[next(number for number, line in enumerate(lines) if line.split()[0] == "special") + 1]
    return int(after.split()[2])


def test_what_is_said_of_metadata_on_raidz_is_what_special_vdevs_then_hold(cli: CommandLine) -> None:
    """Proves: the size is worked out from what zdb counts on a raidz, parity and padding taken off, and a pool with
    the same trees and a special mirror holds as much there within 15 %, with one, two and three of them."""
    make_pools(cli.guest)
    for name in TREES:
        for pool in (PLAIN, SPLIT):
            plant(cli.guest, pool, name)
        found = said(cli, PLAIN)
        expected, measured = found["counted"]["size"]["metadata_bytes"], held_by_special(cli.guest, SPLIT)
        print(f"with {name}: said {expected}, measured {measured}, off by {expected / measured - 1:+.1%}", flush=True)
        assert expected == pytest.approx(measured, rel=WITHIN)
        assert not found["counted"]["count"]["is_partial"]
