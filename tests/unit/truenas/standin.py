"""A STAND-IN for TrueNAS's middleware: a real WebSocket server over TLS that answers in the documented shapes.

It is not TrueNAS. Its shapes are those of the middleware's models (api/v25_10_0, api/v26_0_0) and of the code that
fills them; docs/how-to/truenas.md says what was checked against which version. It lets each thing go wrong that can.
"""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve, unix_serve

from nasadvisor.domain.units import GIB, MIB

KEY = "7-pQx0MzyRkW5vJ3nB8dLh2TfGs6UaEc9Y"
USER = "nasadvisor"
POOL_GUID = "11223344556677889900"
SSD_BYTES = 480 * 10**9

Json = dict[str, Any]

PATIENCE: Final = {"close_timeout": 1, "open_timeout": 60}
"""A machine that is busy may take seconds to open a connection; to give up earlier would fail the test."""


def stats(**changes: int) -> Json:
    """The statistics of a vdev."""
    errors = {"read_errors": 0, "write_errors": 0, "checksum_errors": 0}
    sizes = {"size": 0, "allocated": 0, "fragmentation": 0, "self_healed": 0}
    ashifts = {"configured_ashift": 12, "logical_ashift": 12, "physical_ashift": 12}
    return {"timestamp": 1, "ops": [0] * 7, "bytes": [0] * 7, **errors, **sizes, **ashifts, **changes}


def leaf(guid: str, disk: str, device: str, partuuid: str) -> Json:
    """A disk in a pool's tree."""
    return {
        "name": partuuid,
        "type": "DISK",
        "path": f"/dev/disk/by-partuuid/{partuuid}",
        "guid": guid,
        "status": "ONLINE",
        "stats": stats(),
        "children": [],
        "device": device,
        "disk": disk,
        "unavail_disk": None,
    }


def lost(present: Json, remembered: Json | None = None) -> Json:
    """A disk that was pulled, as 25.10 shows it, and 26 until the pool is opened again: its path leads nowhere."""
    gone = {"status": "UNAVAIL", "device": None, "disk": None, "unavail_disk": remembered}
    return {**present, **gone}


def missing(present: Json, remembered: Json | None = None) -> Json:
    """A disk that was pulled, as 26 shows it: its guid for a name, and no path (pool_/topology.py).

    `remembered` is the disk that TrueNAS's database has for the guid. There are no keys `device` and `disk`.
    """
    return {
        "name": present["guid"],
        "type": "DISK",
        "guid": present["guid"],
        "status": "UNAVAIL",
        "stats": stats(),
        "children": [],
        "path": None,
        "unavail_disk": remembered,
    }


def mirror(guid: str, number: int, *children: Json) -> Json:
    """A mirror in a pool's tree."""
    return {
        "name": f"mirror-{number}",
        "type": "MIRROR",
        "path": None,
        "guid": guid,
        "status": "ONLINE",
        "stats": stats(),
        "children": list(children),
        "unavail_disk": None,
    }


def partition(disk: str, number: int, start: int, end: int, partuuid: str) -> Json:
    """A partition as disk.details lists it."""
    name = f"{disk}{number}"
    return {
        "name": name,
        "id": name,
        "disk": disk,
        "path": f"/dev/{name}",
        "partition_type": "6a898cc3-1dd2-11b2-99a6-080020736631",
        "partition_number": number,
        "partition_uuid": partuuid,
        "start": start,
        "end": end,
        "size": end - start,
        "start_sector": start // 512,
        "end_sector": end // 512,
        "encrypted_provider": None,
    }


