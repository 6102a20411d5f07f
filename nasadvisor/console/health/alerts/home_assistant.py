"""What Home Assistant is shown by MQTT discovery: hosts, pools and disks as its devices, in the words of the pages.

Each value is an entity with a topic of its own under the discovery prefix, so that an empty payload there takes it away
again; the values of a device are one JSON object under `nasadvisor/`. Keys and device classes are those of Home
Assistant's documentation (integrations mqtt, sensor.mqtt, binary_sensor.mqtt).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final, Literal

from django.urls import reverse
from django.utils.translation import gettext as _

from nasadvisor import __version__
from nasadvisor.domain.statements import Level

ROOT: Final = "nasadvisor"
"""What all identifiers, and the topics of values, begin with."""

REPEAT_AFTER: Final = timedelta(minutes=15)
"""All of it is published anew at least that often."""

EXPIRE_AFTER_S: Final = int(3 * REPEAT_AFTER.total_seconds())
"""After two that are missing Home Assistant shows no value any more: the console may be down."""

ORIGIN: Final = {"name": "NAS Advisor", "sw_version": __version__}

OK: Final = "ok"
LEVELS: Final = {Level.INFO: "note", Level.WARNING: "warning", Level.CRITICAL: "critical"}

Value = str | float | None
"""None where it is not known: Home Assistant shows it as unknown."""


@dataclass(frozen=True)
class HostStatus:
    """A host. `level` is the worst of what nobody has acknowledged, None where there is nothing to say; `headline` says
    it. `is_heard` is whether what is known of its pools and disks is fresh.
    """

    name: str
    is_heard: bool
    level: Level | None = None
    headline: str = ""
    open_alerts: int = 0
    release: str = ""


@dataclass(frozen=True)
class PoolStatus:
    """A pool. `has_problem` until it is over, acknowledged or not; `waits_s` is how long programs wait in a day."""

    host: str
    guid: str
    name: str
    has_problem: bool = False
    headline: str = ""
    used_percent: float | None = None
    waits_s: float | None = None
    is_scrubbed: bool = False


@dataclass(frozen=True)
class DiskStatus:
    """A disk, known by `key` and `own_serial`; `worn_out_on` is the day on which its rated endurance is used up."""

    host: str
    key: str
    own_serial: str
    label: str
    model: str = ""
    serial: str = ""
    has_problem: bool = False
    headline: str = ""
    temperature_c: int | None = None
    worn_percent: float | None = None
    worn_out_on: date | None = None


@dataclass(frozen=True)
class Entity:
    """A value as Home Assistant shows it. `options` are those of its component there."""

    component: Literal["sensor", "binary_sensor"]
    key: str
    name: str
    value: Value
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Device:
    """A thing with its entities. `about` is Home Assistant's object `device`, `host` the identifier of its host."""

    identifier: str
    host: str
    about: Mapping[str, str]
    headline: str
    entities: tuple[Entity, ...]


def identifier(kind: str, *parts: str) -> str:
    """The same for the same thing for ever, of letters that topics may have."""
    return f"{ROOT}_{kind}_{hashlib.sha256('|'.join(parts).encode()).hexdigest()[:16]}"


def host_device(host: HostStatus, console: str) -> Device:
    """A host with the worst that is said of it; `console` is the address of the console, "" if unknown."""
    own = identifier("host", host.name)
    level = {"device_class": "enum", "options": [OK, *LEVELS.values()], **_explained(own)}
    entities = (
        Entity("sensor", "level", _("State"), LEVELS[host.level] if host.level else OK, level),
        Entity("sensor", "alerts", _("Open alerts"), host.open_alerts, {"state_class": "measurement"}),
    )
    about = _about(host.name, "NAS Advisor", console, reverse("overview")) | {"sw_version": host.release}
    return Device(own, own, about, host.headline, entities)


def pool_device(pool: PoolStatus, console: str) -> Device:
    """A pool, with its host behind its name."""
    own, host = identifier("pool", pool.guid), identifier("host", pool.host)
    measured = {"state_class": "measurement"}
    percent = {**measured, "unit_of_measurement": "%", "suggested_display_precision": 0}
    seconds = {**measured, "device_class": "duration", "unit_of_measurement": "s", "suggested_display_precision": 0}
    entities = [_problem(own, pool.has_problem)]
    if pool.used_percent is not None:
        entities.append(Entity("sensor", "used", _("Used"), round(pool.used_percent, 1), percent))
    if pool.waits_s is not None:
        entities.append(Entity("sensor", "waiting", _("Programs wait, a day"), round(pool.waits_s), seconds))
    scrub = Entity("binary_sensor", "scrub", _("Scrub"), _on(pool.is_scrubbed), {"device_class": "running"})
    about = _about(f"{pool.name} ({pool.host})", "OpenZFS", console, reverse("pool", args=[pool.guid]))
    return Device(own, host, about | {"via_device": host}, pool.headline, (*entities, scrub))


