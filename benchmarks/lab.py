"""What the installed product costs on real OpenZFS: the idle services, a run, an inventory of many disks.

The lab guest is emulated where there is no KVM, so seconds are long; each peer is measured in the same guest. The many
disks are those of the kernel's scsi_debug driver.
"""

import json
import re
import shlex
from collections.abc import Iterator
from statistics import median
from typing import Final

from benchmarks.figure import Figure
from tests.integration.product import ANSWERS, INSTALL, SERVICES, Product
from tests.lab.deb import deb
from tests.lab.guest import Guest
from tests.lab.lab import Lab

INSTALL_S: Final = 60
ADVISE_S: Final = 60
MEMORY_MIB: Final = 200
TIMES_SHELL: Final = 1.5
ROUNDS: Final = 3
PLAN: Final = "/root/bench.json"
LOG: Final = "mirror-2"
"""The pool of the scenario has two mirrors of disks."""
TIMES_LSBLK: Final = {2: 1.5, 8: 1.0}
"""How many adapters of 125 disks each are added one after the other, and the budget for all disks there are then: with
few of them nearly all the time is that of starting Python.
"""
SCSI_DEBUG: Final = "/sys/bus/pseudo/drivers/scsi_debug/add_host"


def figures() -> Iterator[Figure]:
    """Everything, in one guest."""
    with Lab.start(name="bench") as guest:
        product = Product(guest)
        product.bring(deb())
        yield _figure_s("apt install until the pages' port answers", INSTALL_S, _installed(product))
        yield from _memory(product)
        yield _figure_s("advise, with what can be said at once", ADVISE_S, _seconds(product, "nasadvisor advise tank"))
        yield from _apply(product)
        guest.run(["systemctl", "stop", *SERVICES])
        yield from _inventory(product)


def _installed(product: Product) -> float:
    """The seconds, by the guest's clock, until something listens where the pages will be."""
    return _seconds(product, f"{INSTALL}; ({ANSWERS})")


def _figure_s(name: str, budget_s: float, seconds: float) -> Figure:
    return Figure(name, f"<= {budget_s:g} s", f"{seconds:.1f} s, emulated", met=seconds <= budget_s)


def _memory(product: Product) -> Iterator[Figure]:
    product.guest.run("curl --insecure --silent --output /dev/null --location https://127.0.0.1:8843/")
    each = {service: product.pss_kib(service) / 1024 for service in SERVICES}
    mib = sum(each.values())
    yield Figure("idle stack", f"<= {MEMORY_MIB} MiB PSS", f"{mib:.0f} MiB", met=mib <= MEMORY_MIB)
    for service, part in each.items():
        yield Figure(f"of that {service}", "", f"{part:.0f} MiB")


def _apply(product: Product) -> Iterator[Figure]:
    """A mirrored log and two caches, added and taken out, by the product and by typing what its preview prints."""
    rounds = [_one_round(product) for _ in range(ROUNDS)]
    for name, seconds in zip(("apply, 8 steps", "undo of these"), zip(*rounds, strict=True), strict=True):
        ours, peer = map(median, zip(*seconds, strict=True))
        budget, typed = f"{TIMES_SHELL:g} x peer", f"{peer:.1f} s typed in a shell"
        yield Figure(name, budget, f"{ours:.1f} s", typed, ours <= TIMES_SHELL * peer)


def _one_round(product: Product) -> tuple[tuple[float, float], tuple[float, float]]:
    """Of an apply and of its undo, the seconds of ours and of the same commands."""
    guest = product.guest
    guest.reset()
    ssds = [disk.by_id for name, disk in guest.disks().items() if name.startswith("nvme")]
    wish = ("--pool", "tank", "--log", *ssds, "--log-size", "1G", "--cache", *ssds, "--cache-size", "2G")
    preview = product.json("plan", *wish, "--output", PLAN)
    applied = _seconds(product, f"nasadvisor apply {PLAN} --yes")
    taken_back = _seconds(product, f"nasadvisor undo {preview['plan']['ids']['plan_id']} --yes")
    guest.reset()
    typed = _typed(product, preview["commands"])
    typed_back = _typed(product, _with_names(preview["undo_commands"], preview["commands"]))
    return (applied, typed), (taken_back, typed_back)


def _with_names(undo: list[list[str]], commands: list[list[str]]) -> list[list[str]]:
    """What a preview calls by guids that nobody knows before: caches by their paths, the mirrored log by its name."""
    (add,) = [argv for argv in commands if argv[:2] == ["zpool", "add"] and "cache" in argv]
    caches = add[add.index("cache") + 1 :]
    names = {f"<guid of cache {number}>": path for number, path in enumerate(caches, 1)}
    names["<guid of the new log>"] = LOG
    return [[names.get(word, word) for word in argv] for argv in undo]


def _typed(product: Product, commands: list[list[str]]) -> float:
    lines = "; ".join(f"{shlex.join(argv)}; udevadm settle" for argv in commands)
    return _seconds(product, f"set -e; {lines}")


def _inventory(product: Product) -> Iterator[Figure]:
    guest = product.guest
    guest.reset()
    guest.run("modprobe scsi_debug add_host=0 num_tgts=125 dev_size_mb=8 no_uld=0")
    disks, times = [], []
    before = 0
    for hosts, most in TIMES_LSBLK.items():
        guest.run(f"echo {hosts - before} > {SCSI_DEBUG}; udevadm settle --timeout=1200", timeout=1800)
        before = hosts
        disks.append(len(product.json("inventory")["disks"]))
        ours = median(_seconds(product, "nasadvisor inventory --json") for _ in range(ROUNDS))
        lsblk = median(_seconds(product, "lsblk -J -O") for _ in range(ROUNDS))
        times.append(ours)
        budget, peer = f"{most:g} x peer", f"{lsblk:.1f} s lsblk -J -O"
        yield Figure(f"inventory of {disks[-1]} disks", budget, f"{ours:.1f} s", peer, ours <= most * lsblk)
    growth, linear = times[1] / times[0], disks[1] / disks[0]
    yield Figure("its growth between them", f"<= {linear:.1f} (linear)", f"{growth:.1f}", met=growth <= linear)


def _seconds(product: Product, script: str) -> float:
    return seconds_in(product.guest, script)


def seconds_in(guest: Guest, script: str) -> float:
    """How long a shell script takes in the guest, by its own clock."""
    timed = f"TIMEFORMAT=%R; time {{ {script}; }} > /dev/null 2>&1"
    said = guest.run(["bash", "-c", timed], timeout=1800).stderr
    found = re.search(r"([\d.]+)\s*$", said)
    if found is None:
        raise ValueError(f"No time in {json.dumps(said)}.")
    return float(found[1])
