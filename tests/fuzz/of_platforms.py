"""What Proxmox VE and TrueNAS SCALE say and keep."""

import json
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nasadvisor.domain.fleet.platforms import Notice
from nasadvisor.domain.statements import Level
from nasadvisor.stored.documents import to_document
from plugins.contract.console import PlatformSilent
from plugins.proxmox import api
from plugins.proxmox.guests import datasets_by_mountpoint, guests_of
from plugins.proxmox.host import ProxmoxHost
from plugins.proxmox.messages import send
from plugins.truenas.api.connection import _document, _result
from plugins.truenas.api.jobs import progress_of
from plugins.truenas.api.reading import read_picture
from plugins.truenas.api.records import Records
from plugins.truenas.guests import guest_devices
from plugins.truenas.host import TrueNASHost, rewrites
from plugins.truenas.start import init_scripts
from tests.fuzz.reader import TOLD, Answering, Reader, of_answers, of_file, of_text
from tests.unit.machines import home_server
from tests.unit.plugins.pve import CONTAINER, MAIL, MOUNTS, STORAGES
from tests.unit.truenas.standin import StandIn
from tests.unit.truenas.test_records import RECORD

USERS = "user:root@pam:1:0:Ro:Ot:root@example.org:::\nuser:a@pve:1:0::::::\n"
TARGETS = "smtp: x\n\tserver mail.example.org\n\nsendmail: y\n"
GIVEN = """args: -device vfio-pci,host=01:00.0 -drive file=/dev/sdb -device usb-host,vendorid=0x0bda -readconfig /x
hostpci0: 0000:02:00,pcie=1
hostpci1: mapping=nvme
usb0: host=0bda:9210
virtiofs0: shared,cache=always
"""
LENT = """lxc.cgroup2.devices.allow: b 259:* rwm
lxc.mount.entry: /dev/sg3 dev/sg3 none bind,create=file
lxc.include: /root/more
[pve:pending]
dev0: deny-write=1,path=/dev/ng0n1
"""
PCI = "nvme\n\tmap id=144d:a808,node=pve,path=0000:03:00.0\n"
GUEST_CALLS = {
    "vm.query": [{"id": 1, "name": "mail"}],
    "vm.device.query": [{"vm": 1, "attributes": {"dtype": "DISK", "path": "/dev/sdb", "pptdev": "pci_0000_01_00_0"}}],
    "container.query": [{"id": 2, "name": "web"}],
    "container.device.query": [{"container": 2, "attributes": {"dtype": "USB", "usb": {"vendor_id": "0x0bda"}}}],
    "virt.instance.query": [{"id": "web", "type": "CONTAINER"}],
    "virt.instance.device_list": [{"dev_type": "USB", "bus": 2, "dev": 5, "source": None}],
    "zfs.tier.rewrite_job_query": [{"tier_job_id": "tank/media@a5", "dataset_name": "tank/media", "status": "RUNNING"}],
    "zfs.tier.rewrite_job_status": {"stats": {"initial_time": 17, "update_time": 18, "count_bytes": 4096}},
    "initshutdownscript.query": [
        {"type": "SCRIPT", "script": "/mnt/tank/nasadvisor/start", "command": "", "when": "POSTINIT", "enabled": True}
    ],
}


def readers() -> Iterator[Reader]:
    """All of them."""
    yield from _proxmox()
    yield from _truenas()


def _in_pve(name: str, path: str, read: Any, *texts: str) -> Reader:
    """A file of /etc/pve, beside which there is a folder of virtual machines."""

    def beside(folder: Path) -> None:
        (folder / "etc/pve/qemu-server").mkdir(exist_ok=True)
        read(folder / "etc/pve")

    return Reader(name, of_file(beside, f"etc/pve/{path}"), tuple(text.encode() for text in texts), TOLD)


