"""Health on real disks and pools: sweeps by the clock, and an alert each for what goes wrong, told once.

A small mail server in the guest takes the messages; each test reads what it took.
"""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.integration.product import Product, product

pytestmark = [pytest.mark.lab, pytest.mark.long]
__all__ = ["product"]

PATIENCE_S = 600
DOWN_S = 3600
MAILS = "/run/mails"
MAIL_UNIT = "nasadvisor-test-mail"
# It speaks just enough SMTP for Django; Python has no server for it any more.
SMTP = r"""
import socketserver, sys, time, uuid
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        say = lambda line: self.wfile.write(line.encode() + b"\r\n")
        say("220 lab")
        while line := self.rfile.readline():
            verb = line.strip().upper()
            if verb.startswith(b"DATA"):
                say("354 go on")
                text = b""
                while (row := self.rfile.readline()) != b".\r\n":
                    text += row
                open(f"/run/mails/{time.time_ns()}-{uuid.uuid4().hex}", "wb").write(text)
                say("250 taken")
            elif verb.startswith(b"QUIT"):
                return say("221 bye")
            elif verb.startswith(b"EHLO"):
                say("250 lab")
            else:
                say("250 ok")
socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer(("127.0.0.1", 2525), Handler).serve_forever()
"""

SET_UP = """
from nasadvisor.console.health.alerts.models import *
from nasadvisor.console.secrets import encrypt
from nasadvisor.console.health.models import *
AlertEvent.objects.all().delete(); StoredAlert.objects.all().delete(); Channel.objects.all().delete()
StoredDisk.objects.all().delete(); NodeHealth.objects.all().delete()
WatchSettings.load()
WatchSettings.objects.update(mail_host='127.0.0.1', mail_port=2525, mail_security='none', mail_sender='nas@lab.example')
Channel.objects.create(name='lab', kind='mail', secret=encrypt('admin@lab.example'))
"""


class Post:
    """The mail server in the guest."""

    def __init__(self, product: Product) -> None:
        self.guest = product.guest

    def start(self) -> None:
        """Take messages."""
        self.guest.run(f"mkdir -p {MAILS}")
        self.guest.run(["systemd-run", f"--unit={MAIL_UNIT}", "python3", "-c", SMTP])

    def stop(self) -> None:
        """Refuse connections."""
        self.guest.run(f"systemctl stop {MAIL_UNIT}; systemctl reset-failed {MAIL_UNIT}", check=False)

    def subjects(self) -> list[str]:
        """The subjects of what was taken, oldest first."""
        found = self.guest.run(f"cat {MAILS}/* 2>/dev/null | grep ^Subject: || true").stdout
        return [line.removeprefix("Subject: ") for line in found.splitlines()]

    def told(self, words: str) -> int:
        """How often the messages say this; one message can tell of several alerts."""
        return int(self.guest.run(f"cat {MAILS}/* 2>/dev/null | grep --count --fixed-strings '{words}' || true").stdout)


@pytest.fixture
def post(product: Product) -> Iterator[Post]:
    """A blank machine, a console that remembers nothing, and a mail server."""
    product.guest.reset()
    product.guest.run(f"rm -rf {MAILS}")
    product.console(SET_UP)
    post = Post(product)
    post.start()
    yield post
    post.stop()


