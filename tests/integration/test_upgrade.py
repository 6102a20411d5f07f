"""An upgrade while a log is on trial: what this release has stored is read, told and ended by the next one, whose
database and journals have another form; and this release does not take its place again.

The next release is made up (`tests/lab/next_release.py`): what every release after this one must do is shown before it
is there.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.integration.product import APT, INSTALL, INSTALL_SECONDS, SERVICES, Product
from tests.integration.test_cli import PLAN, SSDS, plan
from tests.integration.test_stories import CHECK, PHOTOS
from tests.integration.test_trial import wait_until_undone
from tests.lab.deb import deb
from tests.lab.guest import Guest
from tests.lab.guest_disks import DiskDigest
from tests.lab.next_release import GROUP, VERSION, changed_files

pytestmark = [pytest.mark.lab, pytest.mark.long]

TRIAL = "8m"
"""Longer than apt takes to stop the host's service under emulation: the release before must not end it. It begins just
before the upgrade, and anew with it."""
ENOUGH = 4
"""Samples, of which one is taken every 10 s."""
SAMPLES = """
from nasadvisor.console.evidence.series import samples_of
from django.apps import apps
for series in apps.get_model("console", "SampledPool").objects.all():
    for sample in samples_of(series, 0, 0, {until}):
        disks = [(disk.key, disk.writes, disk.written_bytes) for disk in sample.disks]
        print(series.name, sample.at, sample.seconds, sum(each.commits for each in sample.datasets), disks)
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
BUSY = "for n in $(seq 100); do dd if=/dev/urandom of=/tank/photos/busy bs=16k count=1 oflag=sync status=none; done"


STATE = "/var/lib/nasadvisor/console"
PENDING = "from django.core.management import call_command; call_command('migrate', check_unapplied=True, verbosity=0)"
GROUPS = f"from django.contrib.auth.models import Group; print(Group.objects.filter(name='{GROUP}').count())"
KEY = f"sha256sum {STATE}/secret-key"


@dataclass(frozen=True)
class Before:
    """What this release knew, as it told it itself. `samples` and `stored` are lines of text, `key` is the digest of
    the console's key."""

    product: Product
    blank: dict[str, DiskDigest]
    past: str
    trial: str
    until: int
    samples: str
    stored: str
    sweep: str
    key: str

    def samples_now(self) -> str:
        """The same samples as they are read now."""
        return self.product.console(SAMPLES.format(until=self.until))


def runs(product: Product) -> dict[str, Any]:
    """What `nasadvisor runs` lists, by run."""
    return {run["id"]: run for run in product.json("runs")}


def wait_for(what: str, product: Product, python: str, is_there: Callable[[str], bool]) -> str:
    """What the console prints once it is enough."""
    deadline = time.monotonic() + 300
    while not is_there(said := product.console(python)):
        assert time.monotonic() < deadline, f"{what}: {said}"
        time.sleep(5)
    return said


@pytest.fixture(scope="module")
def before(guest: Guest) -> Iterator[Before]:
    """A run of the past and a log on trial, made by this release; then the upgrade to the next one."""
    following = deb(version=VERSION, changed=changed_files())
    guest.reset()
    guest.run(f"{APT} purge nasadvisor", check=False, timeout=INSTALL_SECONDS)
    product = Product(guest)
    product.install()
    product.console(CHANGED)
    guest.run("echo NASADVISOR_TIME_ZONE=Europe/Berlin >> /etc/nasadvisor/environment")
    sweep, key = product.console(SWEEP_EVERY), guest.run(KEY).stdout
    blank = guest.digests(*SSDS)
    guest.run(PHOTOS)
    plan(product)
    past = product.json("apply", PLAN, "--yes")["run"]
    guest.run(BUSY, timeout=600)
    every = SAMPLES.format(until=10**10)
    told = wait_for("samples", product, every, lambda said: len(said.splitlines()) >= ENOUGH)
    until = int(told.splitlines()[-1].split()[1])
    samples = product.console(SAMPLES.format(until=until))
    product.json("undo", past, "--yes")
    plan(product)
    trial = product.json("apply", PLAN, "--yes", "--trial", TRIAL)["run"]
    stored = wait_for("runs", product, RUNS, lambda said: f"{trial} applied" in said and f"{past} undone" in said)
    product.bring(following)
    guest.run(INSTALL, timeout=INSTALL_SECONDS)
    product.start()
    yield Before(product, blank, past, trial, until, samples, stored, sweep, key)
    guest.run(f"{APT} purge nasadvisor", check=False, timeout=INSTALL_SECONDS)


def version(product: Product) -> str:
    """The version that dpkg says is installed."""
    return product.guest.run("dpkg-query --show --showformat='${Status} ${Version}' nasadvisor").stdout.strip()


def test_history_and_samples_are_all_there_and_the_trial_goes_on(before: Before) -> None:
    """Proves: the new release lists and shows both runs as they were, its pages show them, and each sample says what it
    said before."""
    product = before.product
    assert version(product) == f"install ok installed {VERSION}"
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


def test_the_database_is_brought_up_to_date_and_keys_and_settings_are_kept(before: Before) -> None:
    product, guest = before.product, before.product.guest
    product.console(PENDING)
    assert product.console(GROUPS) == "1"
    assert guest.run(KEY).stdout == before.key
    assert "Europe/Berlin" in guest.run("cat /etc/nasadvisor/environment").stdout
    doctor = product.cli("doctor")
    assert doctor.code == 0, doctor.stdout


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


def test_the_release_before_cannot_read_what_is_stored_now_and_is_refused(before: Before) -> None:
    """Proves: apt is refused, the next release stays and runs, and the run that it ended is still told."""
    product = before.product
    product.bring(deb())
    refused = product.guest.run(INSTALL, check=False, timeout=INSTALL_SECONDS)
    assert refused.code != 0
    assert "cannot read the data that later releases have stored" in refused.stdout + refused.stderr
    assert version(product) == f"install ok installed {VERSION}"
    product.wait_until_it_answers()
    assert {product.state(service, "ActiveState") for service in SERVICES} == {"active"}
    assert product.json("show", before.trial)["state"] == "undone"
