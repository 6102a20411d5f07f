"""Runs inside the lab guest, as root: stages replacements on real OpenZFS, and types what is printed.

The devices are files in memory, under names in /dev/disk/by-id, and their disks are made up around them: pools are read
by the product's own reader, and what is typed is what it would print, word for word. One line of JSON a case.
"""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from nasadvisor.domain.health.replacement.advice import Replacement, progress_of, replacement_of
from nasadvisor.domain.health.replacement.commands import NEW
from nasadvisor.domain.health.replacement.evidence import Survey, survey_of, troubled
from nasadvisor.domain.health.replacement.member import member_with
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.storage.identity import DiskIdentity
from nasadvisor.domain.storage.inventory import (
    Bus,
    Disk,
    Hold,
    HoldKind,
    Host,
    Inventory,
    Pool,
    TableKind,
    Vdev,
    ZfsLabel,
)
from nasadvisor.domain.units import MIB
from nasadvisor.host.adapters.process import HostRunner
from nasadvisor.host.adapters.zpool import ZpoolJson

FOLDER = Path("/dev/shm/rack")
BY_ID = "/dev/disk/by-id/rack-"
SUSPEND = "/sys/module/zfs/parameters/zfs_scan_suspend_progress"
FILES = {f"f{number}": 192 * MIB for number in range(1, 8)} | {"n1": 224 * MIB, "n2": 224 * MIB, "s1": 128 * MIB}
"""Files by name: seven of one size, two that are larger, and one that is too small."""


@dataclass(frozen=True)
class Case:
    """A pool, what happens to it, and which device is asked about; `F` before a name stands for its path.

    `typed` are the verbs that are typed of those that are printed; `held` the codes of what holds it back. `says` is
    what SMART says of the disk. `free` are the disks that nobody uses. `stays` is whether the device stays in the pool,
    `ends` the state of the pool at the end, `leaves` a device that `harm` itself has begun to replace.
    `twins` have one serial number; the names of `crossed` have come to lead to each other's disk.
    """

    name: str
    make: str
    harm: str
    asks: str
    verbs: tuple[str, ...]
    typed: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    says: str = ""
    free: tuple[str, ...] = ("s1", "n1")
    stays: bool = False
    ends: str = "ONLINE"
    leaves: str = ""
    twins: tuple[str, ...] = ()
    crossed: tuple[str, ...] = ()