def until(what: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    """Wait until something is so."""
    ends = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < ends, "it did not happen in time"
        time.sleep(5)


def codes(product: Product, state: str = "") -> list[str]:
    """The alerts there are, of one state if asked."""
    filtered = f".filter(state='{state}')" if state else ""
    text = product.console(
        "import json; from nasadvisor.console.health.alerts.models import *; "
        f"print(json.dumps(list(StoredAlert.objects{filtered}.values_list('code', flat=True))))"
    )
    return list(json.loads(text))


def disks(product: Product) -> dict[str, dict[str, Any]]:
    """The disks that the console knows, by serial."""
    text = product.console(
        "import json; from nasadvisor.console.health.models import *; "
        "from nasadvisor.console.health.readings import readings_of; print(json.dumps("
        "{d.serial: {'outcome': d.outcome, 'readings': len(readings_of(d)), 'present': d.is_present} "
        "for d in StoredDisk.objects.all()}))"
    )
    found: dict[str, dict[str, Any]] = json.loads(text)
    return found


def every(product: Product, task: str, seconds: int) -> None:
    """Change how often the clock asks for something."""
    product.console(
        "from django_celery_beat.models import *; "
        f"i = IntervalSchedule.objects.get_or_create(every={seconds}, period='seconds')[0]; "
        f"t = PeriodicTask.objects.get(name='{task}'); t.interval = i; t.save()"
    )


def test_a_new_host_is_swept_at_once_and_then_by_schedule(product: Product, post: Post) -> None:
    until(lambda: any(disk["outcome"] for disk in disks(product).values()))
    every(product, "console.sweep", 120)
    before = max(disk["readings"] for disk in disks(product).values())
    until(lambda: max(disk["readings"] for disk in disks(product).values()) >= before + 2)
    outcomes = {disk["outcome"] for disk in disks(product).values()}
    assert outcomes <= {"read", "unsupported"}, disks(product)
    every(product, "console.sweep", 21600)


def test_a_pool_that_loses_a_disk_is_told_once_and_its_recovery_once(product: Product, post: Post) -> None:
    until(lambda: bool(disks(product)))
    leaf = product.guest.run("zpool list -vHP tank | awk '/by-id/{print $1; exit}'").stdout.strip()
    product.guest.run(["zpool", "offline", "tank", leaf])
    until(lambda: "pool-not-online" in codes(product, "new"))
    product.guest.run(["zpool", "online", "tank", leaf])
    until(lambda: "pool-not-online" in codes(product, "recovered"))
    until(lambda: sum("is DEGRADED" in subject for subject in post.subjects()) == 2)


def test_a_disk_that_errs_is_told_once(product: Product, post: Post) -> None:
    """A cache on a disk whose every request fails: errors in the pool, or no answer to the sweep."""
    until(lambda: any(disk["readings"] for disk in disks(product).values()))
    product.guest.run(["zpool", "add", "tank", "cache", product.guest.disk("nvme0").by_id])
    product.guest.fail("nvme0")
    product.console(
        "from nasadvisor.console.health import sweeps; from django.utils import timezone; "
        "sweeps.request_sweeps(timezone.now())"
    )
    product.guest.run("zpool scrub tank; dd if=/dev/urandom of=/tank/x bs=1M count=64 conv=fsync", check=False)
    expected = {"device-errors", "cache-missing", "disk-unanswered"}
    until(lambda: bool(expected & set(codes(product, "new"))))
    time.sleep(120)
    assert len(codes(product)) == len(set(codes(product)))
    product.guest.fail("nvme0", on=False)


def test_disks_that_come_back_under_other_names_are_told_once_and_keep_their_history(
    product: Product, post: Post
) -> None:
    """Two SSDs vanish; the one with the higher name comes back first, so that each has the name that the other had."""
    until(lambda: any(disk["readings"] for disk in disks(product).values()))
    names = {name: product.guest.disk(name).device for name in ("nvme0", "nvme1")}
    for name in names:
        product.guest.vanish(name)
    until(lambda: codes(product, "new").count("disk-gone") == 2)
    known = disks(product)
    for name in sorted(names, key=lambda name: names[name], reverse=True):
        assert product.guest.bring_back(name).device != names[name]
    until(lambda: codes(product, "recovered").count("disk-gone") == 2)
    after = disks(product)
    assert after.keys() == known.keys()
    assert all(disk["present"] for disk in after.values())
    until(lambda: post.told("is gone.") == 4)
    time.sleep(60)
    assert post.told("is gone.") == 4


@pytest.mark.parametrize("service", ["mail", "redis"])
def test_a_service_that_is_down_for_long_loses_no_alert_and_sends_none_twice(
    product: Product, post: Post, service: str
) -> None:
    until(lambda: bool(disks(product)))
    if service == "mail":
        post.stop()
    else:
        product.guest.run("systemctl stop nasadvisor-redis")
    leaf = product.guest.run("zpool list -vHP tank | awk '/by-id/{print $1; exit}'").stdout.strip()
    product.guest.run(["zpool", "offline", "tank", leaf])
    time.sleep(DOWN_S)
    assert post.subjects() == []
    if service == "mail":
        post.start()
    else:
        product.guest.run("systemctl start nasadvisor-redis")
    until(lambda: bool(post.subjects()), 1800)
    time.sleep(120)
    assert sum("is DEGRADED" in subject for subject in post.subjects()) == 1
    product.guest.run(["zpool", "online", "tank", leaf])


def test_a_host_without_smartctl_says_so(product: Product, post: Post) -> None:
    path = product.guest.run("command -v smartctl").stdout.strip()
    product.guest.run(["mv", path, f"{path}.away"])
    try:
        product.console(
            "from nasadvisor.console.health import sweeps; from django.utils import timezone; "
            "sweeps.request_sweeps(timezone.now())"
        )
        until(lambda: "sweep-failed" in codes(product, "new"))
    finally:
        product.guest.run(["mv", f"{path}.away", path])


def test_the_command_line_asks_disks_and_writes_a_report(product: Product, post: Post) -> None:
    done = product.cli("health", "--json")
    assert done.code in (0, 5), done.stderr
    found = json.loads(done.stdout)
    assert any(disk["outcome"] == "read" for disk in found["disks"])
    assert product.cli("report", "--pdf", "/root/report.pdf").code == 0
    assert product.guest.run("head -c 5 /root/report.pdf").stdout == "%PDF-"


def test_the_console_makes_a_report_inside_its_confinement(product: Product, post: Post) -> None:
    product.console(
        "from nasadvisor.console.celery_app import app; "
        "from nasadvisor.console.health.alerts.models import StoredReport; "
        "r = StoredReport.objects.create(); app.send_task('console.make_report', [r.pk], queue='console')"
    )
    until(
        lambda: (
            "done"
            in product.console(
                "from nasadvisor.console.health.alerts.models import StoredReport; "
                "print(StoredReport.objects.latest('pk').state)"
            )
        )
    )


def test_a_read_only_look_at_disks_changes_no_disk(product: Product, post: Post) -> None:
    names = ("nvme0", "nvme1", "sata0", "sas0")
    before = product.guest.digests(*names)
    product.cli("health")
    assert product.guest.digests(*names) == before