def _proxmox() -> Iterator[Reader]:
    def guests(pve: Path) -> None:
        host = ProxmoxHost(pve.parents[1])
        host.vetoes(Answering(""), home_server())
        host.unsafe_volumes()
        host.cautions(Answering(""), home_server())
        guests_of(pve, {})

    yield _in_pve("pve-machine", "qemu-server/100.conf", guests, MAIL, GIVEN)
    yield _in_pve("pve-container", "lxc/101.conf", guests, CONTAINER, LENT)
    yield _in_pve("pve-storage", "storage.cfg", lambda pve: guests_of(pve, {}), STORAGES)
    yield _in_pve("pve-mapping", "mapping/pci.cfg", guests, PCI)
    notice = Notice(Level.WARNING, "subject", "text")
    yield _in_pve("pve-users", "user.cfg", lambda pve: send(Answering("delivered\n"), pve, notice), USERS)
    yield _in_pve(
        "pve-targets", "notifications.cfg", lambda pve: send(Answering("delivered x\n"), pve, notice), TARGETS
    )
    told = of_answers(lambda it: send(it, Path("/nonexistent"), notice))
    yield Reader("pve-notify", told, (b"said no target\nmailed \n", b"delivered \n"), TOLD)
    yield Reader("pve-mounts", of_text(datasets_by_mountpoint), (MOUNTS.encode(),))
    limit = of_file(lambda at: ProxmoxHost(at)._arc_limit(), "sys/module/zfs/parameters/zfs_arc_max")
    yield Reader("pve-arc-limit", limit, (b"3221225472\n",))
    permissions = {"data": {"/": {"Sys.Audit": 1, "Sys.Modify": 1}}}
    realms = {"data": [{"realm": "sso", "type": "openid"}]}
    ticket = {"data": {"ticket": "PVE:anna@pve:00000000::x", "username": "anna@pve"}}
    seeds = tuple(json.dumps(each).encode() for each in (permissions, realms, ticket))
    yield Reader("pve-api", _pve_answers, seeds, (PlatformSilent,))
    cookie = b"PVE%3Aanna@pve%3A00000000%3A%3Ax"
    yield Reader("pve-ticket", of_text(lambda text: (api.user_in(text), api.is_ticket(text))), (cookie,))


def _pve_answers(data: bytes) -> None:
    found = api._data(data)
    for read in (api._access, api._openid_realms, api._user_of_answer):
        read(found)


def _truenas() -> Iterator[Reader]:
    machine = StandIn(Path(), Path())
    calls = {"pool.query": machine.pools, "disk.details": {"used": machine.disks[:1], "unused": machine.disks[1:]}}
    yield Reader("truenas-machine", lambda data: read_picture(_asked(data)), (json.dumps(calls).encode(),), TOLD)
    guests = (json.dumps(GUEST_CALLS).encode(),)
    for version in ("v25.10.0", "v26.0.0"):
        yield Reader(f"truenas-guests-{version}", partial(_truenas_guests, version), guests, TOLD)
    yield Reader("truenas-tiers", lambda data: rewrites(_asked(data, "v26.0.0")), guests, TOLD)
    yield Reader("truenas-scripts", lambda data: init_scripts(_asked(data)), guests, TOLD)
    job = (
        b'[{"id":1, "state": "SUCCESS", "progress": {"percent": 9, "description": ""}, "error": null, "result": true}]'
    )
    yield Reader("truenas-job", lambda data: progress_of(1, _json(data)), (job,), TOLD)
    well, ill = (
        b'{"id": 1, "result": []}',
        b'{"id": 1, "error": {"code": -1, "data": {"extra": [["a", "b"]], "reason": "x"}}}',
    )
    yield Reader("truenas-answer", of_text(lambda text: _result("x", _document("x", text))), (well, ill), TOLD)
    record = to_document(RECORD)
    digest = sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
    kept = json.dumps({"record": record, "sha256": digest}).encode()
    yield Reader(
        "truenas-record", of_file(lambda at: (Records(at).all(), Records(at).damaged()), "r1.whole-disks.json"), (kept,)
    )
    version_of = of_file(lambda at: TrueNASHost(at).version(Answering("")), "data/manifest.json")
    yield Reader("truenas-version", version_of, (b'{"version": "25.10.1"}',))


def _truenas_guests(version: str, data: bytes) -> object:
    return guest_devices(_asked(data, version))


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _asked(data: bytes, version: str = "v25.10.0") -> Any:
    """A connection that answers each call with what stands under its name."""
    answers = _json(data)
    told = answers if isinstance(answers, dict) else {}
    return SimpleNamespace(host="nas", version=version, call=lambda method, *_arguments: told.get(method))
