"""An upgrade while a log is on trial: what the release before has stored is read, told and ended by this one, and the
pages, which it served in the clear, come over TLS with the users and settings that it had.

That an older release is refused is shown in `test_package`: a package as old as the one here does not know the question
that dpkg asks it then, and lets itself be installed.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.integration.product import APT, INSTALL, INSTALL_SECONDS, MANAGE, PAGE, Product
from tests.integration.test_cli import PLAN, SSDS, plan
from tests.integration.test_stories import CHECK, PHOTOS
from tests.integration.test_trial import wait_until_undone
from tests.lab.guest import Guest
from tests.lab.guest_disks import DiskDigest
from tests.lab.previous import is_in_history, previous_deb

pytestmark = [pytest.mark.lab, pytest.mark.long]

PREVIOUS = "defd058"
"""The last commit of which journals, runs and samples had the first of their forms."""
PREVIOUS_VERSION = "0.0.9"
SERIES_THEN, SERIES_NOW = "nasadvisor.console.series", "nasadvisor.console.evidence.series"
"""Where samples are unpacked."""
TRIAL = "8m"
"""Longer than apt takes to stop the host's service under emulation: the release before must not end it. It begins just
before the upgrade, and anew with it."""
ENOUGH = 4
"""Samples, of which one is taken every 10 s."""
SAMPLES = """
from {module} import samples_of
from django.apps import apps
for series in apps.get_model("console", "SampledPool").objects.all():
    for sample in samples_of(series, 0, 0, {until}):
        disks = [(disk.key, disk.writes, disk.written_bytes) for disk in sample.disks]
        print(series.name, sample.at, sample.seconds, sum(each.commits for each in sample.datasets), disks)
"""
ASKED = """
from django_celery_beat.models import PeriodicTask
print(PeriodicTask.objects.get(name="console.take_samples").last_run_at)
"""
RUNS = """
from django.apps import apps
for run in apps.get_model("console", "StoredRun").objects.order_by("requested_at"):
    print(run.id, run.state, run.pool_name, bool(run.trial_until))
"""
PAGES = """
from django.contrib.auth.models import User
from django.test import Client
client = Client(SERVER_NAME="localhost")
client.force_login(User.objects.get_or_create(username="reader", defaults={{"is_superuser": True}})[0])
print(*[client.get(page).status_code for page in {pages}])
"""
IN_THE_CLEAR = "curl --silent --max-time 60 http://127.0.0.1:8843/login/"
OVER_TLS = "https://127.0.0.1:8843/login/"
PASSWORD = "seven-quiet-otters"
CHANGED = f"""
from datetime import timedelta
from django.contrib.auth.models import User
from django_celery_beat.models import IntervalSchedule, PeriodicTask
User.objects.create_user("anna", password="{PASSWORD}")
hours, _ = IntervalSchedule.objects.get_or_create(every=7, period=IntervalSchedule.HOURS)
PeriodicTask.objects.filter(name="console.sweep").update(interval=hours)
"""
"""Somebody who may look, and another time for the sweep; no administrator, so there is a link to make one."""
SWEEP_EVERY = """
from django_celery_beat.models import PeriodicTask
print(PeriodicTask.objects.get(name="console.sweep").interval)
"""
SIGN_IN = f"""
curl() {{ command curl --insecure --silent --max-time 60 --cookie /root/jar --cookie-jar /root/jar "$@"; }}
rm --force /root/jar
token=$(curl {OVER_TLS} | sed -n 's/.*csrfmiddlewaretoken" value="\\([^"]*\\)".*/\\1/p' | head -n 1)
curl --referer {OVER_TLS} --data "csrfmiddlewaretoken=$token&username=anna&password={PASSWORD}" --output /dev/null \\
    --write-out '%{{http_code}}' {OVER_TLS}
