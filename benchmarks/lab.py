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
from tests.integration.product import SERVICES, Product
from tests.lab.lab import Lab

MEMORY_MIB: Final = 300
OVER_SHELL_S: Final = 3.0
TIMES_LSBLK: Final = 2.0
ROUNDS: Final = 3
PLAN: Final = "/root/bench.json"
HOSTS_OF_DISKS: Final = (2, 8)
"""How many adapters of 125 disks each are added one after the other."""
SCSI_DEBUG: Final = "/sys/bus/pseudo/drivers/scsi_debug/add_host"


def figures() -> Iterator[Figure]:
    """Everything, in one guest."""
    with Lab.start(name="bench") as guest:
        product = Product(guest)
        product.install()
        yield from _memory(product)
        yield from _apply(product)
        guest.run(["systemctl", "stop", *SERVICES])
        yield from _inventory(product)


def _memory(product: Product) -> Iterator[Figure]:
    product.guest.run("curl --insecure --silent --output /dev/null --location https://127.0.0.1:8843/")
    mib = sum(product.pss_kib(service) for service in SERVICES) / 1024
    yield Figure("idle stack", f"<= {MEMORY_MIB} MiB PSS", f"{mib:.0f} MiB", met=mib <= MEMORY_MIB)


def _apply(product: Product) -> Iterator[Figure]:
    """A mirrored log and two caches, by the product, and by typing what its preview prints."""
    ours, typed = zip(*(_one_round(product) for _ in range(ROUNDS)), strict=True)
    seconds, peer = median(ours), median(typed)
    yield Figure(
        "apply, 8 steps",
        f"peer + {OVER_SHELL_S:g} s",
        f"{seconds:.1f} s",
        f"{peer:.1f} s typed in a shell",
        seconds <= peer + OVER_SHELL_S,
    )


def _one_round(product: Product) -> tuple[float, float]:
    guest = product.guest
    guest.reset()
    ssds = [disk.by_id for name, disk in guest.disks().items() if name.startswith("nvme")]
    wish = ("--pool", "tank", "--log", *ssds, "--log-size", "1G", "--cache", *ssds, "--cache-size", "2G")
    preview = product.json("plan", *wish, "--output", PLAN)
    ours = _seconds(product, f"nasadvisor apply {PLAN} --yes")
    guest.reset()
    lines = "; ".join(f"{shlex.join(argv)}; udevadm settle" for argv in preview["commands"])
    return ours, _seconds(product, f"set -e; {lines}")


def _inventory(product: Product) -> Iterator[Figure]:
    guest = product.guest
    guest.reset()
    guest.run("modprobe scsi_debug add_host=0 num_tgts=125 dev_size_mb=8 no_uld=0")
    disks, times = [], []
    before = 0
    for hosts in HOSTS_OF_DISKS:
        guest.run(f"echo {hosts - before} > {SCSI_DEBUG}; udevadm settle --timeout=1200", timeout=1800)
        before = hosts
        disks.append(len(product.json("inventory")["disks"]))
        ours = median(_seconds(product, "nasadvisor inventory --json") for _ in range(ROUNDS))
        lsblk = median(_seconds(product, "lsblk -J -O") for _ in range(ROUNDS))
        times.append(ours)
        budget, peer = f"{TIMES_LSBLK:g} x peer", f"{lsblk:.1f} s lsblk -J -O"
        yield Figure(f"inventory of {disks[-1]} disks", budget, f"{ours:.1f} s", peer, ours <= TIMES_LSBLK * lsblk)
    growth, linear = times[1] / times[0], disks[1] / disks[0]
    yield Figure("its growth between them", f"<= {linear:.1f} (linear)", f"{growth:.1f}", met=growth <= linear)


def _seconds(product: Product, script: str) -> float:
    """How long a shell script takes in the guest, by its own clock."""
    timed = f"TIMEFORMAT=%R; time {{ {script}; }} > /dev/null 2>&1"
    said = product.guest.run(["bash", "-c", timed], timeout=1800).stderr
    found = re.search(r"([\d.]+)\s*$", said)
    if found is None:
        raise ValueError(f"No time in {json.dumps(said)}.")
    return float(found[1])