MIRROR = "zpool create -o ashift=12 rack mirror Ff1 Ff2"
RAIDZ = "zpool create -o ashift=12 rack raidz1 Ff1 Ff2 Ff3"
FAIL = "zpool offline -f rack F"
REPLACE = ("replace",)
CASES = (
    Case("mirror failed", MIRROR, f"{FAIL}f1", "f1", REPLACE),
    Case("mirror of three failed", f"{MIRROR} Ff3", f"{FAIL}f3", "f3", REPLACE),
    Case("mirror offline by hand", MIRROR, "zpool offline rack Ff1", "f1", ("online", "replace"), ("online",),
         stays=True),
    Case("mirror offline and replaced", MIRROR, "zpool offline rack Ff1", "f1", ("online", "replace"), ("replace",)),
    Case("raidz1 failed", RAIDZ, f"{FAIL}f2", "f2", REPLACE),
    Case("raidz2, two failed", "zpool create -o ashift=12 rack raidz2 Ff1 Ff2 Ff3 Ff4", f"{FAIL}f1 && {FAIL}f2", "f1",
         REPLACE, ends="DEGRADED"),
    Case("raidz3 failed", "zpool create -o ashift=12 rack raidz3 Ff1 Ff2 Ff3 Ff4 Ff5", f"{FAIL}f5", "f5", REPLACE),
    Case("dRAID failed, its own spare works", "zpool create -o ashift=12 rack draid1:1d:4c:1s Ff1 Ff2 Ff3 Ff4",
         f"{FAIL}f1 && zpool replace -w rack Ff1 draid1-0-0", "f1", REPLACE),
    Case("spare took over, a new disk comes", f"{RAIDZ} spare Ff4", f"{FAIL}f1 && zpool replace -w rack Ff1 Ff4", "f1",
         REPLACE),
    Case("spare took over and stays", f"{RAIDZ} spare Ff4", f"{FAIL}f1 && zpool replace -w rack Ff1 Ff4", "f1",
         ("replace", "detach"), ("detach",), free=()),
    Case("special mirror failed", f"{RAIDZ} special mirror Ff4 Ff5", f"{FAIL}f4", "f4", REPLACE),
    Case("dedup mirror failed", f"{RAIDZ} dedup mirror Ff4 Ff5", f"{FAIL}f5", "f5", REPLACE),
    Case("single disk about to fail", "zpool create -o ashift=12 rack Ff1", "true", "f1", REPLACE, says="disk-failing"),
    Case("raidz about to fail, no slot for both", RAIDZ, "true", "f1", ("offline", "replace"), says="disk-failing",
         free=()),
    Case("mirror about to fail, no slot for both", MIRROR, "true", "f2", ("offline", "replace"), says="disk-prefail",
         free=()),
    Case("raidz about to fail, beside a new one", RAIDZ, "true", "f3", REPLACE, says="disk-prefail"),
    Case("thin raidz about to fail, no slot for both", RAIDZ, f"{FAIL}f2", "f1", REPLACE, says="disk-failing", free=(),
         ends="DEGRADED"),
    Case("healthy, replaced all the same", MIRROR, "true", "f2", REPLACE),
    Case("ashift 9", "zpool create -o ashift=9 rack mirror Ff1 Ff2", f"{FAIL}f1", "f1", REPLACE),
    Case("checkpoint", MIRROR, f"zpool checkpoint rack && {FAIL}f1", "f1", REPLACE, held=("replace-checkpoint",)),
    Case("scrub runs, disk works", MIRROR, f"echo 1 > {SUSPEND} && zpool scrub rack", "f1", REPLACE,
         held=("replace-scrub",), says="media-errors"),
    Case("another resilver runs", "zpool create -o ashift=12 rack mirror Ff1 Ff2 mirror Ff3 Ff4",
         f"echo 1 > {SUSPEND} && zpool replace rack Ff1 Fn2 && {FAIL}f3", "f3", REPLACE, held=("replace-busy",),
         leaves="f1"),
    Case("old disk fails while it is replaced", RAIDZ, f"echo 1 > {SUSPEND} && zpool replace rack Ff1 Fn2 && {FAIL}f1",
         "f1", (), held=("replace-running",)),
    Case("sibling cannot be read", RAIDZ, "true", "f1", REPLACE, held=("replace-sibling",), says="reallocated-growing"),
    Case("disk is gone from the host", MIRROR,
         "zpool export rack && mv f1 away && zpool import -d /dev/disk/by-id rack", "f1", REPLACE),
    Case("disk was gone and is back", MIRROR, "zpool export rack && mv f1 away && zpool import -d /dev/disk/by-id rack "
         "&& mv away f1", "f1", ("online", "replace"), ("online",), stays=True),
    Case("twin serials, failed", MIRROR, f"{FAIL}f1", "f1", REPLACE, twins=("f1", "f2")),
    Case("twin serials, works", MIRROR, "true", "f1", REPLACE, held=("replace-not-certain",), says="disk-failing",
         twins=("f1", "f2")),
    Case("names have moved", MIRROR, f"{FAIL}f1 && ln -sfn $PWD/f2 {BY_ID}f1 && ln -sfn $PWD/f1 {BY_ID}f2", "f1",
         REPLACE, crossed=("f1", "f2")),
    Case("names of a raidz have moved", RAIDZ,
         f"{FAIL}f2 && ln -sfn $PWD/f3 {BY_ID}f2 && ln -sfn $PWD/f2 {BY_ID}f3", "f2", REPLACE, crossed=("f2", "f3")),
    Case("spare failed", f"{MIRROR} spare Ff3",
         "zpool export rack && mv f3 away && zpool import -d /dev/disk/by-id rack", "f3", ("remove", "add")),
    Case("cache failed", f"{MIRROR} cache Ff3", f"{FAIL}f3", "f3", ("remove",)),
)  # fmt: skip