def disk(name: str, serial: str, size: int = SSD_BYTES, **changes: Any) -> Json:
    """A disk as disk.details lists it."""
    entry = {
        "name": name,
        "devname": name,
        "identifier": f"{{serial_lunid}}{serial}_5000{serial}",
        "serial": serial,
        "lunid": f"5000{serial}",
        "model": "SAMSUNG MZ7L3480",
        "vendor": "ATA",
        "size": size,
        "sectorsize": 512,
        "type": "SSD",
        "rotationrate": None,
        "bus": "ATA",
        "subsystem": "scsi",
        "driver": "sd",
        "hctl": "0:0:1:0",
        "dif": False,
        "enclosure": {},
        "imported_zpool": None,
        "exported_zpool": None,
        "duplicate_serial": [],
        "partitions": [],
    }
    return {**entry, **changes}


def identifier(serial: str) -> str:
    """TrueNAS's name for a disk that lasts."""
    return f"{{serial_lunid}}{serial}_5000{serial}"


@dataclass
class StandIn:
    """What it answers, and what goes wrong.

    `silent` are calls that are never answered, `garbled` answers that are sent as they are, `refused` JSON-RPC errors.
    The connection is cut at a call in `cut_at`, once for each entry. A job takes `polls_of_a_job` looks; `job_error`
    makes it fail. A message that may not go out ends its job well, with false. `calls` are all that
    came, `wiped` the disks that pool.remove wiped. `guests` are the answers about guests by the call, `instances` the
    devices of those of incus by name. `tier_jobs` are jobs of zfs.tier with their figures.
    """

    certificate: Path
    private_key: Path
    version: str = "25.10.1"
    api_versions: tuple[str, ...] = ("v25.10.0",)
    login_answer: Json = field(default_factory=lambda: {"response_type": "SUCCESS", "user_info": None})
    silent: set[str] = field(default_factory=set)
    garbled: dict[str, str] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
    refused: dict[str, Json] = field(default_factory=dict)
    cut_at: list[str] = field(default_factory=list)
    polls_of_a_job: int = 3
    job_error: str = ""
    mail_goes_out: bool = True
    pools: list[Json] = field(default_factory=list)
    disks: list[Json] = field(default_factory=list)
    jobs: dict[int, Json] = field(default_factory=dict)
    guests: dict[str, list[Json]] = field(default_factory=dict)
    instances: dict[str, list[Json]] = field(default_factory=dict)
    tier_jobs: list[Json] = field(default_factory=list)
    init_scripts: list[Json] = field(default_factory=list)
    calls: list[tuple[str, list[Any]]] = field(default_factory=list)
    wiped: list[str] = field(default_factory=list)
    port: int = 0

    def __post_init__(self) -> None:
        part = partition("sda", 1, MIB, 4000 * GIB, "aaaaaaaa-0000-4000-8000-000000000001")
        self.disks = [
            disk("sda", "HDD1", 4001 * GIB, type="HDD", imported_zpool="tank", partitions=[part]),
            disk("sdb", "SSD1"),
            disk("sdc", "SSD2"),
            disk("sdd", "SSD3"),
            disk("sde", "BOOT", imported_zpool="boot-pool"),
        ]
        data = leaf("101", "sda", "sda1", part["partition_uuid"])
        topology: Json = {"data": [data], "log": [], "cache": [], "spare": [], "special": [], "dedup": []}
        self.pools = [
            {
                "id": 3,
                "name": "tank",
                "guid": POOL_GUID,
                "status": "ONLINE",
                "path": "/mnt/tank",
                "healthy": True,
                "warning": False,
                "size": 4000 * GIB,
                "allocated": 1000 * GIB,
                "autotrim": {"parsed": "off", "rawvalue": "off", "source": "DEFAULT", "value": "off"},
                "topology": topology,
            }
        ]

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"wss://127.0.0.1:{self.port}"

    def called(self, method: str) -> list[list[Any]]:
        """The parameters of every call of a method."""
        return [params for name, params in self.calls if name == method]

    def take_offline(self, name: str = "tank") -> None:
        """The pool is not imported under its name any more: only TrueNAS's database has it (pool_/pool.py)."""
        pool = next(each for each in self.pools if each["name"] == name)
        pool.update(status="OFFLINE", topology=None, healthy=False, size=None, allocated=None)

    def disk(self, name: str) -> Json:
        """A disk by its kernel name."""
        return next(each for each in self.disks if each["name"] == name)

    @contextmanager
    def listening(self) -> Iterator["StandIn"]:
        """Serve until the end of the block."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.private_key)
        context.num_tickets = 0  # see `_connect`: a client that takes one while it writes may never send its request
        options: Any = {"ssl": context, "process_request": self._check_path, **PATIENCE}
        with serve(self._converse, "127.0.0.1", 0, **options) as server:
            self.port = server.socket.getsockname()[1]
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()

    @contextmanager
    def listening_at(self, path: Path) -> Iterator["StandIn"]:
        """Serve on a socket of this host, where nobody logs in, until the end of the block."""
        path.parent.mkdir(parents=True, exist_ok=True)
        options: Any = {"process_request": self._check_path, **PATIENCE}
        with unix_serve(self._converse, str(path), **options) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()

    def _check_path(self, connection: ServerConnection, request: Request) -> Response | None:
        if request.path.removeprefix("/api/") in self.api_versions:
            return None
        return connection.respond(HTTPStatus.NOT_FOUND, "404: Not Found")

    def _converse(self, connection: ServerConnection) -> None:
        try:
            for message in connection:
                request = json.loads(message)
                assert request["jsonrpc"] == "2.0"
                assert isinstance(request["params"], list)
                self.calls.append((request["method"], request["params"]))
                if not self._reply(connection, request):
                    return
        except ConnectionClosed:
            return

    def _reply(self, connection: ServerConnection, request: Json) -> bool:
        """Answer one call; False ends the connection."""
        method, number = request["method"], request["id"]
        if method in self.cut_at:
            self.cut_at.remove(method)
            connection.close(1011, "the middleware restarts")
            return False
        if method in self.silent:
            return True
        # What a client must pass over: news, and the late answer to a call that it has given up.
        connection.send(json.dumps({"jsonrpc": "2.0", "method": "collection_update", "params": {"msg": "changed"}}))
        connection.send(json.dumps({"jsonrpc": "2.0", "id": -1, "result": "late"}))
        if method in self.garbled:
            connection.send(self.garbled[method])
        elif method in self.refused:
            connection.send(json.dumps({"jsonrpc": "2.0", "id": number, "error": self.refused[method]}))
        else:
            result = self.results.get(method) or self._result(method, request["params"])
            connection.send(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}))
        return True

    def _result(self, method: str, params: list[Any]) -> Any:
        match method:
            case "auth.login_ex":
                right = params[0]["username"] == USER and params[0]["api_key"] == KEY
                return self.login_answer if right else {"response_type": "AUTH_ERR"}
            case "system.version_short":
                return self.version
            case "pool.query":
                return self.pools
            case "disk.details":
                return {
                    "used": [each for each in self.disks if each["imported_zpool"] or each["exported_zpool"]],
                    "unused": [
                        each for each in self.disks if not each["imported_zpool"] and not each["exported_zpool"]
                    ],
                }
            case "core.get_jobs":
                return self._jobs(params[0])
            case "pool.update" | "pool.remove" | "mail.send":
                return self._start_job(method, params)
        return self._result_on_own_socket(method, params)

    def _result_on_own_socket(self, method: str, params: list[Any]) -> Any:
        match method:
            case "virt.instance.device_list":
                return self.instances[params[0]]
            case "virt.instance.query":
                return [{"id": name, "name": name, "type": "CONTAINER"} for name in self.instances]
            case "vm.query" | "vm.device.query" | "container.query" | "container.device.query":
                return self.guests.get(method, [])
            case "zfs.tier.rewrite_job_query":
                return [{key: job[key] for key in job if key not in ("stats", "error")} for job in self.tier_jobs]
            case "zfs.tier.rewrite_job_status":
                return next(job for job in self.tier_jobs if job["tier_job_id"] == params[0]["tier_job_id"])
            case "initshutdownscript.query":
                return self.init_scripts
        raise AssertionError(f"The stand-in does not know {method}")

    def _start_job(self, method: str, params: list[Any]) -> int:
        number = 1234 + len(self.jobs)
        self.jobs[number] = {
            "id": number,
            "method": method,
            "arguments": params,
            "message_ids": [],
            "abortable": False,
            "state": "WAITING",
            "progress": {"percent": None, "description": None, "extra": None},
            "result": None,
            "error": None,
            "exception": None,
            "exc_info": None,
            "time_started": {"$date": 0},
            "time_finished": None,
            "logs_path": None,
            "looks": 0,
        }
        return number

    def _jobs(self, filters: list[Any]) -> list[Json]:
        """core.get_jobs with the two kinds of filters that we use; only a look by number takes a job further."""
        if filters[0][:2] == ["id", "="]:
            return self._look_at_job(filters[0][2])
        wanted = {name: values for name, operator, values in filters if operator == "in"}
        return [job for job in self.jobs.values() if all(job[name] in values for name, values in wanted.items())]

    def _look_at_job(self, number: int) -> list[Json]:
        job = self.jobs.get(number)
        if job is None:
            return []
        job["looks"] += 1
        if job["state"] in ("WAITING", "RUNNING"):
            if job["looks"] < self.polls_of_a_job:
                percent = 100 * job["looks"] // self.polls_of_a_job
                job["state"] = "RUNNING"
                job["progress"] = {"percent": percent, "description": "Formatting disks", "extra": None}
            else:
                self._end_job(job)
        return [{key: value for key, value in job.items() if key != "looks"}]

    def _end_job(self, job: Json) -> None:
        if job["method"] == "pool.remove":
            self._remove(*job["arguments"])
        if self.job_error:
            job["state"], job["error"] = "FAILED", self.job_error
            return
        if job["method"] == "pool.update":
            self._extend(*job["arguments"])
        job["state"] = "SUCCESS"
        if job["method"] == "mail.send":
            job["result"] = self.mail_goes_out
        job["progress"] = {"percent": 100, "description": "", "extra": None}

    def _extend(self, pool_id: int, changes: Json) -> None:
        pool = next(each for each in self.pools if each["id"] == pool_id)
        for kind, rows in changes["topology"].items():
            for row in rows:
                leaves = [self._format(name, pool["name"]) for name in row["disks"]]
                tops = [mirror(f"9{leaves[0]['guid']}", 1, *leaves)] if row["type"] == "MIRROR" else leaves
                pool["topology"][kind].extend(tops)

    def _format(self, name: str, pool_name: str) -> Json:
        """One partition as TrueNAS makes it: the disk less min(2 GiB, 1 %), in whole MiB (disk_/format.py)."""
        found = self.disk(name)
        length = (found["size"] - int(min(2 * GIB, found["size"] * 0.01))) // MIB * MIB
        number = self.disks.index(found)
        uuid = f"bbbbbbbb-0000-4000-8000-{number:012}"
        found["partitions"] = [partition(name, 1, MIB, MIB + length, uuid)]
        found["imported_zpool"] = pool_name
        return leaf(f"20{number}", name, f"{name}1", uuid)

    def _remove(self, pool_id: int, options: Json) -> None:
        """Out of the pool first, then QUICK wipe of the parent disks (pool_disk_operations.py)."""
        pool = next(each for each in self.pools if each["id"] == pool_id)
        for kind, tops in pool["topology"].items():
            for top in tops:
                if top["guid"] != options["label"]:
                    continue
                pool["topology"][kind] = [each for each in tops if each is not top]
                for child in top["children"] or [top]:
                    self.wiped.append(child["disk"])
                    self.disk(child["disk"]).update(partitions=[], imported_zpool=None)
