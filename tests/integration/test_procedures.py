"""Procedures, typed word for word on real OpenZFS: each in the state for which it is written, with the values of its
finding, until nothing is left to be done; the data are there to the last byte.
"""

import pytest

from nasadvisor.domain.statements import Statement
from nasadvisor.explain.procedures import PROCEDURES, command_for
from tests.integration.agent import Agent
from tests.integration.command_line import CommandLine, cli
from tests.integration.test_commands import CHECK, DEGRADE, KEPT, PLACE, pool_named, walked
from tests.integration.test_endings import wish
from tests.lab.guest import Guest
from tests.unit.explain.named_commands import commands_in

pytestmark = [pytest.mark.lab, pytest.mark.long]
__all__ = ["cli", "walked"]


def typed(name: str, code: str, values: dict[str, str], start: str = "") -> list[str]:
    """The commands of a procedure for a code that begin so, in order; of its sentences too."""
    found = []
    for step in PROCEDURES[name].steps_for(code):
        named = (command for text in (step.do, step.stake, step.done, step.otherwise) for command in commands_in(text))
        found += [each for each in (*step.commands, *named) if each.startswith(start)]
    return list(dict.fromkeys(command_for(each, values) for each in found))


def values_of(statement: Statement) -> dict[str, str]:
    return {name: str(value) for name, value in statement.values.items()}


LOGS = {
    "log-missing": "zpool offline -f walk {0}/l0; zpool offline -f walk {0}/l1",
    "log-one-side": "zpool offline -f walk {0}/l0",
    "log-failing": "",
    "log-lost": "zpool export walk; rm {0}/l0 {0}/l1; zpool import -m -d {0} walk",
}


@pytest.mark.long
@pytest.mark.parametrize("code", LOGS)
def test_a_failed_log_is_out_after_the_steps_for_it(walked: Agent, code: str) -> None:
    """Proves: every command of the procedure ends with 0 in this state; after the last the pool is ONLINE without the
    failed log, and a plan for a new one on two SSDs is made as the last step names it."""
    guest = walked.guest
    guest.run(
        f"cd {PLACE} && truncate -s 128M d0 d1 l0 l1 && zpool create -o ashift=12 walk mirror $PWD/d0 $PWD/d1 "
        f"log mirror $PWD/l0 $PWD/l1 && {KEPT}"
    )
    if code == "log-failing":
        for side in pool_named(walked, "walk")[0].logs[0].children:
            guest.run(["python3", "-c", DEGRADE, "walk", side.guid])
    guest.run(LOGS[code].format(PLACE))
    _pool, found = pool_named(walked, "walk")
    for command in typed("failed-log", code, values_of(found[code]), "z"):
        if command not in ("zpool remove", "zpool status"):  # those are spoken of
            guest.run(command)
    pool, _found = pool_named(walked, "walk")
    assert pool.state == "ONLINE"
    assert [len(tuple(log.leaves())) for log in pool.logs] == ([1] if code == "log-one-side" else [])
    guest.run(CHECK)
    disks = guest.disks()
    (plan,) = typed("failed-log", code, {"pool": "tank"}, "nasadvisor plan")
    words = [disks["nvme0"].by_id if word == "DISK1" else disks["nvme1"].by_id if word == "DISK2" else word
             for word in plan.split()[1:]]  # fmt: skip
    planned = walked.command(*words)
    assert planned.code == 0, planned.stderr


BY_GUID = "zpool import {guid}"


def no_import(guid: str, start: str) -> str:
    """The one command of the procedure that begins so."""
    (command,) = typed("no-import", "", {"guid": guid, "pool": "tank"}, start)
    return command


def test_a_pool_that_is_away_comes_back_by_the_steps(walked: Agent) -> None:
    """Proves: an exported pool is listed by both commands and imported by its guid; without writing it is read below
    /mnt and exported again; one whose log is gone is refused until it is imported with -m."""
    guest = walked.guest
    log = guest.disks()["nvme0"].by_id
    pool, _found = pool_named(walked, "tank")
    guest.run("zpool export tank")
    for look in ("zpool import", no_import(pool.guid, "zpool import -d")):
        assert f"id: {pool.guid}" in guest.run(look).stdout
    assert "WD-NCGWBBP0" in guest.run(no_import(pool.guid, "lsblk")).stdout
    guest.run(no_import(pool.guid, BY_GUID))
    assert "tank" in guest.run("zpool list").stdout
    guest.run(f"echo x > /tank/x; {no_import(pool.guid, 'zpool export')}")
    guest.run(no_import(pool.guid, "zpool import -o readonly"))
    assert guest.run("cat /mnt/tank/x").stdout == "x\n"
    guest.run(f"zpool export tank; zpool import tank; zpool add tank log {log}; zpool export tank")
    guest.run(f"zpool labelclear -f {log}-part1")
    assert guest.run(no_import(pool.guid, BY_GUID), check=False).code != 0
    guest.run(no_import(pool.guid, "zpool import -m"))
    guest.run(no_import(pool.guid, "zpool status -v"))
    guest.run(f"{no_import(pool.guid, 'zpool scrub')}; zpool wait -t scrub tank")
    guest.run("cat /tank/x")


CRASHED = (
    f"cd {PLACE} && truncate -s 128M d0 && mkdir old && zpool create -o ashift=12 walk $(losetup --find --show d0) && "
    f"{KEPT} && zpool sync walk && cp d0 old/d0"
)


