"""Sending: what leaves the console, and what never does."""

import logging
import smtplib
import socket
from email.message import Message as Mail
from typing import Any

import pytest
from django.test import override_settings

from nasadvisor.console.health.alerts import senders
from nasadvisor.console.health.alerts.models import Channel, WatchSettings
from nasadvisor.console.health.alerts.senders import AlertMessage, NotSent, recipients_in, redact, send, trial_message
from nasadvisor.console.secrets import SecretUnreadable, decrypt, encrypt, new_key

MESSAGE = AlertMessage("subject", "text")
TOKEN = "T0K3N-very-secret"
ADDRESS = f"json://user:{TOKEN}@127.0.0.1:9/path"


class Server:
    """In the place of smtplib.SMTP."""

    sent: list[Mail]

    def __init__(self, *_args: object, **_options: object) -> None:
        self.sock: Any = None

    def sendmail(self, _sender: str, _recipients: list[str], text: bytes) -> None:
        from email import message_from_bytes  # noqa: PLC0415

        Server.sent.append(message_from_bytes(text))

    def __getattr__(self, _name: str) -> Any:
        return lambda *_args, **_options: None


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> type[Server]:
    Server.sent = []
    monkeypatch.setattr(smtplib, "SMTP", Server)
    options = WatchSettings.load()
    options.mail_host, options.mail_sender = "mail.example", "nas@example.org"
    options.save()
    return Server


def channel(kind: str, secret: str) -> Channel:
    return Channel.objects.create(name="c", kind=kind, secret=encrypt(secret))


def test_a_mail_carries_its_message_id(server: type[Server]) -> None:
    send(channel("mail", "a@example.org, b@example.org"), MESSAGE, "<1@nasadvisor>")
    [mail] = server.sent
    assert (mail["Subject"], mail["Message-ID"], mail["To"]) == (
        "subject",
        "<1@nasadvisor>",
        "a@example.org, b@example.org",
    )


def test_no_name_server_is_asked_for_the_name_of_the_console(
    server: type[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise AssertionError("a name server was asked")

    monkeypatch.setattr(socket, "getfqdn", fail)
    send(channel("mail", "a@example.org"), MESSAGE, "<1@nasadvisor>")
    assert len(server.sent) == 1


def test_a_mail_server_that_does_not_answer_is_a_sentence() -> None:
    WatchSettings.load()
    WatchSettings.objects.update(mail_host="127.0.0.1", mail_port=9)
    with pytest.raises(NotSent, match=r"The mail server 127\.0\.0\.1 did not accept"):
        send(channel("mail", "a@example.org"), MESSAGE, "<1@nasadvisor>")


def test_without_a_mail_server_nothing_is_tried() -> None:
    with pytest.raises(NotSent, match="No mail server is set"):
        send(channel("mail", "a@example.org"), MESSAGE, "<1@nasadvisor>")


def test_a_service_that_does_not_answer_is_a_sentence_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(NotSent) as caught:
        send(channel("apprise", ADDRESS), MESSAGE, "")
    assert TOKEN not in str(caught.value)
    assert TOKEN not in caplog.text


def test_an_address_of_no_service_is_refused() -> None:
    assert not senders.is_apprise_address("nonsense")
    with pytest.raises(NotSent, match="does not support"):
        send(channel("apprise", "nonsense"), MESSAGE, "")


def test_every_part_of_an_address_is_taken_out_of_a_reason() -> None:
    assert TOKEN not in redact(f"401 for {TOKEN} at /path", ADDRESS)
    assert redact("timed out", ADDRESS) == "timed out"


def test_a_secret_in_the_database_cannot_be_read_without_the_key(tmp_path: Any) -> None:
    secret = encrypt(ADDRESS)
    assert TOKEN not in secret
    assert decrypt(secret) == ADDRESS
    other = tmp_path / "other"
    other.write_text(new_key())
    with override_settings(CHANNEL_KEY_FILE=other), pytest.raises(SecretUnreadable, match="another key"):
        decrypt(secret)
    with override_settings(CHANNEL_KEY_FILE=tmp_path / "none"), pytest.raises(SecretUnreadable, match="cannot be read"):
        encrypt("x")


def test_addresses_may_stand_in_lines_or_after_commas() -> None:
    assert recipients_in("a@x.org, b@x.org;c@x.org\n d@x.org") == ["a@x.org", "b@x.org", "c@x.org", "d@x.org"]


def test_a_test_names_its_channel_in_its_language() -> None:
    assert "my phone" in trial_message(Channel(name="my phone", language="en")).text
