"""A console that has watched a machine for some time, for tests of its pages."""

import json
from dataclasses import replace
from datetime import datetime, timedelta

from django.utils import timezone

from nasadvisor.console.health.alerts.watch import watch
from nasadvisor.console.health.models import RatedEndurance, ReadingMonth, StoredDisk, WrittenDay
from nasadvisor.console.health.readings import keep_readings
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.health.sweep import Answers, DiskAnswer, SweepReport
from nasadvisor.domain.storage.inventory import Disk, Inventory
from nasadvisor.host.simulated.smart import simulated_answer, simulated_smartctl
from nasadvisor.stored.documents import pack, to_document
from nasadvisor.stored.packing import DiskReading

WORN_MODEL = "Samsung SSD 990 PRO 1TB"


def watched(inventory: Inventory, days: int = 120, every: int = 10) -> datetime:
    """Have the console watch a machine for so many days; its first NVMe SSD wears fast. Returns the time now."""
    now = timezone.now().replace(microsecond=0)
    node = inventory.host.node
    take_answer(node, "inventory", to_document(replace(inventory, read_at=now.isoformat())))
    worn = next((disk for disk in inventory.disks if disk.bus == "nvme"), None)
    for age in range(days, -1, -every):
        disks = inventory.disks if age == 0 else tuple(disk for disk in inventory.disks if disk is worn)
        found = tuple(_answer(disk, now, age, disk is worn) for disk in disks)
        take_answer(node, "answers", to_document(Answers(node, found)))
    keys = tuple(disk.key for disk in inventory.disks)
    at = (now - timedelta(minutes=4)).isoformat()
    take_answer(node, "sweep-report", to_document(SweepReport(node, at, at, keys, read=len(keys))))
    watch(now)
    return now


def written(serial: str, days: int = 24) -> None:
    """Somebody wrote to a disk in its roles on the last days, and what its data sheet promises is known."""
    disk = disk_of(serial)
    since = timezone.now() - timedelta(days=days)
    StoredDisk.objects.filter(pk=disk.pk).update(role_since=since, role="log+cache", pool_name="tank")
    for age in range(days):
        cache = (60 + 25 * (age % 7)) * 10**9
        day = timezone.localtime(timezone.now() - timedelta(days=age)).date()
        sums = {"log_bytes": 14 * 10**9, "cache_bytes": cache, "drive_bytes": cache + 22 * 10**9, "seconds": 86_000}
        lines = [["log", "tank/vms", 9 * 10**9], ["log", "tank/home", 5 * 10**9], ["cache", "", cache]]
        WrittenDay.objects.create(disk=disk, segment_at=since, day=day, lines=lines, **sums)
    RatedEndurance.objects.create(model=disk.model, size_bytes=disk.size_bytes, terabytes=600, erases=1500)


def disk_of(serial: str) -> StoredDisk:
    """The stored disk with this serial."""
    return StoredDisk.objects.get(serial=serial)


def say_only(disk: StoredDisk, *readings: DiskReading) -> None:
    """Let a disk have said this, and nothing before."""
    ReadingMonth.objects.filter(disk=disk).delete()
    keep_readings((disk, each) for each in readings)


def _answer(disk: Disk, now: datetime, age: int, is_worn: bool) -> DiskAnswer:
    answer = simulated_answer(disk, now, age)
    if not is_worn:
        return answer
    document = simulated_smartctl(disk, age)
    log = document["nvme_smart_health_information_log"]
    log |= {"percentage_used": 92 - age // 6, "data_units_written": 900_000_000 - age * 2_400_000, "media_errors": 3}
    return replace(answer, smartctl=pack(json.dumps(document)))
