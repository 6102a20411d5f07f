"""What Home Assistant is shown, at a real broker: who may publish there, what it keeps, and what it says."""

import json
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import override_settings
from django.utils import timezone
from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion

from nasadvisor.console.health.alerts.home_assistant import identifier, trial_messages
from nasadvisor.console.health.alerts.home_assistant_publisher import publish_changes
from nasadvisor.console.health.alerts.models import HomeAssistantSettings
from nasadvisor.console.health.alerts.mqtt import publish
from nasadvisor.console.health.alerts.senders import NotSent
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.secrets import encrypt, new_key
from nasadvisor.runtime.certificates import self_signed
from tests.fixtures.machines.build import typical
from tests.lab.instance import free_port
from tests.unit.console.health.health_data import watched

SERVER = shutil.which("mosquitto", path="/usr/sbin:/usr/bin")
PASSWORDS = shutil.which("mosquitto_passwd")
START_S = 10.0
QUIET_S = 0.5
PASSWORD = "br0ker-passw0rd"

pytestmark = [
    pytest.mark.skipif(SERVER is None, reason="mosquitto is not installed (Debian package mosquitto)"),
    pytest.mark.django_db,
]


@dataclass
class Listener:
    """Somebody who reads along, as Home Assistant does; `kept` is what the broker had before they came."""

    port: int
    kept: dict[str, str] = field(default_factory=dict)

    def look(self) -> dict[str, str]:
        """All that the broker keeps."""
        self.kept = {}
        client = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
        client.username_pw_set("nas", PASSWORD)
        heard = [time.monotonic()]

        def take(_client: paho.Client, _data: object, message: paho.MQTTMessage) -> None:
            assert message.retain
            self.kept[message.topic] = message.payload.decode()
            heard[0] = time.monotonic()

        client.on_message = take
        client.connect("127.0.0.1", self.port)
        while not client.is_connected():
            client.loop(0.1)
        client.subscribe("#", qos=1)
        while time.monotonic() - heard[0] < QUIET_S:
            client.loop(0.1)
        client.disconnect()
        return self.kept


@contextmanager
def mosquitto(root: Path, *lines: str) -> Iterator[int]:
    """A broker at a port of this machine, with one user who may write everywhere but under `forbidden/`."""
    assert SERVER
    assert PASSWORDS
    port = free_port()
    subprocess.run([PASSWORDS, "-b", "-c", root / "passwords", "nas", PASSWORD], check=True)
    (root / "rights").write_text("user nas\ntopic readwrite #\ntopic deny forbidden/#\n", encoding="utf-8")
    settings = (
        *("per_listener_settings false", "user root", "allow_anonymous false", "persistence false"),
        *(f"password_file {root / 'passwords'}", f"acl_file {root / 'rights'}", f"listener {port} 127.0.0.1", *lines),
    )
    (root / "mosquitto.conf").write_text("\n".join(settings) + "\n", encoding="utf-8")
    with subprocess.Popen([SERVER, "-c", root / "mosquitto.conf"], stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + START_S
        while not _listens(port):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        try:
            yield port
        finally:
            process.kill()


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(autouse=True)
def key(tmp_path: Path) -> Iterator[None]:
    """The key for passwords."""
    (tmp_path / "key").write_text(new_key())
    with override_settings(CHANNEL_KEY_FILE=tmp_path / "key"):
        yield


def chosen(port: int, password: str = PASSWORD, **options: object) -> HomeAssistantSettings:
    made = HomeAssistantSettings(
        pk=1, host="127.0.0.1", port=port, user="nas", secret=encrypt(password), may_be_private=True, **options
    )
    made.due_at = timezone.now() - timedelta(minutes=1)
    made.save()
    return made


def test_the_broker_keeps_what_there_is_and_what_left_is_taken_away(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as port:
        chosen(port)
        now = watched(typical(), days=0)
        publish_changes(now)
        assert HomeAssistantSettings.load().last_error == ""
        kept = Listener(port).look()
        assert kept.keys() == HomeAssistantSettings.load().published.keys()
        configs = [json.loads(text) for topic, text in kept.items() if topic.endswith("/config")]
        assert configs
        assert all(json.loads(kept[config["state_topic"]]) for config in configs)
        assert kept[f"nasadvisor/{identifier('host', 'nas1')}/availability"] == "online"
        disk = StoredDisk.objects.first()
        assert disk
        StoredDisk.objects.filter(pk=disk.pk).update(is_forgotten=True)
        publish_changes(now + timedelta(minutes=1))
        own = identifier("disk", disk.key, disk.own_serial)
        left = Listener(port).look()
        assert left.keys() == {topic for topic in kept if own not in topic}
        HomeAssistantSettings.objects.update(is_enabled=False)
        publish_changes(now + timedelta(minutes=2))
        assert Listener(port).look() == {}


def test_a_wrong_password_and_a_topic_that_is_forbidden_are_sentences(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as port:
        publish(chosen(port), trial_messages("homeassistant"))
        with pytest.raises(NotSent, match=r"^The MQTT broker refused: (Not authorized|Bad user name or password)\.$"):
            publish(chosen(port, "wrong"), trial_messages("homeassistant"))
        with pytest.raises(NotSent, match=r"^The MQTT broker refused: Not authorized\.$"):
            publish(chosen(port), trial_messages("forbidden"))
        assert Listener(port).look() == {}


# paho leaves a connection whose certificate it does not take to Python, which closes it.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <ssl.SSLSocket:pytest.PytestUnraisableExceptionWarning")
def test_with_tls_the_certificate_counts_unless_somebody_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, secret = self_signed(["127.0.0.1"], timezone.now())
    (tmp_path / "certificate.pem").write_bytes(certificate)
    (tmp_path / "key.pem").write_bytes(secret)
    lines = (f"certfile {tmp_path / 'certificate.pem'}", f"keyfile {tmp_path / 'key.pem'}")
    with mosquitto(tmp_path, *lines) as port:
        with pytest.raises(NotSent, match=r"could not be reached: .*certificate verify failed"):
            publish(chosen(port, has_tls=True), trial_messages("homeassistant"))
        publish(chosen(port, has_tls=True, checks_certificate=False), trial_messages("homeassistant"))
        with pytest.raises(NotSent, match="could not be reached"):
            publish(chosen(port), trial_messages("homeassistant"))
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))  # the machine trusts it
        publish(chosen(port, has_tls=True), trial_messages("homeassistant"))


def test_on_the_consoles_own_network_only_where_that_is_allowed(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as port:
        broker = chosen(port)
        broker.may_be_private = False
        with pytest.raises(NotSent, match="Tick “Allow addresses on the console's own network”"):
            publish(broker, trial_messages("homeassistant"))


def test_who_takes_the_connection_and_says_nothing_holds_nobody_up_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nasadvisor.console.health.alerts.mqtt.ALL_S", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        taken: list[socket.socket] = []
        threading.Thread(target=lambda: taken.append(mute.accept()[0]), daemon=True).start()
        began = time.monotonic()
        with pytest.raises(NotSent, match="could not be reached"):
            publish(chosen(mute.getsockname()[1]), trial_messages("homeassistant"))
        assert time.monotonic() - began < 10
        taken[0].close()
    with pytest.raises(NotSent, match=r"could not be reached: .*refused"):
        publish(chosen(free_port()), trial_messages("homeassistant"))