"""
FINGERPRINT = (
    "openssl s_client -connect 127.0.0.1:8843 < /dev/null 2> /dev/null | openssl x509 -noout -fingerprint -sha256"
)
BUSY = "for n in $(seq 100); do dd if=/dev/urandom of=/tank/photos/busy bs=16k count=1 oflag=sync status=none; done"


@dataclass(frozen=True)
class Before:
    """What the release before knew, as it told it itself. `samples` and `stored` are lines of text, `page` is
    what it served in the clear, `said` what apt printed of the upgrade."""

    product: Product
    blank: dict[str, DiskDigest]
    past: str
    trial: str
    until: int
    samples: str
    stored: str
    page: str
    sweep: str
    said: str

    def samples_now(self) -> str:
        """The same samples as this release reads them."""
        return self.product.console(SAMPLES.format(module=SERIES_NOW, until=self.until))


def runs(product: Product) -> dict[str, Any]:
    """What `nasadvisor runs` lists, by run."""
    return {run["id"]: run for run in product.json("runs")}


def installed(guest: Guest, package: Path) -> Product:
    """The release before, alone on the host, and running."""
    guest.run(f"{APT} purge nasadvisor", check=False, timeout=INSTALL_SECONDS)
    product = Product(guest)
    product.put(package)
    guest.run(INSTALL, timeout=INSTALL_SECONDS)
    product.start()
    return product


def wait_for(what: str, product: Product, python: str, is_there: Callable[[str], bool]) -> str:
    """What the console prints once it is enough."""
    deadline = time.monotonic() + 300
    while not is_there(said := product.console(python)):
        assert time.monotonic() < deadline, f"{what}: {said}"
        time.sleep(5)
    return said


@pytest.fixture(scope="module")
def before(guest: Guest) -> Before:
    """A run of the past and a log on trial, made by the release before; then the upgrade."""
    if not is_in_history(PREVIOUS):
        pytest.skip("The release before is made from git's history, and this is no whole clone.")
    package = previous_deb(PREVIOUS, PREVIOUS_VERSION)
    guest.reset()
    product = installed(guest, package)
    page = guest.run(IN_THE_CLEAR).stdout
    product.console(CHANGED)
    sweep = product.console(SWEEP_EVERY)
    blank = guest.digests(*SSDS)
    guest.run(PHOTOS)
    plan(product)
    past = product.json("apply", PLAN, "--yes")["run"]
    guest.run(BUSY, timeout=600)
    every = SAMPLES.format(module=SERIES_THEN, until=10**10)
    told = wait_for("samples", product, every, lambda said: len(said.splitlines()) >= ENOUGH)
    until = int(told.splitlines()[-1].split()[1])
    samples = product.console(SAMPLES.format(module=SERIES_THEN, until=until))
    product.json("undo", past, "--yes")
    plan(product)
    trial = product.json("apply", PLAN, "--yes", "--trial", TRIAL)["run"]
    stored = wait_for("runs", product, RUNS, lambda said: f"{trial} applied" in said and f"{past} undone" in said)
    product.bring()
    said = guest.run(INSTALL, timeout=INSTALL_SECONDS).stdout
    product.start()
    return Before(product, blank, past, trial, until, samples, stored, page, sweep, said)


def test_history_and_samples_are_all_there_and_the_trial_goes_on(before: Before) -> None:
    """Proves: the new release lists and shows both runs as they were, its pages show them, and each sample says what it
    said before."""
    product = before.product
    assert "0.0.9" not in product.guest.run("dpkg-query --show nasadvisor").stdout
    listed = runs(product)
    assert {run: listed[run]["state"] for run in listed} == {before.past: "undone", before.trial: "applied"}
    assert product.json("show", before.trial)["trial"]["until"]
    assert "on trial until" in product.cli("runs").stdout
    assert product.console(RUNS) == before.stored
    assert any(int(line.split()[3]) for line in before.samples.splitlines()), before.samples
    assert before.samples_now() == before.samples
    print(f"{len(before.samples.splitlines())} samples")
    pages = ["/runs/", *(f"/runs/{run}/" for run in (before.past, before.trial)), "/disks/", "/"]
    assert product.console(PAGES.format(pages=pages)).split() == ["200"] * len(pages)


def test_the_pages_that_came_in_the_clear_come_over_tls_and_who_upgrades_is_told_where(before: Before) -> None:
    """Proves: apt, the link for the first administrator and `doctor` name the new address, the latter two with the
    fingerprint of the very certificate that is served; the old address gets no answer."""
    product, guest = before.product, before.product.guest
    assert "<form" in before.page
    assert "<form" in guest.run(PAGE).stdout
    answered = guest.run(IN_THE_CLEAR, check=False)
    assert answered.code != 0
    assert answered.stdout == ""
    assert "https://" in before.said
    assert "plain HTTP is not answered there any more" in before.said
    link = guest.run(f"{MANAGE} setup_link", timeout=300).stdout
    assert link.startswith("https://")
    served = guest.run(FINGERPRINT).stdout.partition("=")[2].strip()
    assert served in link
    assert served in "".join(product.cli("doctor").stdout.split())


def test_users_sign_in_with_their_passwords_and_settings_are_as_before(before: Before) -> None:
    assert before.product.guest.run(["bash", "-c", SIGN_IN], timeout=300).stdout == "302"
    assert before.product.console(SWEEP_EVERY) == before.sweep


def test_the_trial_ends_by_itself_and_every_byte_is_as_before(before: Before) -> None:
    """Proves: the new release takes back what the release before put on trial, at its time, and nobody asked for it."""
    product, guest = before.product, before.product.guest
    wait_until_undone(product, before.trial)
    shown = product.json("show", before.trial)
    assert shown["trial"]["ended_at"] > shown["trial"]["until"]
    said = guest.run("zpool status tank").stdout
    assert "logs" not in said
    assert "cache" not in said
    guest.run(CHECK)
    assert guest.digests(*SSDS) == before.blank


def test_the_clock_is_no_service_any_more_and_goes(before: Before) -> None:
    """Proves: what was a service of its own leaves nothing that systemd would look for, and tasks are asked for."""
    product, guest = before.product, before.product.guest
    assert guest.run("systemctl list-unit-files --no-legend 'nasadvisor-beat*'", check=False).stdout == ""
    assert guest.run("find /etc/systemd/system /var/lib/systemd -name 'nasadvisor-beat*'").stdout == ""
    then = product.console(ASKED)
    wait_for("what the clock asked for", product, ASKED, lambda said: said > then)
