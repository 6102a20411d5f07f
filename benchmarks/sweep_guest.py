"""Asking 24 disks for their health in the lab guest, beside a shell that asks one after the other, and Scrutiny.

Of Scrutiny what asks the disks is measured, where `scrutiny-collector-metrics` is installed on this machine: it is
copied into the guest, and tells what it reads to something that takes it and keeps nothing. Its database is InfluxDB 2,
which no release of Debian has.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.figure import Figure
from benchmarks.lab import seconds_in
from tests.integration.agent import PYTHON, SOURCE, push_source, python_in_guest
from tests.lab.guest import Guest
from tests.lab.lab import Lab

MORE_DISKS: Final = 16
"""Of the kernel's scsi_debug, beside the eight of the guest that smartctl asks."""

TIMES_SLOWEST: Final = 1.5
ROUNDS: Final = 3
COLLECTOR: Final = "scrutiny-collector-metrics"
PORT: Final = 8081
COLLECT: Final = f"/root/{COLLECTOR} run --api-endpoint http://127.0.0.1:{PORT}"

TAKES_IT: Final = f"""
import json
from http.server import BaseHTTPRequestHandler, HTTPServer

class Takes(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        devices = json.loads(body).get("data", []) if self.path.endswith("register") else []
        answer = json.dumps({{"success": True, "data": devices}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

HTTPServer(("127.0.0.1", {PORT}), Takes).serve_forever()
"""


def figures() -> Iterator[Figure]:
    """Ours as the worker does it and as a command, and the others."""
    with Lab.start(name="sweep") as guest:
        push_source(guest)
        guest.run(f"modprobe scsi_debug num_tgts={MORE_DISKS} dev_size_mb=8 no_uld=0; udevadm settle", timeout=300)
        found = json.loads(guest.run(python_in_guest("time_sweep", str(ROUNDS)), timeout=900).stdout)
        shell = _median_s(guest, "for disk in $(smartctl --scan | cut -d ' ' -f 1); do smartctl -x -j $disk; done")
        command = _median_s(guest, f"cd {SOURCE} && {PYTHON} -m nasadvisor.cli health --json")
        scrutiny = _scrutiny_s(guest)
    ours, slowest = median(found["rounds_s"]), found["slowest_s"]
    peer = f"{slowest:.2f} s the slowest disk alone; {shell:.1f} s smartctl one after the other; {scrutiny}"
    name = f"asking {found['disks']} disks for their health, in the worker"
    yield Figure(name, f"<= {TIMES_SLOWEST} x the slowest", f"{ours:.1f} s", peer, met=ours <= TIMES_SLOWEST * slowest)
    yield Figure("nasadvisor health, Python's start included", "", f"{command:.1f} s", scrutiny)


def _scrutiny_s(guest: Guest) -> str:
    program = shutil.which(COLLECTOR)
    if program is None:
        return "Scrutiny's collector is not installed here"
    guest.run(f"cat > /root/{COLLECTOR} && chmod +x /root/{COLLECTOR}", stdin=Path(program).read_bytes())
    guest.run("cat > /root/takes.py", stdin=TAKES_IT.encode())
    guest.run("nohup python3 /root/takes.py > /dev/null 2>&1 < /dev/null &")
    guest.run(["bash", "-c", f"until (: < /dev/tcp/127.0.0.1/{PORT}) 2> /dev/null; do sleep 0.2; done"])
    asked = guest.run(f"{COLLECT} 2>&1", timeout=300).stdout.count("Collecting smartctl results for")
    return f"{_median_s(guest, COLLECT):.1f} s Scrutiny's collector, {asked} disks"


def _median_s(guest: Guest, script: str) -> float:
    return median(seconds_in(guest, f"{script}; true") for _ in range(ROUNDS))  # smartctl's code says how disks are
