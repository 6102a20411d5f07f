"""Alerts that go by the platform of a host: handed over, and believed to be sent only once the host has said so."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts import deliver
from nasadvisor.console.health.alerts.models import AlertEvent, Channel, ChannelKind, Delivery, StoredAlert
from nasadvisor.console.health.alerts.senders import AlertMessage, NotSent, send
from nasadvisor.console.secrets import encrypt
from nasadvisor.console.worker.answers import take_answer, take_error
from nasadvisor.domain.fleet.platforms import Notice, NoticeAnswer
from nasadvisor.domain.fleet.questions import NOTIFY
from nasadvisor.domain.statements import Finding, Level, Statement
from nasadvisor.stored.documents import DocumentError, from_document, to_document
from tests.simulated_host import SimulatedHost, simulated_host
from tests.unit.console.change.test_wizard import text
from tests.unit.console.conftest import Sent
from tests.unit.machines import home_server


@pytest.fixture(autouse=True)
def host(tmp_path: Path) -> SimulatedHost:
    return simulated_host(tmp_path, home_server())


def channel(address: str = "nas") -> Channel:
    return Channel.objects.create(name="platform", kind=ChannelKind.PLATFORM, secret=encrypt(address))


def test_a_message_by_the_platform_is_handed_to_its_host(sent: list[Sent]) -> None:
    send(channel(), AlertMessage("A log died", "Both sides.", Level.CRITICAL), "<1@nasadvisor>")
    (message,) = [each for each in sent if each.task == "host.notify"]
    assert from_document(Notice, message.args[0]) == Notice(Level.CRITICAL, "A log died", "Both sides.")


def test_a_message_by_an_unknown_host_is_not_sent() -> None:
    with pytest.raises(NotSent, match="no host named other"):
        send(channel("other"), AlertMessage("x", "y"), "<1@nasadvisor>")


def test_a_message_that_waits_for_redis_is_tried_again(no_redis: None) -> None:
    with pytest.raises(NotSent):
        send(channel(), AlertMessage("x", "y"), "<1@nasadvisor>")


def due(made: Channel) -> None:
    """Two events of an alert that the channel is to tell now."""
    finding = to_document(Finding("log-errors", "A log has errors.", level=Level.WARNING))
    now = timezone.now()
    told = {"level": "warning", "finding_document": finding}
    alert = StoredAlert.objects.create(
        node=Node.objects.get(),
        source="nas",
        code="log-errors",
        told_level="warning",
        began_at=now,
        told_at=now,
        **told,
    )
    for _ in range(2):
        event = AlertEvent.objects.create(alert=alert, kind="new", at=now, **told)
        Delivery.objects.create(event=event, channel=made, due_at=now - timedelta(minutes=1))


def handed_over(sent: list[Sent]) -> str:
    """The id of the message that was handed to the host last."""
    return str([each for each in sent if each.task == "host.notify"][-1].args[1])


def went_out(sent: list[Sent], node: str = "nas", said: Statement | None = None) -> None:
    """A host says that the message went out."""
    take_answer(node, "notice-answer", to_document(NoticeAnswer(handed_over(sent), said)))


def was_lost(sent: list[Sent], why: Statement) -> None:
    """The host says why it did not."""
    take_error("nas", "notify", handed_over(sent), to_document(why))


def states(made: Channel) -> list[str]:
    made.refresh_from_db()
    return [each.state for each in made.deliveries.all()]


def test_what_was_handed_to_a_host_counts_as_sent_once_the_host_says_so(sent: list[Sent]) -> None:
    made, now = channel(), timezone.now()
    due(made)
    deliver.deliver(now)
    assert (states(made), made.last_sent_at) == (["sending"] * 2, None)
    went_out(sent)
    assert (states(made), made.last_error) == (["sent"] * 2, "")
    assert made.last_sent_at is not None
    assert made.last_sent_at >= now


def test_a_message_that_the_platform_did_not_confirm_is_sent_and_that_is_said(sent: list[Sent]) -> None:
    made, now = channel(), timezone.now()
    due(made)
    deliver.deliver(now)
    instead = Statement("by-mail", "The platform did not confirm it, so it went out as a mail.")
    went_out(sent, said=instead)
    assert (states(made), made.last_error) == (["sent"] * 2, f"nas: {instead}")


def test_a_message_that_nothing_took_is_tried_again(sent: list[Sent]) -> None:
    made, now = channel(), timezone.now()
    due(made)
    deliver.deliver(now)
    why = Statement("lost", "Nothing took it.")
    was_lost(sent, why)
    assert (states(made), made.last_error) == (["waiting"] * 2, "nas: Nothing took it.")
    assert (made.last_sent_at, {each.error for each in made.deliveries.all()}) == (None, {"nas: Nothing took it."})
    deliver.deliver(now + timedelta(minutes=5))
    assert len([each for each in sent if each.task == "host.notify"]) == 2


def test_a_host_that_says_nothing_is_named_and_asked_again_under_the_same_id(sent: list[Sent]) -> None:
    made, now = channel(), timezone.now()
    due(made)
    deliver.deliver(now)
    first = handed_over(sent)
    deliver.deliver(now + timedelta(minutes=9))
    assert len([each for each in sent if each.task == "host.notify"]) == 1
    deliver.deliver(now + timedelta(minutes=11))
    assert states(made) == ["waiting"] * 2
    deliver.deliver(now + timedelta(minutes=13))
    assert [each.args[1] for each in sent if each.task == "host.notify"] == [first, first]
    made.refresh_from_db()
    assert "has not reported whether" in made.last_error
    assert timedelta(seconds=NOTIFY.wanted_s) == deliver.LEASE


@pytest.mark.parametrize("node", ["other", ""])
def test_another_host_cannot_speak_for_a_channel(sent: list[Sent], node: str) -> None:
    made, now = channel(), timezone.now()
    due(made)
    deliver.deliver(now)
    went_out(sent, node)
    assert (states(made), made.last_sent_at) == (["sending"] * 2, None)


def test_an_answer_about_another_message_ends_nothing(sent: list[Sent]) -> None:
    made, now = channel(), timezone.now()
    due(made)
    deliver.deliver(now)
    take_answer("nas", "notice-answer", to_document(NoticeAnswer("<test-1@nasadvisor>")))
    assert states(made) == ["sending"] * 2
    with pytest.raises(DocumentError):
        take_answer("nas", "notice-answer", {"message_id": "x"})


def test_a_test_by_a_host_says_that_its_answer_comes_later(admin: Client, sent: list[Sent]) -> None:
    made = channel()
    page = text(admin.post(f"/settings/alerts/{made.pk}/test/", follow=True))
    assert "was handed to the host" in page
    was_lost(sent, Statement("lost", "Nothing took it."))
    assert "nas: Nothing took it." in text(admin.get("/settings/alerts/"))


SPARE = "nas, admin@example.org ben@example.org"


@pytest.fixture
def mailed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], str]]:
    """Mails that the console has sent: to whom, and their ids."""
    found: list[tuple[list[str], str]] = []

    def send_mail(recipients: list[str], message: AlertMessage, message_id: str) -> None:
        assert "A log has errors" in message.text
        found.append((recipients, message_id))

    monkeypatch.setattr(deliver, "send_mail", send_mail)
    return found


@pytest.mark.parametrize("is_sent", [True, False])
def test_without_proof_of_delivery_the_console_sends_it_to_the_addresses_behind_the_host(
    sent: list[Sent], mailed: list[tuple[list[str], str]], is_sent: bool
) -> None:
    made, now = channel(SPARE), timezone.now()
    due(made)
    deliver.deliver(now)
    said = Statement("lost", "There is no proof.")
    if is_sent:
        went_out(sent, said=said)
    else:
        was_lost(sent, said)
    assert mailed == [(["admin@example.org", "ben@example.org"], handed_over(sent))]
    assert states(made) == ["sent"] * 2
    assert made.last_error == "nas: There is no proof. It was also sent by e-mail."


def test_what_the_platform_confirmed_is_not_sent_by_mail_too(
    sent: list[Sent], mailed: list[tuple[list[str], str]]
) -> None:
    made, now = channel(SPARE), timezone.now()
    due(made)
    deliver.deliver(now)
    went_out(sent)
    assert (mailed, states(made)) == ([], ["sent"] * 2)


def test_a_host_that_says_nothing_is_made_up_for_by_mail(sent: list[Sent], mailed: list[tuple[list[str], str]]) -> None:
    made, now = channel(SPARE), timezone.now()
    due(made)
    deliver.deliver(now)
    deliver.deliver(now + timedelta(minutes=11))
    assert (len(mailed), states(made)) == (1, ["sent"] * 2)
    deliver.deliver(now + timedelta(minutes=30))
    assert len([each for each in sent if each.task == "host.notify"]) == 1


def test_where_the_console_cannot_send_mail_either_it_is_tried_again(sent: list[Sent]) -> None:
    made, now = channel(SPARE), timezone.now()
    due(made)
    deliver.deliver(now)
    was_lost(sent, Statement("lost", "There is no proof."))
    assert states(made) == ["waiting"] * 2
    assert [word for word in ("There is no proof.", "No mail server is set") if word not in made.last_error] == []


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nas", ""),
        (SPARE, ""),
        ("other, admin@example.org", "no host named other"),
        ("nas, admin", "is not an e-mail address"),
    ],
)
def test_behind_the_host_of_a_channel_stand_only_e_mail_addresses(admin: Client, address: str, said: str) -> None:
    fields = {"name": "p", "kind": "platform", "level": "warning", "timing": "at-once", "language": "en"}
    page = admin.post("/settings/alerts/add/", {**fields, "address": address})
    assert Channel.objects.exists() is not bool(said)
    assert said in text(page)
