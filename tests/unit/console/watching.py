"""A console with one host and a clock that tests turn, for tests of alerts."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts import deliver
from nasadvisor.console.health.alerts.models import Channel, StoredAlert, WatchSettings
from nasadvisor.console.health.alerts.senders import AlertMessage, NotSent
from nasadvisor.console.health.alerts.watch import watch
from nasadvisor.console.secrets import encrypt
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.documents import to_document

MINUTE = timedelta(minutes=1)


@dataclass
class Post:
    """A mail server and a service; `sent` are the messages with their ids and channels."""

    is_down: bool = False
    sent: list[tuple[str, AlertMessage, str]] = field(default_factory=list)

    @property
    def subjects(self) -> list[str]:
        """What was sent, in one line each."""
        return [message.subject for _, message, _ in self.sent]

    def send(self, channel: Channel, message: AlertMessage, message_id: str) -> None:
        """In the place of `senders.send`."""
        if self.is_down:
            raise NotSent("The mail server mail.example did not accept the message: refused")
        self.sent.append((channel.name, message, message_id))


@dataclass
class Night:
    """A clock that only tests move; each minute the host reports, alerts move on, and what is due goes out."""

    post: Post
    now: datetime = field(default_factory=timezone.now)

    def minute(self, inventory: Inventory | None, count: int = 1) -> None:
        """Let minutes pass with the machine in this state; None is a host that says nothing."""
        for _ in range(count):
            self.now += MINUTE
            if inventory:
                self.report(inventory)
            watch(self.now)
            deliver.deliver(self.now)

    def report(self, inventory: Inventory) -> None:
        """The host has read itself."""
        read_at = self.now.isoformat(timespec="seconds")
        take_answer(inventory.host.node, "inventory", to_document(replace(inventory, read_at=read_at)))
        Node.objects.update(last_contact=self.now)


@pytest.fixture
def post(monkeypatch: pytest.MonkeyPatch) -> Post:
    """What takes messages."""
    post = Post()
    monkeypatch.setattr(deliver, "send", post.send)
    return post


@pytest.fixture
def night(post: Post) -> Night:
    """A clock."""
    return Night(post)


@pytest.fixture
def mail() -> Channel:
    """A channel for e-mail."""
    WatchSettings.load()
    return Channel.objects.create(name="mail", kind="mail", secret=encrypt("admin@example.org"))


def open_codes() -> set[str]:
    """The findings that are alerts now."""
    return set(StoredAlert.objects.exclude(state="recovered").values_list("code", flat=True))
