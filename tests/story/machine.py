"""The machine of the story, before anybody changed anything: `python -m tests.story` tells what happened to it."""

from dataclasses import replace

from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.storage.inventory import Bus, Disk, Host, Inventory, Pool, Scan, Vdev
from nasadvisor.domain.units import GIB, TIB
from tests.fixtures.machines.build import boot_disk, hard_disk, mirrors, pool_of
from tests.unit.machines import ssd

TANK, MEDIA = "13672354012345678901", "4827301958220163377"
SSD_BYTES = 1_920_383_410_176
LOG_SSD_WWNS = ("eui.36344730545000010025384100000001", "eui.36344730545000010025384100000002")
LOG_SSDS = tuple(f"SAMSUNG_MZQL21T9HCJR-00A07_S64GNT0W{700412 + n}_{wwn}" for n, wwn in enumerate(LOG_SSD_WWNS))

LOG_AND_CACHE = PlanRequest(TANK, log_disks=LOG_SSDS, log_size_bytes=16 * GIB, cache_disks=LOG_SSDS[:1])
"""What somebody added to tank."""


def machine(read_at: str, scrubbed_at: str) -> Inventory:
    """A pool that virtual machines write to, one that nobody waits for, SSDs to use, and one that is nearly used up."""
    vms, films = _disks("tank", "SDY", 4), _disks("media", "SJK", 2)
    scan = Scan("scrub", scrubbed_at, 0)
    pools = (
        pool_of("tank", TANK, mirrors(vms, 2), 14 * TIB),
        pool_of("media", MEDIA, _numbered(mirrors(films, 1)), 7 * TIB),
    )
    return Inventory(
        host=Host("nas1", "Debian GNU/Linux 13 (trixie)", "6.12.57-amd64", "2.3.9-1", "2.3.9-1", 64 * GIB),
        disks=(boot_disk(), *vms, *films, *_ssds()),
        pools=tuple(replace(pool, last_scan=scan) for pool in pools),
        read_at=read_at,
    )


def _ssds() -> tuple[Disk, ...]:
    in_use = (
        ssd(wwn, "SAMSUNG MZQL21T9HCJR-00A07", f"S64GNT0W{700412 + n}", SSD_BYTES, kernel=f"nvme{n}n1")
        for n, wwn in enumerate(LOG_SSD_WWNS)
    )
    blank = (
        ssd(
            f"eui.0025385c2140105{n}",
            "Samsung SSD 990 PRO 1TB",
            f"S6Z1NJ0W40{n}678",
            1_000_204_886_016,
            kernel=f"nvme{n}n1",
        )
        for n in (2, 3)
    )
    worn = ssd("0x5002538e40a6ee11", "Samsung SSD 870 EVO 1TB", "S6PTNM0T512931", 1_000_204_886_016, Bus.SATA, "sdh")
    return (*in_use, *blank, worn)


def _disks(pool: str, serial: str, count: int) -> tuple[Disk, ...]:
    """Hard disks of a pool. The third of tank is the one that fails (`simulated.smart.COURSES`)."""
    first = 0 if pool == "tank" else 4
    disks = (hard_disk(number, pool) for number in range(first, first + count))
    return tuple(_with_serial(disk, f"8C{serial}{number:03d}") for number, disk in enumerate(disks))


def _with_serial(disk: Disk, serial: str) -> Disk:
    """Also in its persistent name."""
    links = tuple(link.replace(disk.identity.serial, serial) for link in disk.links)
    return replace(disk, links=links, identity=replace(disk.identity, serial=serial))


def _numbered(tops: tuple[Vdev, ...]) -> tuple[Vdev, ...]:
    """With guids that no vdev of tank has."""
    return tuple(
        replace(top, guid=f"2{top.guid}", children=tuple(replace(leaf, guid=f"2{leaf.guid}") for leaf in top.children))
        for top in tops
    )


def worse(pool: Pool) -> Pool:
    """Reads of the failing disk went wrong; its mirror had the data."""
    mirror = pool.data[1]
    failing = replace(mirror.children[0], read_errors=4)
    return replace(pool, data=(pool.data[0], replace(mirror, children=(failing, *mirror.children[1:]))))
