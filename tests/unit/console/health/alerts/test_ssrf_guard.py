"""Messages to services go outwards: not to the console's own machine or network unless an administrator says so."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.test import Client
from urllib3 import PoolManager
from urllib3.exceptions import HTTPError

from nasadvisor.console.health.alerts import ssrf_guard
from nasadvisor.console.health.alerts.models import Channel
from nasadvisor.console.health.alerts.senders import AlertMessage, NotSent, send
from nasadvisor.console.health.alerts.ssrf_guard import fault_in, outward_only
from nasadvisor.console.secrets import encrypt
from nasadvisor.domain.statements import Level

MESSAGE = AlertMessage("subject", "text", Level.INFO)
INSIDE = ["127.0.0.1", "10.1.2.3", "192.168.1.1", "100.64.0.1", "[::1]", "[fd00::1]", "[::ffff:127.0.0.1]"]
NEVER = ["169.254.169.254", "[fe80::1]", "0.0.0.0", "224.0.0.1", "[::ffff:169.254.169.254]", "[::]"]


class Service(BaseHTTPRequestHandler):
    """Takes every message; `/away` sends elsewhere."""

    asked: list[str]

    def do_POST(self) -> None:
        self.asked.append(self.path)
        is_away = self.path.startswith("/away")
        self.send_response(302 if is_away else 200)
        if is_away:
            self.send_header("Location", "/secret")
        self.end_headers()

    do_GET = do_POST  # noqa: N815 - the base class names it

    def log_message(self, *_args: object) -> None:
        """Nothing."""


@pytest.fixture
def service() -> Iterator[tuple[str, list[str]]]:
    """A service of this machine: where it is, and what it was asked."""
    asked: list[str] = []
    server = HTTPServer(("127.0.0.1", 0), type("Asked", (Service,), {"asked": asked}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def channel(address: str, may_be_private: bool = False) -> Channel:
    return Channel(name="x", kind="apprise", secret=encrypt(address), may_be_private=may_be_private)


@pytest.mark.parametrize("host", INSIDE)
def test_an_address_inside_is_refused_unless_it_is_ticked(host: str) -> None:
    assert fault_in(f"json://{host}/", may_be_private=False)
    assert fault_in(f"json://{host}/", may_be_private=True) == ("" if host != "100.64.0.1" else ssrf_guard._said())


@pytest.mark.parametrize("host", NEVER)
def test_an_address_of_the_link_is_always_refused(host: str) -> None:
    assert fault_in(f"json://{host}/", may_be_private=False)
    assert fault_in(f"json://{host}/", may_be_private=True)


@pytest.mark.parametrize("option", ["keyfile=/etc/shadow", "file=x", "template=../x", "+key=/etc/passwd", "a=file:x"])
def test_an_address_names_no_file_of_the_console(option: str) -> None:
    assert "file" in fault_in(f"json://ntfy.example/?{option}", may_be_private=True)


def test_services_of_this_machine_are_refused_unless_ticked() -> None:
    assert fault_in("syslog://", may_be_private=False)
    assert not fault_in("rsyslog://log.example", may_be_private=True)


def test_a_name_that_leads_inside_reaches_nothing(service: tuple[str, list[str]]) -> None:
    port, asked = service
    with pytest.raises(NotSent):
        send(channel(f"json://localhost:{port}/"), MESSAGE, "<1@x>")
    assert asked == []
    send(channel(f"json://localhost:{port}/", may_be_private=True), MESSAGE, "<1@x>")
    assert asked == ["/"]


def test_a_redirect_leads_nowhere_that_an_address_does_not(
    service: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first name counts as one outside, so that only the second connection is looked at."""
    port, asked = service
    monkeypatch.setattr(ssrf_guard, "_is_allowed", lambda *_: len(asked) == 0)
    with outward_only(may_be_private=False), pytest.raises(HTTPError):
        PoolManager(headers={"Connection": "close"}).request("POST", f"http://localhost:{port}/away", retries=1)
    assert asked == ["/away"]


def test_other_connections_of_the_console_are_not_looked_at(service: tuple[str, list[str]]) -> None:
    port, asked = service
    with outward_only(may_be_private=False):
        reached: list[int] = []
        thread = threading.Thread(target=lambda: reached.append(_status(port)))
        thread.start()
        thread.join()
    assert (reached, asked) == ([200], ["/x"])
    assert _status(port) == 200


def _status(port: str) -> int:
    return PoolManager().request("GET", f"http://127.0.0.1:{port}/x").status


def test_a_form_refuses_what_is_not_ticked(admin: Client, service: tuple[str, list[str]]) -> None:
    port, asked = service
    fields = {"name": "mine", "kind": "apprise", "address": f"json://127.0.0.1:{port}/", "level": "warning"}
    fields |= {"timing": "at_once", "language": "en"}
    fields["timing"] = Channel._meta.get_field("timing").default
    refused = admin.post("/settings/alerts/add/", fields).content.decode()
    assert "on the console&#x27;s own network" in refused
    assert asked == []
    assert admin.post("/settings/alerts/add/", {**fields, "may_be_private": "on"}).status_code == 302
    assert json.loads(json.dumps(asked)) == ["/"]