def copy_of_pool(guest: Guest, make: str) -> str:
    """The guid of the pool walk; its device is now another that is as `make` left it, and nothing is imported."""
    guid = guest.run("zpool get -H -o value guid walk").stdout.strip()
    guest.run(f"cd {PLACE} && {make}; zpool export walk; losetup -D; mv d0 gone; mv crashed d0; losetup --find d0")
    return guid


@pytest.mark.long
def test_a_pool_of_another_host_is_refused_until_it_is_imported_with_force(walked: Agent) -> None:
    """Proves: what another host had imported is refused by guid, and comes with every byte by the step for it."""
    guest = walked.guest
    guest.run("echo 12345 > /sys/module/spl/parameters/spl_hostid")
    guest.run(CRASHED)
    guid = copy_of_pool(guest, "cp d0 crashed")
    guest.run("echo 54321 > /sys/module/spl/parameters/spl_hostid")
    refused = guest.run(no_import(guid, BY_GUID), check=False)
    assert "in use from another system" in refused.stdout + refused.stderr
    guest.run(no_import(guid, "zpool import -f"))
    guest.run(f"{CHECK}; echo 0 > /sys/module/spl/parameters/spl_hostid")


@pytest.mark.long
def test_a_pool_whose_last_writes_are_damaged_goes_back_by_the_steps(walked: Agent) -> None:
    """Proves: with the newest labels over older data no import works; the step that asks changes nothing and says how
    far it would go back, and the command that it names then imports the pool."""
    guest = walked.guest
    guest.run(CRASHED)
    new = "echo more > /walk/more; zpool sync walk; cp d0 crashed"
    older = "dd if=old/d0 of=crashed bs=512K seek=1 skip=1 count=$((256 - 2)) conv=notrunc status=none"
    guid = copy_of_pool(guest, f"{new}; {older}")
    assert guest.run(no_import(guid, BY_GUID), check=False).code != 0
    asked = guest.run(f"{no_import(guid, 'zpool import -F -n')} 2>&1", check=False).stdout
    assert "Would be able to return walk" in asked
    assert guest.run("zpool list walk", check=False).code != 0
    guest.run(no_import(guid, "zpool import -F {guid}"))
    guest.run(CHECK)


def test_a_disk_is_found_taken_offline_and_brought_back_by_the_steps(walked: Agent) -> None:
    """Proves: every command works on a disk of a pool, but for the lights that the lab does not have; what is read
    says the serial, and the disk goes and comes back."""
    guest = walked.guest
    pool, _found = pool_named(walked, "tank")
    leaf = pool.data[0].children[0]
    disk = guest.disks()["hdd0"].by_id
    values = {"pool": "tank", "guid": leaf.guid, "path": disk}
    commands = [each for each in typed("which-disk", "device-errors", values) if not each.startswith("ledctl")]
    ours = [each for each in commands if each.startswith("nasadvisor ")]
    for command in ours:
        told = walked.command(*command.replace("DISK", disk).split()[1:])
        assert (told.code, leaf.guid in told.stdout) == (0, True), told.stderr
    theirs = [each for each in commands if each not in ours]
    said = {command: guest.run(command.replace(" GUID", f" {leaf.guid}")).stdout for command in theirs}
    assert any("WD-NCGWBBP0" in text for command, text in said.items() if command.startswith("smartctl"))
    assert any(leaf.guid in text for command, text in said.items() if command.startswith("zpool status -g"))
    assert f"zpool offline tank {leaf.guid}" in said
    assert pool_named(walked, "tank")[0].state == "ONLINE"


@pytest.mark.long
def test_a_worn_ssd_goes_from_its_pool_by_the_steps(walked: Agent) -> None:
    """Proves: a cache is removed, also after a checkpoint is discarded, and a disk with data is replaced."""
    guest = walked.guest
    disks = guest.disks()
    guest.run(f"cp /bin/bash /tank/kept; zpool add tank cache {disks['nvme0'].by_id}; zpool checkpoint tank")
    pool, _found = pool_named(walked, "tank")
    guids = {"zpool remove": pool.caches[0].guid, "zpool replace": pool.data[0].children[0].guid}
    values = {"path": disks["nvme0"].by_id}
    commands = typed("worn-ssd", "worn", values, "zpool") + typed("worn-ssd", "worn", values, "smartctl")
    commands = [each for each in commands if each not in ("zpool add", "zpool status")]
    commands.sort(key=lambda each: not each.startswith("zpool checkpoint"))
    for command in commands:
        guid = guids.get(" ".join(command.split()[:2]), "")
        done = command.replace("POOL", "tank").replace("GUID", guid)
        guest.run(done.replace("/dev/disk/by-id/NEW", disks["nvme1"].by_id))
        guest.run("zpool wait -t discard,resilver,replace tank")
    pool, _found = pool_named(walked, "tank")
    assert (pool.state, pool.caches) == ("ONLINE", ())
    assert guids["zpool replace"] not in {leaf.guid for top in pool.data for leaf in top.leaves()}
    guest.run("cmp /bin/bash /tank/kept")


def test_what_is_left_of_a_run_whose_journal_is_gone_is_removed_by_the_last_step(cli: CommandLine) -> None:
    """Proves: the commands that are named for it take the log out, and the slice is seen with its PARTUUID."""
    guest = cli.guest
    run = cli.apply(*wish(guest, "nvme0", "nvme1"))
    guest.run(f"echo nonsense > {cli.journal(run)}")
    log = pool_named(cli.agent, "tank")[0].logs[0].guid
    for command in typed("stopped-undo", "run-unreadable", {"pool": "tank"}):
        if command.startswith(("zpool status -g", "zpool remove", "lsblk")):
            guest.run(command.replace("GUID", log))
    assert pool_named(cli.agent, "tank")[0].logs == ()
