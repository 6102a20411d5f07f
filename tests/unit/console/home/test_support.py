"""The support bundle of a host as the console has it: complete enough to replay, without a name of anybody."""

import base64
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.test import Client
from django.utils import timezone

from nasadvisor.console.accounts.audit_models import AuditEntry
from nasadvisor.console.accounts.models import ApiToken
from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.evidence.models import Resolution, SampledPool
from nasadvisor.console.evidence.series import whole_samples_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import Channel, HomeAssistantSettings, StoredAlert, WatchSettings
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.home.support import all_of
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.change.runs import CommandRan, Goal, Run, Started, fold
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.fleet.known_names import KnownName, NameKind, names_in
from nasadvisor.domain.fleet.platforms import Guest, PlatformReport
from nasadvisor.domain.health.smart.report import read_report
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import DAY_S
from nasadvisor.stored.documents import from_document, to_document
from nasadvisor.stored.packing import unpack_activity, unpack_latency
from nasadvisor.stored.support_bundle import SupportFile, write_bundle
from tests.unit.console.evidence.sampled import fill
from tests.unit.console.health.health_data import watched, written
from tests.unit.machines import MIRROR_AND_CACHES, home_server, plan_for
from tests.unit.stored.bundles import documents, leaks, unpacked

SECRETS = ("hunter2-channel", "hunter2-mail", "tgram://", "0123456789abcdef" * 4)


def people() -> list[KnownName]:
    """People, channels and tokens, with secrets that belong into no bundle."""
    User.objects.create_superuser("anna.muster", "anna@muster.example", "pass-word-1", first_name="Annabel")
    Channel.objects.create(
        name="Pager of Zoe", secret="hunter2-channel", last_error="POST https://hooks.example/T0/x: 404"
    )
    ApiToken.objects.create(name="grafana-cellar", digest="0123456789abcdef" * 4)
    delivery = WatchSettings.load()
    delivery.mail_host, delivery.mail_user, delivery.mail_secret = "smtp.muster.example", "mailer7", "hunter2-mail"
    delivery.mail_sender, delivery.console_address = "nas@muster.example", "https://nas.muster.example"
    delivery.save()
    texts = {
        NameKind.USER: ("anna.muster", "Annabel", "mailer7"),
        NameKind.MAIL: ("anna@muster.example", "nas@muster.example"),
        NameKind.LABEL: ("Pager of Zoe", "grafana-cellar"),
        NameKind.HOST: ("smtp.muster.example", "nas.muster.example", "hooks.example"),
        NameKind.GUEST: ("VM 100 (mail-of-anna)", "mail-of-anna"),
    }
    return [KnownName(kind, text) for kind, named in texts.items() for text in named]


@pytest.fixture
def known() -> list[KnownName]:
    """A host that was watched, with all that a console stores of one; all names in it."""
    series = fill(hours=2)
    inventory = home_server()
    watched(inventory, days=20)
    written("N1", days=4)
    take_answer(
        "nas",
        "platform-report",
        to_document(PlatformReport("nas", "", guests=(Guest("tank/vms", "VM 100 (mail-of-anna)"),))),
    )
    plan = plan_for(MIRROR_AND_CACHES, inventory)
    StoredRun.objects.create(
        id=plan.id,
        node=Node.objects.get(),
        pool_guid=plan.request.pool_guid,
        pool_name="tank",
        document=to_document(_ran(plan_for(MIRROR_AND_CACHES, inventory))),
        requested_by="anna.muster",
        requested_at=timezone.now(),
    )
    StoredAlert.objects.update(acknowledged_by="anna.muster")
    datasets = [KnownName(NameKind.DATASET, name) for name in series.names if name.startswith("tank")]
    return [*people(), *names_in(inventory), *datasets, *names_in(series.facts), KnownName(NameKind.HOST, "nas")]


def _ran(plan: Any) -> Run:
    run = fold([Started("2026-11-20T10:00:00+00:00", Goal.APPLY, plan, "anna.muster (command line)")], "nas")
    ran = CommandRan(("zpool", "status"), 0, "foreign: somebody-else", "cannot open 'tank'", 0.1)
    return replace(run, steps=(replace(run.steps[0], ran=(ran,)), *run.steps[1:]))


def bundle() -> dict[str, str]:
    file = io.BytesIO()
    now = timezone.now()
    write_bundle(file, *all_of("nas", now), now)
    return unpacked(file.getvalue())


def test_neither_a_name_nor_a_secret_of_a_host_that_was_watched_is_in_its_bundle(known: list[KnownName]) -> None:
    files = bundle()
    assert leaks(files, known) == []
    everything = "".join(files.values())
    assert [secret for secret in (*SECRETS, "somebody-else", "pbkdf2", "argon2") if secret in everything] == []


