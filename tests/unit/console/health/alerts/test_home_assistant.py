"""What Home Assistant is shown: payloads that it can take, of all that there is and of nothing else."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given, settings

from nasadvisor.console.accounts.audit_models import AuditEntry
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts import home_assistant_page, home_assistant_publisher
from nasadvisor.console.health.alerts.home_assistant import (
    REPEAT_AFTER,
    DiskStatus,
    disk_device,
    identifier,
    messages_about,
)
from nasadvisor.console.health.alerts.home_assistant_publisher import messages_now, publish_changes
from nasadvisor.console.health.alerts.models import HomeAssistantSettings, WatchSettings
from nasadvisor.console.health.alerts.senders import NotSent
from nasadvisor.console.health.alerts.watch import take_up, watch
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.secrets import decrypt, encrypt
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.documents import to_document
from tests.fixtures.machines.build import typical
from tests.unit.console.conftest import PASSWORD
from tests.unit.console.health.health_data import disk_of, watched
from tests.unit.domain.builders import inventories

ADDRESS = "/settings/alerts/home-assistant/"
FORM = {"is_enabled": "on", "host": "broker.example", "port": "1883", "prefix": "homeassistant", "language": "en"}
SECRET = "br0ker-passw0rd"
NODE = "nas1"
POOL = f"tank ({NODE})"
WORN = "S6Z1NJ0W401234"


class Broker:
    """In the place of `mqtt.publish`: what it keeps, and what it was told at each time."""

    def __init__(self) -> None:
        self.is_down = False
        self.kept: dict[str, str] = {}
        self.rounds: list[dict[str, str]] = []

    def publish(self, _settings: HomeAssistantSettings, messages: Mapping[str, str]) -> None:
        if self.is_down:
            raise NotSent("The MQTT broker broker.example:1883 could not be reached: timed out")
        self.rounds.append(dict(messages))
        self.kept = {topic: payload for topic, payload in (self.kept | dict(messages)).items() if payload}


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    made = Broker()
    monkeypatch.setattr(home_assistant_publisher, "publish", made.publish)
    monkeypatch.setattr(home_assistant_page, "publish", made.publish)
    return made


@pytest.fixture
def chosen() -> HomeAssistantSettings:
    due_at = timezone.now() - timedelta(minutes=1)
    made = HomeAssistantSettings(pk=1, host="broker.example", user="nas", secret=encrypt(SECRET), due_at=due_at)
    made.save()
    return made


def configs(messages: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    return {topic: json.loads(text) for topic, text in messages.items() if topic.endswith("/config")}


def shown(messages: Mapping[str, str], device: str) -> dict[str, Any]:
    """The values of the entities of a device, by their names."""
    return {
        config["name"]: json.loads(messages[config["state_topic"]])[
            re.fullmatch(r"\{\{ value_json\.(\w+) \}\}", config["value_template"])[1]  # type: ignore[index]
        ]
        for config in configs(messages).values()
        if config["device"]["name"] == device
    }


def hold(messages: Mapping[str, str]) -> None:
    """Fail where Home Assistant could not take something."""
    found = configs(messages)
    ids = [config["unique_id"] for config in found.values()]
    assert len(ids) == len(set(ids))
    for topic, config in found.items():
        assert re.fullmatch(r"homeassistant/(sensor|binary_sensor)/[A-Za-z0-9_-]+/config", topic)
        assert topic.split("/")[2] == config["unique_id"]
        assert json.loads(messages[config["state_topic"]]) is not None
        assert config["device"]["identifiers"]
        assert config["device"]["name"]
        assert config["origin"]["name"] == "NAS Advisor"
        assert messages.get(config.get("availability_topic", ""), "online") in ("online", "offline")
        if config.get("device_class") == "enum":
            assert json.loads(messages[config["state_topic"]])["level"] in config["options"]
    for topic in messages:
        assert not set(topic) & set("+# ")


def test_a_host_its_pool_and_its_disks_are_devices_with_their_values() -> None:
    now = watched(typical())
    messages = messages_now("homeassistant", now).messages
    hold(messages)
    worn = disk_of(WORN)
    assert shown(messages, NODE)["State"] == "warning"
    assert {"Problem": "OFF", "Scrub": "OFF"}.items() <= shown(messages, POOL).items()
    assert 0 < shown(messages, POOL)["Used"] < 100
    disk = shown(messages, worn.label)
    assert (disk["Problem"], disk["Wear"], disk["Temperature"]) == ("ON", worn.percent_used, worn.temperature_c)
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", disk["Last day of rated endurance"])
    for other in StoredDisk.objects.filter(is_rotational=True):
        assert set(shown(messages, other.label)) <= {"Problem", "Temperature"}


def test_the_headline_is_that_of_the_first_page(operator: Client) -> None:
    now = watched(typical())
    messages = messages_now("homeassistant", now).messages
    headline = json.loads(messages[f"nasadvisor/{identifier('host', NODE)}/state"])["headline"]
    assert headline
    assert headline in operator.get("/").content.decode().replace("\n", " ")


def test_what_somebody_has_acknowledged_is_a_problem_still_but_the_host_no_more() -> None:
    now = watched(typical())
    node = Node.objects.get()
    for alert in node.alerts.all():
        take_up(alert, "anna", now)
    messages = messages_now("homeassistant", now).messages
    assert shown(messages, NODE)["State"] in ("ok", "note")
    assert shown(messages, NODE)["Open alerts"] == node.alerts.count()
    assert shown(messages, disk_of(WORN).label)["Problem"] == "ON"


def test_of_a_silent_host_the_pools_and_disks_are_unavailable_and_it_says_so() -> None:
    now = watched(typical())
    later = now + timedelta(hours=1)
    watch(later)
    messages = messages_now("homeassistant", later).messages
    available = messages[f"nasadvisor/{identifier('host', NODE)}/availability"]
    assert (
        available,
        messages_now("homeassistant", now).messages[f"nasadvisor/{identifier('host', NODE)}/availability"],
    ) == (
        "offline",
        "online",
    )
    for config in configs(messages).values():
        assert ("availability_topic" in config) == (config["device"]["name"] != NODE)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(inventories())
def test_every_machine_is_shown_in_a_form_that_home_assistant_takes(inventory: Inventory) -> None:
    Node.objects.all().delete()
    now = timezone.now()
    found = replace(inventory, read_at=now.isoformat(timespec="seconds"))
    take_answer(found.host.node, "inventory", to_document(found))
    messages = messages_now("homeassistant", now).messages
    hold(messages)
    problems = [config for config in configs(messages).values() if config.get("device_class") == "problem"]
    guids = {pool.guid for pool in found.pools}
    assert len(problems) == len(guids) + StoredDisk.objects.count()


def test_identifiers_depend_on_the_thing_and_on_nothing_else() -> None:
    disk = DiskStatus(NODE, "wwn-0x5 ü/+#", "", "A (1)")
    moved = replace(disk, host="other", label="B (1)", temperature_c=40)
    assert disk_device(disk, "").identifier == disk_device(moved, "").identifier
    assert disk_device(replace(disk, own_serial="2"), "").identifier != disk_device(disk, "").identifier
    hold(
        messages_about([disk_device(disk, "https://nas.example:8843/")], [], "homeassistant")
        | {f"nasadvisor/{identifier('host', NODE)}/availability": "online"}
    )


def test_links_lead_to_the_console_where_its_address_is_known() -> None:
    now = watched(typical(), days=0)
    assert all("configuration_url" not in each["device"] for each in configs(messages_now("h", now).messages).values())
    WatchSettings.load()
    WatchSettings.objects.update(console_address="https://nas.example:8843")
    links = {each["device"]["configuration_url"] for each in configs(messages_now("h", now).messages).values()}
    assert all(link.startswith("https://nas.example:8843/") for link in links)


def test_only_what_changed_is_published_and_all_of_it_every_quarter_of_an_hour(
    broker: Broker, chosen: HomeAssistantSettings
) -> None:
    now = watched(typical(), days=0)
    publish_changes(now)
    everything = dict(broker.kept)
    publish_changes(now + timedelta(minutes=1))
    assert len(broker.rounds) == 1
    disk = StoredDisk.objects.filter(temperature_c__isnull=False).first()
    assert disk
    StoredDisk.objects.filter(pk=disk.pk).update(temperature_c=77)
    publish_changes(now + timedelta(minutes=2))
    assert list(broker.rounds[1]) == [f"nasadvisor/{identifier('disk', disk.key, disk.own_serial)}/state"]
    broker.kept = {}
    publish_changes(now + REPEAT_AFTER)
    assert broker.kept.keys() == everything.keys()


def test_a_disk_that_is_missing_is_a_problem_and_one_that_was_removed_is_gone(
    broker: Broker, chosen: HomeAssistantSettings
) -> None:
    now = watched(typical(), days=0)
    publish_changes(now)
    disk = StoredDisk.objects.filter(is_rotational=True).first()
    assert disk
    own = identifier("disk", disk.key, disk.own_serial)
    StoredDisk.objects.filter(pk=disk.pk).update(is_present=False)
    publish_changes(now + timedelta(minutes=1))
    assert json.loads(broker.kept[f"nasadvisor/{own}/state"])["problem"] == "ON"
    StoredDisk.objects.filter(pk=disk.pk).update(is_forgotten=True)
    publish_changes(now + timedelta(minutes=2))
    assert not [topic for topic in broker.kept if own in topic]
    assert {payload for topic, payload in broker.rounds[-1].items() if own in topic} == {""}
    *configs_first, values = [topic for topic in broker.rounds[-1] if own in topic]
    assert values.endswith("/state")
    assert all(topic.endswith("/config") for topic in configs_first)


def test_a_pool_that_is_exported_is_gone_but_not_one_that_could_not_be_decoded(
    broker: Broker, chosen: HomeAssistantSettings
) -> None:
    inventory = typical()
    own = identifier("pool", inventory.pools[0].guid)
    now = watched(inventory, days=0)
    publish_changes(now)
    Node.objects.update(inventory_document={"of": "another release"}, inventory_version="0" * 32)
    publish_changes(now + timedelta(minutes=1))
    assert [topic for topic in broker.kept if own in topic]
    read_at = (now + timedelta(minutes=2)).isoformat(timespec="seconds")
    take_answer(NODE, "inventory", to_document(replace(inventory, pools=(), read_at=read_at)))
    publish_changes(now + timedelta(minutes=2))
    assert not [topic for topic in broker.kept if own in topic]


def test_a_broker_that_is_away_is_said_and_tried_again_ever_more_seldom(
    broker: Broker, chosen: HomeAssistantSettings, admin: Client
) -> None:
    now = watched(typical(), days=0)
    broker.is_down = True
    tried = []
    for minute in range(60):
        before = HomeAssistantSettings.load().failures
        publish_changes(now + timedelta(minutes=minute))
        if HomeAssistantSettings.load().failures > before:
            tried.append(minute)
    assert tried == [0, 1, 3, 7, 15, 30, 45]
    assert "could not be reached: timed out" in admin.get("/settings/alerts/").content.decode()
    broker.is_down = False
    publish_changes(now + timedelta(minutes=61))
    assert (HomeAssistantSettings.load().last_error, HomeAssistantSettings.load().failures) == ("", 0)
    assert broker.kept


def test_switched_off_it_takes_everything_away_once(broker: Broker, chosen: HomeAssistantSettings) -> None:
    now = watched(typical(), days=0)
    publish_changes(now)
    HomeAssistantSettings.objects.update(is_enabled=False)
    publish_changes(now + timedelta(minutes=1))
    assert broker.kept == {}
    publish_changes(now + timedelta(minutes=2))
    assert len(broker.rounds) == 2


def test_another_prefix_leaves_nothing_under_the_former(broker: Broker, chosen: HomeAssistantSettings) -> None:
    now = watched(typical(), days=0)
    publish_changes(now)
    HomeAssistantSettings.objects.update(prefix="ha/discovery")
    publish_changes(now + timedelta(minutes=1))
    assert {topic.split("/")[0] for topic in broker.kept} == {"ha", "nasadvisor"}


def test_in_german_the_names_are_german(broker: Broker, chosen: HomeAssistantSettings) -> None:
    HomeAssistantSettings.objects.update(language="de")
    publish_changes(watched(typical(), days=0))
    assert {"Temperatur", "Belegt", "Offene Meldungen"} <= {each["name"] for each in configs(broker.kept).values()}


def test_nothing_secret_is_published(broker: Broker, chosen: HomeAssistantSettings) -> None:
    publish_changes(watched(typical()))
    said = json.dumps(broker.kept)
    assert SECRET not in said
    assert chosen.secret not in said


def test_it_is_saved_once_the_broker_took_a_test_and_the_password_is_never_shown(admin: Client, broker: Broker) -> None:
    broker.is_down = True
    form = {**FORM, "user": "nas", "broker_password": SECRET}
    answer = admin.post(ADDRESS, form).content.decode()
    assert "Nothing was saved" in answer
    assert not HomeAssistantSettings.objects.exists()
    broker.is_down = False
    assert admin.post(ADDRESS, form).status_code == 302
    saved = HomeAssistantSettings.load()
    assert (saved.host, decrypt(saved.secret)) == ("broker.example", SECRET)
    assert broker.rounds == [{"homeassistant/sensor/nasadvisor_test/config": "", "nasadvisor/test": ""}]
    assert AuditEntry.objects.filter(act="home-assistant-changed", about="broker.example").exists()
    for address in (ADDRESS, "/settings/alerts/"):
        page = admin.get(address).content.decode()
        assert "broker.example" in page
        assert SECRET not in page
        assert saved.secret not in page


def test_without_a_test_it_is_saved_though_the_broker_is_away(admin: Client, broker: Broker) -> None:
    broker.is_down = True
    admin.post(ADDRESS, {**FORM, "without_test": "1"})
    assert HomeAssistantSettings.load().host == "broker.example"


def test_a_stored_password_goes_to_no_other_broker(
    admin: Client, broker: Broker, chosen: HomeAssistantSettings
) -> None:
    form = {**FORM, "user": "nas"}
    assert "the broker is another one" in admin.post(ADDRESS, {**form, "host": "evil.example"}).content.decode()
    assert HomeAssistantSettings.load().host == "broker.example"
    admin.post(ADDRESS, {**form, "prefix": "ha"})
    assert decrypt(HomeAssistantSettings.load().secret) == SECRET


def test_a_former_broker_that_is_away_is_said_and_left_all_the_same(
    admin: Client, broker: Broker, chosen: HomeAssistantSettings
) -> None:
    publish_changes(watched(typical(), days=0))
    broker.is_down = True
    answer = admin.post(ADDRESS, {**FORM, "host": "other.example", "without_test": "1"}, follow=True)
    assert "The devices at the former broker could not be removed." in answer.content.decode()
    assert (HomeAssistantSettings.load().host, HomeAssistantSettings.load().published) == ("other.example", {})


def test_the_broker_that_is_left_keeps_nothing(admin: Client, broker: Broker, chosen: HomeAssistantSettings) -> None:
    publish_changes(watched(typical(), days=0))
    admin.post(ADDRESS, {**FORM, "host": "other.example", "without_test": "1"})
    assert broker.kept == {}
    assert HomeAssistantSettings.load().published == {}


@pytest.mark.parametrize(
    "wrong", [{"prefix": "a b"}, {"prefix": "+"}, {"prefix": "/x"}, {"port": "70000"}, {"host": ""}]
)
def test_what_is_no_broker_is_refused(admin: Client, broker: Broker, wrong: dict[str, str]) -> None:
    assert admin.post(ADDRESS, FORM | wrong).status_code == 200
    assert not HomeAssistantSettings.objects.exists()


def test_a_cookie_alone_changes_nothing(cookie: Client, broker: Broker) -> None:
    cookie.post(ADDRESS, FORM)
    assert not HomeAssistantSettings.objects.exists()
    cookie.post(ADDRESS, {**FORM, "password": PASSWORD})
    assert HomeAssistantSettings.objects.exists()
