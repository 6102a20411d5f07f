"""Dead logs on real OpenZFS: replaced, taken out, and kept while writes wait in them."""

import json
import re
from typing import Any

import pytest

from tests.integration.command_line import CommandLine, cli
from tests.integration.test_endings import wish
from tests.integration.test_stories import CHECK, PHOTOS

pytestmark = pytest.mark.lab
__all__ = ["cli"]

SSDS = ("nvme0", "nvme1")
LOGS = "/var/lib/dead-logs"
MAKE_LOGS = f"mkdir -p {LOGS}; truncate -s 256M {LOGS}/a {LOGS}/b"


def pool(cli: CommandLine) -> dict[str, Any]:
    (found,) = json.loads(cli("inventory", "--json").stdout)["pools"]
    assert isinstance(found, dict)
    return found


def test_a_dead_log_is_replaced_and_the_undo_frees_the_new_one(cli: CommandLine) -> None:
    """Proves: a single log that is FAULTED is taken out and a mirror on two SSDs takes its place, the pool is ONLINE
    and has every byte; after the undo the SSDs are blank, and the dead log stays out."""
    guest = cli.guest
    guest.run(PHOTOS)
    blank = guest.digests(*SSDS)
    guest.run(f"{MAKE_LOGS}; zpool add tank log {LOGS}/a")
    guid = pool(cli)["logs"][0]["guid"]
    guest.run(f"zpool offline -f tank {guid}")
    refused = cli("plan", "--pool", "tank", *wish(guest, *SSDS))
    assert refused.code == 3
    assert f"zpool remove tank {guid}" in refused.stderr
    run = cli.apply(*wish(guest, *SSDS), "--replace-dead-log", "auto")
    now = pool(cli)
    assert (now["state"], [len(top["children"]) for top in now["logs"]]) == ("ONLINE", [2])
    guest.run(CHECK)
    ending = cli.ending("undo", run)
    assert ending.state == "undone"
    assert "is not restored" in ending.notes
    assert (pool(cli)["state"], pool(cli)["logs"]) == ("ONLINE", [])
    assert guest.digests(*SSDS) == blank
    guest.run(CHECK)


@pytest.mark.long
def test_a_mirrored_log_that_was_missing_at_the_import_is_taken_out(cli: CommandLine) -> None:
    """Proves: of a log that `zpool import -m` went without it is said that writes can be lost; it is taken out as a
    whole, the pool imports again, and there is nothing to undo."""
    guest = cli.guest
    guest.run(PHOTOS)
    guest.run(f"{MAKE_LOGS}; zpool add tank log mirror {LOGS}/a {LOGS}/b; zpool export tank; rm {LOGS}/a {LOGS}/b")
    guest.run("zpool import -m tank")
    assert "was imported without its log" in cli("health").stdout
    run = cli.apply("--remove-dead-log", "auto")
    assert (pool(cli)["state"], pool(cli)["logs"]) == ("ONLINE", [])
    undo = cli("undo", run, "--yes")
    assert undo.code != 0
    assert "nothing to undo" in undo.stdout + undo.stderr
    guest.run("zpool export tank; zpool import tank")
    guest.run(CHECK)


UNMOUNTED = {
    "be": ("-o canmount=noauto -o mountpoint=/", "zfsutil"),
    "old": ("-o mountpoint=legacy", "rw"),
    "off": ("-o canmount=off -o mountpoint=/tank/off", "zfsutil"),
}
"""Filesystems that OpenZFS does not mount by itself: how they are made, and mounted all the same."""

WRITES = "for n in 1 2 3; do dd if=/dev/urandom of=/x/{0}/file$n bs=4k count=1 oflag=sync status=none; done;"


def test_a_log_stays_while_writes_wait_in_it_until_what_is_named_has_written_them_out(cli: CommandLine) -> None:
    """Proves: after a crash filesystems that are not mounted keep a log; the undo is refused before it begins and names
    them, and each command that it names writes out what one of them waits for, and leaves nothing mounted."""
    guest = cli.guest
    run = cli.apply(*wish(guest, *SSDS))
    make = "".join(f"zfs create {options} tank/{name};" for name, (options, _mount) in UNMOUNTED.items())
    mount = "".join(
        f"mkdir -p /x/{name}; mount -t zfs -o {options} tank/{name} /x/{name};"
        for name, (_made, options) in UNMOUNTED.items()
    )
    first = "".join(f"dd if=/dev/zero of=/x/{name}/a bs=4k count=1 oflag=sync status=none;" for name in UNMOUNTED)
    writes = "".join(WRITES.format(name) for name in UNMOUNTED)
    guest.run(
        f"{make} {mount} {first} zpool sync tank; zpool freeze tank; {writes} sha256sum /x/*/file* > /root/x.sha256;"
        "zpool export tank; zpool import -N tank"
    )
    refused = cli("undo", run, "--yes")
    assert refused.code == 3, refused
    commands = re.findall("`([^`]+)`", " ".join((refused.stdout + refused.stderr).split()))
    assert [sum(f" tank/{name} " in command for command in commands) for name in UNMOUNTED] == [1, 1, 1], commands
    guest.run(" && ".join(commands))
    assert guest.run("findmnt --types zfs", check=False).stdout == ""
    assert cli.ending("undo", run).state == "undone"
    guest.run(f"{mount} sha256sum --quiet --check /root/x.sha256; umount /x/*")
