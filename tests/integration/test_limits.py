"""What the host's service may not do is nothing that its work needs: ordered in the console, done under its limits."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.integration.product import Product, product
from tests.integration.test_cli import SSDS
from tests.integration.test_evidence import LEFT
from tests.integration.test_health import disks, until
from tests.lab.guest import Guest

pytestmark = [pytest.mark.lab, pytest.mark.long]
__all__ = ["product"]

PASSWORD = "correct horse battery"
ASK = """
from django.contrib.auth.models import User
from django.test import Client
asker, is_new = User.objects.get_or_create(username="asker", defaults={{"is_superuser": True}})
if is_new:
    asker.set_password("{password}")
    asker.save()
client = Client(SERVER_NAME="localhost")
client.force_login(asker)
print(client.{how}("{page}", {fields}).status_code)
"""
ANSWER = """
import json, time
from django.apps import apps
ends = time.monotonic() + {seconds}
while time.monotonic() < ends:
    stored = apps.get_model("console", "{model}").objects.first()
    if stored and (stored.document or stored.error_document):
        print(json.dumps([stored.document, stored.error_document]))
        break
    time.sleep(5)
"""
ANSWERS_WITHIN_S = 1500
"""A probe and its waiting, under emulation."""
WRITER = "while dd if=/dev/zero of=/tank/db/file bs=4k count=1 oflag=dsync conv=notrunc status=none; do sleep 0.2; done"


def asked(product: Product, page: str, fields: Mapping[str, str] | None = None) -> int:
    """The status with which a page answers an administrator who looks, or posts some fields."""
    how = "get" if fields is None else "post"
    return int(product.console(ASK.format(password=PASSWORD, how=how, page=page, fields=dict(fields or {}))))


def answered(product: Product, model: str) -> Any:
    """What the host told of the newest order; it must not be an error.

    One process waits inside the guest: starting another for each look would take the time that is measured.
    """
    ask = ANSWER.format(model=model, seconds=ANSWERS_WITHIN_S)
    document, error = json.loads(product.console(ask, ANSWERS_WITHIN_S + 300) or "[null, null]")
    assert error is None, error
    assert document, "it was not answered in time"
    return document


@pytest.fixture
def guid(product: Product) -> str:
    """A new pool `tank` of which the console has heard, with a data set to write to."""
    guest = product.guest
    guest.reset()
    guest.run("zfs create -o sync=always tank/db")
    guid = guest.run("zpool get -H -o value guid tank").stdout.strip()
    until(lambda: asked(product, f"/pools/{guid}/") == 200)
    return guid


def background(guest: Guest, command: str) -> Callable[[], object]:
    """Start a command; what ends it."""
    unit = "nasadvisor-test-load"
    guest.run(["systemd-run", "--quiet", "--collect", f"--unit={unit}", "sh", "-c", command])
    return lambda: guest.run(f"systemctl stop {unit}", check=False)


def test_bpftrace_tells_which_programs_wait(product: Product, guid: str) -> None:
    """Proves: the service may load and read its tracer: it names the program that writes and counts it."""
    end = background(product.guest, WRITER)
    try:
        assert asked(product, f"/evidence/{guid}/trace/", {}) == 302
        programs = answered(product, "StoredAnswer")["programs"]
    finally:
        end()
    print(programs)
    assert [each["commits"] > 0 for each in programs if each["program"] == "dd"] == [True]


def test_a_probe_writes_to_the_pool_and_to_an_ssd_and_leaves_nothing(product: Product, guid: str) -> None:
    """Proves: the service may make, mount and remove a data set, run fio, and make and delete a slice."""
    guest = product.guest
    blank = guest.digests(*SSDS)
    key = next(disk["key"] for disk in unlimited_health(product) if disk["serial"] == serial_of(guest, "nvme0"))
    fields = {"password": PASSWORD, "disk": key}
    assert asked(product, f"/evidence/{guid}/measure/", fields) == 302
    measured = answered(product, "StoredMeasurement")
    print(json.dumps(measured)[:500])
    assert guest.run(LEFT, check=False).stdout.strip() == ""
    after = guest.digests(*SSDS)
    assert {name: digest.partitions for name, digest in after.items()} == {
        name: blank[name].partitions for name in SSDS
    }


def test_every_disk_answers_the_service_as_it_answers_root(product: Product, guid: str) -> None:
    """Proves: smartctl reaches SATA, SAS and NVMe disks: what the service reads is what an unlimited root reads."""
    del guid
    by_root = {disk["serial"]: disk["outcome"] for disk in unlimited_health(product)}
    assert asked(product, "/wear/sweep/", {}) == 302
    until(lambda: {serial: disk["outcome"] for serial, disk in disks(product).items() if serial in by_root} == by_root)
    print(by_root)
    assert "failed" not in by_root.values()
    assert list(by_root.values()).count("read") >= 4


def unlimited_health(product: Product) -> list[dict[str, Any]]:
    """What `nasadvisor health` tells of the disks; its exit code is of no interest."""
    found: list[dict[str, Any]] = json.loads(product.cli("health", "--json").stdout)["disks"]
    return found


def serial_of(guest: Guest, name: str) -> str:
    return next(disk.serial for disk in guest.scenario.disks if disk.name == name)
