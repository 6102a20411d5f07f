"""Replacements on real OpenZFS: each state is staged, what would be printed is typed word for word, and the pool is
whole again, with every other device of it and every byte.

`nasadvisor replace` prints the same from the same parts; `test_the_command_line_prints_what_was_typed` holds that.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from nasadvisor.domain.health.replacement.advice import Replacement, progress_of, replacement_of
from nasadvisor.domain.health.replacement.commands import NEW
from nasadvisor.domain.health.replacement.evidence import Said, Suspicion, survey_of, troubled
from nasadvisor.domain.health.replacement.member import Identity, member_with
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev
from tests.integration.agent import Agent
from tests.lab.guest import Guest

pytestmark = pytest.mark.lab

SUSPEND = "/sys/module/zfs/parameters/zfs_scan_suspend_progress"
KEPT = "cp -r /usr/share/doc /rack/kept && zpool sync rack"
CHECK = "diff -r /usr/share/doc /rack/kept"
DISKS = ("hdd0", "hdd1", "hdd2", "hdd3", "nvme0", "nvme1", "sata0", "sas0")


@pytest.fixture
def rack(agent: Agent) -> Iterator[Agent]:
    """The agent in a guest without a pool, so that every disk is free."""
    agent.guest.run("zpool destroy -f tank; for d in " + names(agent.guest, *DISKS) + "; do wipefs -aq $d*; done")
    agent.guest.run("udevadm settle")
    yield agent
    agent.guest.run(f"echo 0 > {SUSPEND}; zinject -c all; zpool destroy -f rack", check=False)


def names(guest: Guest, *labels: str) -> str:
    disks = guest.disks()
    return " ".join(disks[label].by_id for label in labels)


@dataclass(frozen=True)
class Case:
    """A pool, what happens to it, and what is asked about: the first leaf of it that is on this disk.

    `verbs` are those of the commands that are printed, `typed` the ones that are typed (all where none stand there);
    `held` the codes of what holds it back.
    """

    make: str
    harm: str
    asks: str
    verbs: tuple[str, ...]
    typed: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    says: str = ""
    stays: bool = False


MIRROR = "zpool create -o ashift=12 rack mirror {hdd0} {hdd1}"
RAIDZ = "zpool create -o ashift=12 rack raidz1 {hdd0} {hdd1} {hdd2}"
FULL = " && zpool add rack spare {hdd3} {nvme0} {nvme1} {sata0} {sas0}"
CASES = {
    "side of a mirror failed": Case(MIRROR, "zpool offline -f rack {hdd0}", "hdd0", ("replace",)),
    "side of a mirror of three failed": Case(
        "zpool create -o ashift=12 rack mirror {hdd0} {hdd1} {hdd2}",
        "zpool offline -f rack {hdd2}",
        "hdd2",
        ("replace",),
    ),
    "side taken offline by hand": Case(
        MIRROR, "zpool offline rack {hdd0}", "hdd0", ("online", "replace"), ("online",), stays=True
    ),
    "side taken offline and replaced": Case(
        MIRROR, "zpool offline rack {hdd0}", "hdd0", ("online", "replace"), ("replace",)
    ),
    "raidz1 failed": Case(RAIDZ, "zpool offline -f rack {hdd1}", "hdd1", ("replace",)),
    "raidz2, two failed": Case(
        "zpool create -o ashift=12 rack raidz2 {hdd0} {hdd1} {hdd2} {hdd3}",
        "zpool offline -f rack {hdd0} && zpool offline -f rack {hdd1}",
        "hdd0",
        ("replace",),
    ),
    "raidz3 failed": Case(
        "zpool create -o ashift=12 rack raidz3 {hdd0} {hdd1} {hdd2} {hdd3}",
        "zpool offline -f rack {hdd3}",
        "hdd3",
        ("replace",),
    ),
    "dRAID failed, its own spare took over": Case(
        "zpool create -o ashift=12 rack draid1:1d:4c:1s {hdd0} {hdd1} {hdd2} {hdd3}",
        "zpool offline -f rack {hdd0} && zpool replace -w rack {hdd0} draid1-0-0",
        "hdd0",
        ("replace",),
    ),
    "spare took over, and a new disk comes": Case(
        f"{RAIDZ} && zpool add rack spare {{hdd3}}",
        "zpool offline -f rack {hdd0} && zpool replace -w rack {hdd0} {hdd3}",
        "hdd0",
        ("replace",),
    ),
    "spare took over and stays": Case(
        f"{RAIDZ}{FULL}",
        "zpool offline -f rack {hdd0} && zpool replace -w rack {hdd0} {hdd3}",
        "hdd0",
        ("replace", "detach"),
        ("detach",),
    ),
    "side of a special mirror failed": Case(
        f"{RAIDZ} special mirror {{sata0}} {{sas0}}", "zpool offline -f rack {sata0}", "sata0", ("replace",)
    ),
    "disk without redundancy, about to fail": Case(
        "zpool create -o ashift=12 rack {hdd0}", "", "hdd0", ("replace",), says="disk-failing"
    ),
    "disk of a raidz, about to fail, no slot for both": Case(
        f"{RAIDZ}{FULL}", "", "hdd0", ("offline", "replace"), ("offline",), says="disk-failing"
    ),
    "disk of a raidz, about to fail, beside a new one": Case(RAIDZ, "", "hdd2", ("replace",), says="disk-prefail"),
    "healthy disk that somebody wants to replace": Case(MIRROR, "", "hdd1", ("replace",)),
    "vdev of ashift 9, new disk of 4096 bytes": Case(
        "zpool create -o ashift=9 rack mirror {sata0} {sas0}", "zpool offline -f rack {sata0}", "sata0", ("replace",)
    ),
    "checkpoint": Case(
        MIRROR,
        "zpool checkpoint rack && zpool offline -f rack {hdd0}",
        "hdd0",
        ("replace",),
        held=("replace-checkpoint",),
    ),
    "scrub runs, disk works": Case(
        MIRROR,
        f"echo 1 > {SUSPEND} && zpool scrub rack",
        "hdd0",
        ("replace",),
        held=("replace-scrub",),
        says="media-errors",
    ),
    "another resilver runs": Case(
        "zpool create -o ashift=12 rack mirror {hdd0} {hdd1} mirror {hdd2} {hdd3}",
        f"echo 1 > {SUSPEND} && zpool replace rack {{hdd0}} {{nvme0}} && zpool offline -f rack {{hdd2}}",
        "hdd2",
        ("replace",),
        held=("replace-busy",),
    ),
    "replacement runs, the old disk fails": Case(
        RAIDZ,
        f"echo 1 > {SUSPEND} && zpool replace rack {{hdd0}} {{nvme0}} && zpool offline -f rack {{hdd0}}",
        "hdd0",
        (),
        held=("replace-running",),
    ),
    "a disk of its raidz has unreadable sectors": Case(
        RAIDZ,
        "",
        "hdd0",
        ("replace",),
        held=("replace-sibling",),
        says="reallocated-growing",
    ),
    "spare is gone": Case(
        f"{MIRROR} && zpool add rack spare {{hdd2}}",
        "zpool export rack && zpool labelclear -f {hdd2}-part1 && zpool import rack",
        "spare",
        ("remove", "add"),
    ),
    "cache failed": Case(f"{MIRROR} cache {{nvme0}}", "zpool offline -f rack {nvme0}", "nvme0", ("remove",)),
    "side of a log failed": Case(
        f"{MIRROR} log mirror {{nvme0}} {{nvme1}}", "zpool offline -f rack {nvme0}", "nvme0", ("plan",)
    ),
    "log failed": Case(f"{MIRROR} log {{nvme0}}", "zpool offline -f rack {nvme0}", "nvme0", ("plan",)),
    "disk is gone from the host": Case(
        MIRROR, "zpool export rack && zpool labelclear -f {hdd0}-part1 && zpool import rack", "absent", ("replace",)
    ),
}


def pool_of(inventory: Inventory) -> Pool:
    (found,) = inventory.pools
    return found


def leaf_on(guest: Guest, inventory: Inventory, label: str) -> Vdev:
    """The leaf that is asked about: on a disk, the spare, or the one that does not work."""
    pool = pool_of(inventory)
    if label == "spare":
        return pool.spares[0]
    leaves = [leaf for tops in pool.by_class().values() for top in tops for leaf in top.leaves()]
    if label == "absent":
        return next(leaf for leaf in leaves if leaf.state != "ONLINE")
    links = set(guest.disks()[label].links)
    return next(leaf for leaf in leaves if leaf.path.removesuffix("-part1") in links)


def told(guest: Guest, inventory: Inventory, case: Case) -> Said:
    """What SMART would say: of the disk that is asked about, and of a sibling where one is to have trouble."""
    found = {}
    by_link = {link: disk for disk in inventory.disks for link in disk.links}
    for label, code in ((case.asks, case.says), ("hdd1", "pending-sectors" if "replace-sibling" in case.held else "")):
        if code:
            disk = by_link[guest.disks()[label].by_id]
            found[disk.key] = (Finding(code, "{disk}", {"disk": disk.label}, Level.WARNING),)
    return found


def ask(agent: Agent, case: Case, guid: str = "") -> Replacement:
    inventory = agent.inventory()
    survey = survey_of(inventory, told(agent.guest, inventory, case))
    member = member_with(guid or leaf_on(agent.guest, inventory, case.asks).guid, survey.members)
    assert member
    return replacement_of(member, survey)


def what_holds_it_back(guest: Guest, found: Replacement) -> None:
    """Follow what is said: the command that a hold names, or its end."""
    for hold in found.holds:
        for command in re.findall("`(zpool [^`]+)`", str(hold)):
            if not command.startswith("zpool detach"):
                guest.run(command)
    guest.run(f"echo 0 > {SUSPEND}; zpool wait -t discard,scrub,resilver,replace rack")


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_each_printed_command_is_right_in_the_state_in_which_it_is_printed(rack: Agent, name: str) -> None:
    """Proves: in this state the device is told for certain, what holds it back is said and ends as it says, each
    command that is typed ends with 0, no other device leaves the pool, and every byte is there."""
    case, guest = CASES[name], rack.guest
    paths = {label: disk.by_id for label, disk in guest.disks().items()}
    guest.run(f"{case.make.format_map(paths)} && {KEPT}")
    if case.harm:
        guest.run(case.harm.format_map(paths))
    guest.run("udevadm settle")
    found = ask(rack, case)
    others = {leaf.guid for leaf in pool_of(rack.inventory()).vdevs() if leaf.path} - {found.member.leaf.guid}
    assert [each.code for each in found.holds] == list(case.held)
    assert tuple(each.argv[1] for each in found.commands) == case.verbs
    expected = Identity.ABSENT if case.asks in ("absent", "spare") else Identity.AGREES
    assert found.member.identity is expected
    if found.member.pool.scan == "resilver":
        assert progress_of(found.member.pool, datetime.now(UTC))
    if case.held:
        what_holds_it_back(guest, found)
        if not found.commands:  # what ran was all that there was to do
            assert pool_of(rack.inventory()).state == "ONLINE"
            guest.run(CHECK)
            return
        found = ask(rack, Case(case.make, "", case.asks, case.verbs), found.member.leaf.guid)
        assert found.holds == ()
    for command in found.commands:
        if case.typed and command.argv[1] not in case.typed:
            continue
        line = shlex.join(command.argv).replace(NEW, paths["sas0"])
        if command.argv[0] == "nasadvisor":
            planned = rack.command(*shlex.split(line.replace(paths["sas0"], paths["sata0"]))[1:])
            assert planned.code == 0, planned.stderr
        else:
            guest.run(line)
            guest.run("zpool wait -t resilver,replace rack; zpool status rack")
    guest.run(CHECK)
    _ends_whole(rack, case, found, others)


def _ends_whole(rack: Agent, case: Case, found: Replacement, others: set[str]) -> None:
    pool = pool_of(rack.inventory())
    now = {leaf.guid for leaf in pool.vdevs() if leaf.path}
    assert others - now <= set(), "another device left the pool"
    if "plan" in case.verbs:
        return
    if case.typed == ("offline",):
        assert next(leaf.state for leaf in pool.vdevs() if leaf.guid == found.member.leaf.guid) == "OFFLINE"
        return
    gone = found.member.leaf.guid not in now
    assert gone is not case.stays
    if case.harm.count("offline -f") < 2:
        assert pool.state == "ONLINE"
    old = found.member.partition
    if gone and old and "replace" in case.verbs:
        rack.guest.run(f"zpool labelclear {old.path} || zpool labelclear -f {old.path} || true")


def test_a_healthy_pool_has_nobody_in_trouble_and_one_with_errors_of_two_disks_has_a_cable(rack: Agent) -> None:
    """Proves: checksum errors of two disks on one controller, made by zinject, are called a cable; the command that is
    named clears them, and before that and afterwards no disk is named."""
    guest = rack.guest
    paths = {label: disk.by_id for label, disk in guest.disks().items()}
    guest.run(f"zpool create -o ashift=12 rack raidz2 {paths['hdd0']} {paths['hdd1']} {paths['hdd2']} {paths['hdd3']}")
    guest.run(KEPT)
    assert troubled(survey_of(rack.inventory(), {})) == ()
    for label in ("hdd0", "hdd1"):
        guest.run(f"zinject -d {paths[label]} -e corrupt -T read -f 5 rack")
    guest.run("zpool scrub -w rack; zinject -c all")
    survey = survey_of(rack.inventory(), {})
    named = troubled(survey)
    assert {each.disk.identity.serial for each in named if each.disk} == {"WD-NCGWBBP0", "WD-NCGWBBP1"}
    for member in named:
        found = replacement_of(member, survey)
        assert found.evidence.suspicion is Suspicion.CABLE
        (clear,) = re.findall("`(zpool clear [^`]+)`", str(found.holds[0]))
        guest.run(clear)
    guest.run(CHECK)
    assert troubled(survey_of(rack.inventory(), {})) == ()


def test_a_copy_of_a_disk_is_told_and_neither_is_named(rack: Agent) -> None:
    """Proves: where two disks carry the label of one device, no disk is named and it is held back."""
    guest = rack.guest
    paths = {label: disk.by_id for label, disk in guest.disks().items()}
    guest.run(f"{MIRROR.format_map(paths)} && {KEPT} && zpool export rack")
    guest.run(f"sfdisk -d {paths['hdd0']} | sfdisk -q {paths['hdd2']}; udevadm settle")
    guest.run(f"dd if={paths['hdd0']}-part1 of={paths['hdd2']}-part1 bs=1M count=4 status=none")
    guest.run(f"zpool import -d {paths['hdd0']}-part1 -d {paths['hdd1']}-part1 rack; udevadm trigger; udevadm settle")
    inventory = rack.inventory()
    survey = survey_of(inventory, {})
    leaf = leaf_on(guest, inventory, "hdd0")
    member = member_with(leaf.guid, survey.members)
    assert member
    found = replacement_of(member, survey)
    assert (member.identity, member.disk, found.locate) == (Identity.TWINS, None, "")
    assert [each.code for each in found.holds] == ["replace-not-certain"]
    guest.run(CHECK)


def test_a_smaller_disk_is_refused_here_as_openzfs_refuses_it(rack: Agent) -> None:
    """Proves: what is said to be too small is too small for OpenZFS, and what is said to fit is taken."""
    guest = rack.guest
    paths = {label: disk.by_id for label, disk in guest.disks().items()}
    guest.run(f"zpool create -o ashift=12 rack mirror {paths['nvme0']} {paths['nvme1']} && {KEPT}")
    guest.run(f"zpool offline -f rack {paths['nvme0']}")
    found = ask(rack, Case("", "", "nvme0", ()))
    by_fit = {each.disk.path: each.fits for each in found.candidates}
    assert set(by_fit.values()) >= {False}
    for path, fits in by_fit.items():
        done = guest.run(f"zpool replace -o ashift=12 rack {found.member.leaf.guid} {path}", check=False)
        assert (done.code == 0) is fits, (path, done.stderr)
        if fits:
            guest.run("zpool wait -t replace rack")
            break
    guest.run(CHECK)


def test_a_new_disk_that_fails_while_it_is_filled_is_taken_out_by_the_command_that_is_named(rack: Agent) -> None:
    """Proves: the command ends the replacement and keeps the old disk, from which it can be begun again."""
    guest = rack.guest
    paths = {label: disk.by_id for label, disk in guest.disks().items()}
    guest.run(f"{RAIDZ.format_map(paths)} && {KEPT} && echo 1 > {SUSPEND}")
    guest.run(f"zpool replace rack {paths['hdd0']} {paths['nvme0']} && zpool offline -f rack {paths['nvme0']}")
    found = ask(rack, Case("", "", "hdd0", ()))
    assert [each.code for each in found.holds] == ["replace-running"]
    (detach,) = re.findall("`(zpool detach [^`]+)`", str(found.holds[0]))
    guest.run(f"{detach}; echo 0 > {SUSPEND}; zpool wait -t resilver rack")
    pool = pool_of(rack.inventory())
    assert (pool.state, found.member.leaf.guid in {leaf.guid for leaf in pool.vdevs()}) == ("ONLINE", True)
    guest.run(CHECK)


def test_the_command_line_prints_what_was_typed(rack: Agent) -> None:
    """Proves: `nasadvisor replace` in the guest, which asks the disks themselves, prints the same commands."""
    guest = rack.guest
    paths = {label: disk.by_id for label, disk in guest.disks().items()}
    guest.run(f"{MIRROR.format_map(paths)} && zpool offline -f rack {paths['hdd0']}")
    found = ask(rack, Case("", "", "hdd0", ()))
    printed = rack.command("replace", found.member.leaf.guid)
    assert printed.code == 0, printed.stderr
    lines = [line.strip() for line in printed.stdout.splitlines()]
    assert all(shlex.join(command.argv) in lines for command in found.commands)
    assert "WD-NCGWBBP0" in printed.stdout
    listed = rack.command("replace")
    assert found.member.leaf.guid in listed.stdout