@pytest.mark.django_db
def test_the_broker_of_home_assistant_and_its_user_are_known_wherever_a_log_names_them() -> None:
    HomeAssistantSettings.objects.create(pk=1, host="broker.muster.example", user="publisher7", secret="hunter2-broker")
    now, file = timezone.now(), io.BytesIO()
    parts, known = all_of("nas", now)
    line = "Home Assistant: The MQTT broker broker.muster.example:1883 could not be reached by publisher7"
    write_bundle(file, (*parts, SupportFile("log/console.txt", line)), known, now)
    everything = "".join(unpacked(file.getvalue()).values())
    assert [name for name in ("muster", "publisher7", "hunter2") if name in everything] == []


def test_a_bundle_is_read_back_by_the_readers_of_what_is_stored(known: list[KnownName]) -> None:
    found = documents(bundle())
    inventory = from_document(Inventory, found["inventory.json"])
    (pool,) = (pool for pool in inventory.pools if pool.name == found["pools/pool-1/pool.json"]["pool_name"])
    facts = from_document(PoolFacts, found["pools/pool-1/pool.json"]["facts"])
    assert (facts.guid, facts.name) == (pool.guid, pool.name)
    assert {dataset.name.split("/")[0] for dataset in facts.datasets} == {pool.name}
    (run,) = (value for name, value in found.items() if name.startswith("runs/"))
    told = from_document(Run, run["run"])
    assert told.plan.request.pool_guid == pool.guid
    assert set(told.plan.request.disks) <= {disk.key for disk in inventory.disks}
    assert [each.stdout for step in told.steps for each in step.ran] == [""]
    assert f"cannot open '{pool.name}'" in [each.stderr for step in told.steps for each in step.ran]
    for disk in StoredDisk.objects.all():
        assert disk.model.replace(" ", "_") in "".join(found)
    for name, document in found.items():
        for answer in document.get("answers", []) if name.startswith("disks/") else []:
            assert read_report(answer["smartctl"]).serial == document["serial"]


def test_samples_are_replayed_with_pseudonyms(known: list[KnownName]) -> None:
    series = SampledPool.objects.get()
    told = documents(bundle())["pools/pool-1/samples.json"]
    rows = [each for each in told["samples"] if each["resolution"] == Resolution.MINUTE]
    empty = [Sample(told["guid"], "pool-1", each["at"], each["seconds"]) for each in rows]
    read = [
        unpack_activity(sample, base64.b64decode(each["activity"]), told["names"])
        for sample, each in zip(empty, rows, strict=True)
    ]
    vdevs = [unpack_latency(base64.b64decode(each["latency"]), told["names"]) for each in rows]
    stored = [*whole_samples_of(series, Resolution.MINUTE, 0, rows[-1]["at"])]
    assert [sample.arc for sample in read] == [sample.arc for sample in stored]
    assert [[each.writes for each in found] for found in vdevs] == [[v.writes for v in s.vdevs] for s in stored]
    names = [each.name for each in read[-1].datasets]
    assert len(set(names)) == len(stored[-1].datasets)
    assert all(name.startswith("pool-1") for name in names)


def test_what_is_older_than_a_week_or_cannot_be_read_is_left_out_and_said(known: list[KnownName]) -> None:
    series = SampledPool.objects.get()
    series.samples.update(at=F("at") - 8 * DAY_S)
    Node.objects.update(inventory_document={"version": 1, "host": "tank of anna.muster"})
    found = documents(bundle())
    assert found["pools/pool-1/samples.json"]["samples"] == []
    assert "not a valid inventory document" in found["inventory.json"]["not readable"]
    assert "anna" not in json.dumps(found["inventory.json"])


def test_an_administrator_downloads_it_and_that_is_written_down(admin: Client, known: list[KnownName]) -> None:
    assert "Download a support bundle" in admin.get("/settings/").content.decode()
    answer = admin.post("/settings/support/")
    assert answer.status_code == 200
    assert answer["Content-Disposition"].startswith('attachment; filename="nasadvisor-support-')
    assert "inventory.json" in unpacked(answer.content)
    assert AuditEntry.objects.filter(act="support-bundle", about="nas").count() == 1


def test_nobody_else_does(operator: Client) -> None:
    assert "support bundle" not in operator.get("/settings/").content.decode()
    assert operator.post("/settings/support/").status_code == 403


def test_a_console_without_hosts_has_one_too(admin: Client) -> None:
    found = documents(unpacked(admin.post("/settings/support/").content))
    assert found["versions.json"]["database"].startswith("sqlite 3")
    assert set(found) == {"versions.json", "settings.json"}