def disk_device(disk: DiskStatus, console: str) -> Device:
    """A disk with what is known of it."""
    own, host = identifier("disk", disk.key, disk.own_serial), identifier("host", disk.host)
    celsius = {"device_class": "temperature", "unit_of_measurement": "°C", "state_class": "measurement"}
    percent = {"unit_of_measurement": "%", "state_class": "measurement"}
    entities = [_problem(own, disk.has_problem)]
    if disk.temperature_c is not None:
        entities.append(Entity("sensor", "temperature", _("Temperature"), disk.temperature_c, celsius))
    if disk.worn_percent is not None:
        entities.append(Entity("sensor", "wear", _("Wear"), disk.worn_percent, percent))
    if disk.worn_out_on is not None:
        name, day = _("Last day of rated endurance"), disk.worn_out_on.isoformat()
        entities.append(Entity("sensor", "worn_out", name, day, {"device_class": "date"}))
    about = _about(disk.label, disk.model, console, reverse("disk", args=[disk.key]))
    about |= {"serial_number": disk.serial, "via_device": host}
    return Device(own, host, about, disk.headline, tuple(entities))


def messages_about(devices: Iterable[Device], hosts: Iterable[HostStatus], prefix: str) -> dict[str, str]:
    """The payload of each topic: first what there is, then the values."""
    found = tuple(devices)
    messages = {
        f"{prefix}/{entity.component}/{device.identifier}_{entity.key}/config": _text(_config(device, entity))
        for device in found
        for entity in device.entities
    }
    for host in hosts:
        messages[_availability_of(identifier("host", host.name))] = "online" if host.is_heard else "offline"
    for device in found:
        values: dict[str, Value] = {entity.key: entity.value for entity in device.entities}
        messages[_values_of(device.identifier)] = _text(values | {"headline": device.headline})
    return messages


def trial_messages(prefix: str) -> dict[str, str]:
    """What changes nothing, and is refused where any of the others would be."""
    return {f"{prefix}/sensor/{ROOT}_test/config": "", f"{ROOT}/test": ""}


def empty_messages(topics: Iterable[str]) -> dict[str, str]:
    """What takes these topics away: what there is before its values, or Home Assistant would miss these."""
    return dict.fromkeys(sorted(topics, key=lambda topic: (not topic.endswith("/config"), topic)), "")


def digest_of(payload: str) -> str:
    """What tells one payload from another."""
    return hashlib.sha256(payload.encode()).hexdigest()[:16]


def _config(device: Device, entity: Entity) -> dict[str, object]:
    own = f"{device.identifier}_{entity.key}"
    config = {
        "name": entity.name,
        "unique_id": own,
        "state_topic": _values_of(device.identifier),
        "value_template": f"{{{{ value_json.{entity.key} }}}}",
        "expire_after": EXPIRE_AFTER_S,
        "device": {"identifiers": [device.identifier], **{name: text for name, text in device.about.items() if text}},
        "origin": ORIGIN,
        **entity.options,
    }
    if device.identifier != device.host:  # of a host that is silent there is still that to say
        config["availability_topic"] = _availability_of(device.host)
    return config


def _problem(device: str, has_problem: bool) -> Entity:
    options = {"device_class": "problem", **_explained(device)}
    return Entity("binary_sensor", "problem", _("Problem"), _on(has_problem), options)


def _explained(device: str) -> dict[str, str]:
    """The headline as an attribute."""
    template = "{{ {'headline': value_json.headline} | tojson }}"
    return {"json_attributes_topic": _values_of(device), "json_attributes_template": template}


def _on(value: bool) -> str:
    return "ON" if value else "OFF"


def _about(name: str, model: str, console: str, path: str) -> dict[str, str]:
    return {"name": name, "model": model, "configuration_url": f"{console.rstrip('/')}{path}" if console else ""}


def _values_of(device: str) -> str:
    return f"{ROOT}/{device}/state"


def _availability_of(host: str) -> str:
    return f"{ROOT}/{host}/availability"


def _text(document: Mapping[str, object]) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False)