def run(command: str, *, check: bool = True) -> str:
    """In a shell, with the paths of files for their names."""
    typed = re.sub(r"\bF(?=[fns]\d)", BY_ID, command)
    done = subprocess.run(["sh", "-c", f"cd {FOLDER}; {typed}"], capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{typed}: {done.stderr.strip()}")
    return done.stdout + done.stderr


def clean() -> None:
    run(f"echo 0 > {SUSPEND}; zpool destroy -f rack; rm -rf {FOLDER}; mkdir {FOLDER}", check=False)
    for name, size in FILES.items():
        with (FOLDER / name).open("wb") as file:
            file.truncate(size)
        link = Path(f"{BY_ID}{name}")
        link.unlink(missing_ok=True)
        link.symlink_to(FOLDER / name)


def pool_now() -> Pool:
    return next(pool for pool in ZpoolJson(HostRunner()).read() if pool.name == "rack")


def disk(name: str, pool: Pool, guid: str, serial: str) -> Disk:
    """The disk around a file, as the host would show it; free without a guid."""
    number, size = int.from_bytes(name.encode()), FILES[name]
    path = f"{BY_ID}{name}"
    return Disk(
        DiskIdentity("Made Up", f"SN-{serial}", f"0x5000c500{number:08x}", size, 512, 512), name, path,
        (path, f"/dev/disk/by-path/pci-0000:00:17.0-ata-{name}"), Bus.SATA,
        rotational=True, removable=False, table=TableKind.NONE, table_uuid="", usable_start_bytes=MIB,
        usable_end_bytes=size - MIB, holds=(Hold(HoldKind.POOL, "rack"),) if guid else (),
        zfs_label=ZfsLabel("rack", pool.guid, guid) if guid else None,
    )  # fmt: skip


def survey(case: Case, pool: Pool, labels: dict[str, str]) -> Survey:
    """The host, with the free disks of the case; `labels` are the guids on the others."""
    told = labels | dict(zip(case.crossed, (labels[name] for name in case.crossed[::-1]), strict=True))
    serials = dict.fromkeys(case.twins, "twin")
    disks = [disk(name, pool, guid, serials.get(name, name)) for name, guid in told.items() if (FOLDER / name).exists()]
    used = {leaf.path.removeprefix(BY_ID) for leaf in pool.vdevs()}
    disks += [disk(name, pool, "", name) for name in case.free if name not in used]
    keys = {each.kernel_name: each.key for each in disks}
    said = {}
    for name, code in ((case.asks, case.says), ("f2", "pending-sectors" if "replace-sibling" in case.held else "")):
        if code and name in keys:
            said[keys[name]] = (Finding(code, "{disk}", {"disk": name}, Level.WARNING),)
    host = Host("nas", "Debian", "6.12", "2.3.9-1", "2.3.9-1", 1 << 32)
    return survey_of(Inventory(host, tuple(disks), (pool,), datetime.now(UTC).isoformat()), said)


def ask(case: Case, labels: dict[str, str], guid: str) -> Replacement:
    seen = survey(case, pool_now(), labels)
    member = member_with(guid, seen.members)
    assert member, f"{guid} is not found"
    return replacement_of(member, seen)


def follow(case: Case) -> dict[str, object]:
    """Stage a case, ask, and type what is printed."""
    clean()
    run(f"{case.make} && head -c 4000000 /dev/urandom | tee kept > /rack/kept && zpool sync rack")
    pool = pool_now()
    before = labels_of(pool)
    guid = before[case.asks]
    healthy = [each.leaf.guid for each in troubled(survey(Case("", "", "", "", ()), pool, before))]
    run(case.harm)
    found = ask(case, before, guid)
    held = tuple(each.code for each in found.holds)
    verbs = tuple(each.argv[1] for each in found.commands)
    moves = progress_of(found.member.pool, datetime.now(UTC))
    for hold in found.holds:
        for command in re.findall("`(zpool [^`]+)`", str(hold)):
            if not command.startswith("zpool detach"):
                run(command)
    run(f"echo 0 > {SUSPEND}; zpool wait -t discard,scrub,resilver,replace rack")
    typed = []
    if found.commands:
        again = ask(replace(case, asks="", held=()), before, guid) if held else found
        typed = [shlex.join(each.argv) for each in again.commands if not case.typed or each.argv[1] in case.typed]
        for line in typed:
            run(f"{line.replace(NEW, f'{BY_ID}n1')} && zpool wait -t resilver,replace rack")
    run("cmp /rack/kept kept && zpool status rack")
    pool = pool_now()
    return {
        "held": held,
        "verbs": verbs,
        "typed": typed,
        "identity": found.member.identity,
        "healthy_named": healthy,
        "others_left": sorted(set(before.values()) - {guid, before.get(case.leaves)} - _guids(pool)),
        "is_there": guid in _guids(pool),
        "state": pool.state,
        "progress": moves.code if moves else "",
        "too_small": [each.disk.kernel_name for each in found.candidates if not each.fits],
    }


def labels_of(pool: Pool) -> dict[str, str]:
    """The guids of the devices by the names of their files."""
    return {leaf.path.removeprefix(BY_ID): leaf.guid for leaf in pool.vdevs() if leaf.path.startswith(BY_ID)}


def _guids(pool: Pool) -> set[str]:
    def leaves(vdev: Vdev) -> list[str]:
        return [each.guid for each in vdev.leaves()]

    return {guid for tops in pool.by_class().values() for top in tops for guid in leaves(top)}


def small_is_refused() -> dict[str, object]:
    """What is said to be too small is too small for OpenZFS."""
    clean()
    run(f"{MIRROR} && {FAIL}f1")
    guid = next(leaf.guid for leaf in pool_now().vdevs() if leaf.path == f"{BY_ID}f1")
    return {"says": run(f"zpool replace -o ashift=12 rack {guid} Fs1", check=False)}


def new_disk_fails() -> dict[str, object]:
    """The command that a running replacement names ends it and keeps the old disk."""
    clean()
    case = Case("", "", "", "f1", ())
    run(f"{RAIDZ} && head -c 4000000 /dev/urandom | tee kept > /rack/kept && zpool sync rack")
    before = labels_of(pool_now())
    run(f"echo 1 > {SUSPEND} && zpool replace rack Ff1 Fn2 && {FAIL}n2")
    found = ask(case, before, before["f1"])
    (detach,) = re.findall("`(zpool detach [^`]+)`", str(found.holds[0]))
    run(f"{detach} && echo 0 > {SUSPEND} && zpool wait -t resilver rack && cmp /rack/kept kept")
    return {"typed": [detach], "is_there": before["f1"] in _guids(pool_now()), "state": pool_now().state}


def cable() -> dict[str, object]:
    """Two disks return wrong data, as with a bad cable; the command that is named ends it."""
    clean()
    run("zpool create -o ashift=12 rack raidz2 Ff1 Ff2 Ff3 Ff4 && head -c 4000000 /dev/urandom > /rack/kept")
    run("zpool export rack && for f in f1 f2; do dd if=/dev/urandom of=$f bs=1M seek=5 count=100 conv=notrunc; done")
    run("zpool import -d /dev/disk/by-id rack && zpool scrub -w rack")
    labels = labels_of(pool_now())
    case = Case("", "", "", "f1", ())
    seen = survey(case, pool_now(), labels)
    found = [replacement_of(each, seen) for each in troubled(seen)]
    for each in found:
        for command in re.findall("`(zpool clear [^`]+)`", str(each.holds[0])):
            run(command)
    names = {guid: name for name, guid in labels.items()}
    after = troubled(survey(case, pool_now(), labels))
    return {
        "suspicion": [each.evidence.suspicion for each in found],
        "named": sorted(names[each.member.leaf.guid] for each in found),
        "after": [names[each.leaf.guid] for each in after],
    }


def main() -> None:
    """Every case, or those that are named."""
    wanted = sys.argv[1:]
    extra = {"small": small_is_refused, "new disk fails": new_disk_fails, "cable": cable}
    for case in CASES:
        if not wanted or case.name in wanted:
            _told(case.name, partial(follow, case))
    for name, check in extra.items():
        if not wanted or name in wanted:
            _told(name, check)
    clean()


def _told(name: str, do: Callable[[], dict[str, object]]) -> None:
    try:
        answer = do()
    except (RuntimeError, AssertionError, StopIteration) as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"case": name, **answer}), flush=True)


if __name__ == "__main__":
    main()
