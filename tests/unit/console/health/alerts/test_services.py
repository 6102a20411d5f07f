"""ntfy, Gotify and webhooks: what is typed in their own words reaches them, with its token and how bad it is."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from django.test import Client

from nasadvisor.console.health.alerts.models import Channel, ChannelKind
from nasadvisor.console.health.alerts.senders import AlertMessage, NotSent, send
from nasadvisor.console.health.alerts.services import NoServiceAddress, service_address
from nasadvisor.console.secrets import decrypt, encrypt
from nasadvisor.domain.statements import Level

FAILING = AlertMessage("nas: Critical: a disk fails", "The disk X fails.\n", Level.CRITICAL)
TOKEN = "tk_geheim123"


@dataclass(frozen=True)
class Asked:
    """One message that a service was sent."""

    path: str
    headers: dict[str, str]
    body: Any


class Service(BaseHTTPRequestHandler):
    """Takes every message."""

    asked: list[Asked]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.asked.append(Asked(self.path, dict(self.headers), json.loads(body)))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        """Nothing."""


@pytest.fixture
def service() -> Iterator[tuple[str, list[Asked]]]:
    """A service of this machine: its address, and what it was sent."""
    asked: list[Asked] = []
    server = HTTPServer(("127.0.0.1", 0), type("Asked", (Service,), {"asked": asked}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def told(kind: str, typed: str, message: AlertMessage = FAILING) -> None:
    send(Channel(name="x", kind=kind, secret=encrypt(typed), may_be_private=True), message, "")


@pytest.mark.parametrize("token", ["", f" {TOKEN}"])
def test_a_topic_of_ntfy_gets_title_text_and_priority(service: tuple[str, list[Asked]], token: str) -> None:
    address, asked = service
    told("ntfy", f"{address}/alerts{token}")
    [message] = asked
    assert message.body["topic"] == "alerts"
    assert (message.body["title"], message.body["message"]) == (FAILING.subject, FAILING.text.strip())
    assert message.headers["X-Priority"] == "high"
    assert message.headers.get("Authorization") == (f"Bearer {TOKEN}" if token else None)


def test_an_application_of_gotify_gets_title_text_and_priority(service: tuple[str, list[Asked]]) -> None:
    address, asked = service
    told("gotify", f"{address}/below/ A1b2")
    [message] = asked
    assert message.path == "/below/message"
    assert message.headers["X-Gotify-Key"] == "A1b2"
    assert (message.body["title"], message.body["message"]) == (FAILING.subject, FAILING.text.strip())
    assert message.body["priority"] >= 7


@pytest.mark.parametrize(
    ("level", "word"), [(Level.INFO, "info"), (Level.WARNING, "warning"), (Level.CRITICAL, "failure")]
)
def test_a_webhook_gets_the_documented_body_its_options_and_its_token(
    service: tuple[str, list[Asked]], level: Level, word: str
) -> None:
    address, asked = service
    told("webhook", f"{address}/hooks/nas?site=home {TOKEN}", AlertMessage("subject", "text", level))
    [message] = asked
    assert message.path == "/hooks/nas?site=home"
    assert message.headers["Authorization"] == f"Bearer {TOKEN}"
    wanted = {"version": "1.0", "title": "subject", "message": "text", "type": word, "attachments": []}
    assert message.body == wanted


@pytest.mark.parametrize(
    ("kind", "typed", "says"),
    [
        ("ntfy", "https://ntfy.sh", "end with the topic"),
        ("ntfy", "https://ntfy.sh/a/b", "end with the topic"),
        ("ntfy", "ntfys://ntfy.sh/a", "begins with https://"),
        ("gotify", "https://gotify.example", "token of an application is missing"),
        ("webhook", "ftp://x.example/", "begins with https://"),
        ("webhook", "https://x.example/ a b", "begins with https://"),
        ("webhook", "", "begins with https://"),
        ("webhook", "https:///path", "begins with https://"),
    ],
)
def test_what_is_no_address_of_the_service_is_a_sentence(kind: str, typed: str, says: str) -> None:
    with pytest.raises(NoServiceAddress, match=says):
        service_address(kind, typed)
    with pytest.raises(NotSent, match=says):
        told(kind, typed)


@pytest.mark.parametrize("kind", ["ntfy", "gotify", "webhook"])
def test_a_form_takes_it_and_shows_no_part_of_it_again(
    admin: Client, service: tuple[str, list[Asked]], kind: str
) -> None:
    address, asked = service
    typed = f"{address}/alerts {TOKEN}"
    fields = {"name": "mine", "kind": kind, "address": typed, "level": "warning", "language": "en"}
    fields["timing"] = Channel._meta.get_field("timing").default
    refused = admin.post("/settings/alerts/add/", fields).content.decode()
    assert "on the console&#x27;s own network" in refused
    assert asked == []
    assert admin.post("/settings/alerts/add/", {**fields, "may_be_private": "on"}).status_code == 302
    [stored] = Channel.objects.all()
    assert (stored.kind, decrypt(stored.secret), len(asked)) == (ChannelKind(kind), typed, 1)
    assert TOKEN not in admin.get(f"/settings/alerts/{stored.pk}/").content.decode()
