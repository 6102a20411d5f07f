"""Every address of the console that there is something to look at, in the state that it is in."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from django.contrib.auth.models import User
from django.urls import URLPattern, reverse
from django_celery_beat.models import PeriodicTask
from playwright.sync_api import APIRequestContext

from nasadvisor.console.change.models import StoredPlan, StoredRun
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import Channel
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.worker.schedules import EDITABLE
from nasadvisor.domain.storage.inventory import Pool
from tests.unit.console.accounts.test_matrix import PATTERNS

SIGNED_OUT = ("login", "login-code", "setup")
DISKS_LOOKED_AT = 4


def pages(request: APIRequestContext, url: str) -> Iterator[tuple[str, str]]:
    """Name and path of every page that whoever makes these requests is shown. Parts of pages and files are left out."""
    for name, path in [*_addresses(), ("missing", "/nowhere/")]:
        answer = request.get(f"{url}{path}", max_redirects=0)
        is_shown = answer.status == 200 or name == "missing"
        if is_shown and "text/html" in answer.headers.get("content-type", "") and "<html" in answer.text():
            yield name, path


def _addresses() -> Iterator[tuple[str, str]]:
    for name, pattern in PATTERNS:
        if name in SIGNED_OUT or ":" in name:
            continue
        found = [reverse(name, kwargs=values) for values in _fillings(name, pattern)]
        for number, path in enumerate(found):
            yield (f"{name}-{number + 1}" if len(found) > 1 else name), path


def _fillings(name: str, pattern: URLPattern) -> list[dict[str, Any]]:
    """What to put into the blanks of an address: of each thing that there is, some."""
    blanks = list(pattern.pattern.converters)
    return [dict(zip(blanks, values, strict=True)) for values in product(*(_values(name, each) for each in blanks))]


def _values(name: str, blank: str) -> list[Any]:
    found = pools()
    known: dict[str, list[Any]] = {
        "guid": [pool.guid for pool in found],
        "pool_guid": [pool.guid for pool in found],
        "cache_guid": [cache.guid for pool in found for cache in pool.caches][:1],
        "key": _disks(),
        "run_id": list(StoredRun.objects.values_list("pk", flat=True)),
        "plan_id": list(StoredPlan.objects.values_list("pk", flat=True)),
        "name": list(Node.objects.values_list("name", flat=True)),
        "user_id": list(User.objects.filter(username="viewer").values_list("pk", flat=True)),
        "code": ["too-small", "too-smal"],
    }
    if name == "wizard-proof":
        return known["run_id"]
    if blank == "pk":
        schedules = PeriodicTask.objects.filter(name__in=EDITABLE)
        there = {"schedule": schedules, "channel": Channel.objects.all()}.get(name)
        return list(there.values_list("pk", flat=True))[:2] if there is not None else []
    return known.get(blank, [])


def pools() -> list[Pool]:
    return [pool for node in Node.objects.all() if node.inventory for pool in node.inventory.pools]


def _disks() -> list[str]:
    """One of each kind: by what it is, how it is and what it is used for."""
    kinds = {(disk.is_rotational, disk.worst_level, disk.role): disk.key for disk in StoredDisk.objects.order_by("pk")}
    return list(kinds.values())[:DISKS_LOOKED_AT]
