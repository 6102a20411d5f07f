"""Alerts in the console: from a machine's state to messages, each told once, none lost."""

from dataclasses import replace
from datetime import datetime, time, timedelta

import pytest
from django.db import DataError
from django.utils import timezone

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts import deliver
from nasadvisor.console.health.alerts.collect_findings import View, view
from nasadvisor.console.health.alerts.models import (
    AlertEvent,
    Channel,
    Delivery,
    DeliveryState,
    StoredAlert,
    WatchSettings,
)
from nasadvisor.console.health.alerts.watch import take_up
from nasadvisor.console.health.models import NodeHealth, StoredDisk
from nasadvisor.console.worker.schedules import create_schedules
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Inventory, Scan
from nasadvisor.host.adapters.zpool import unreadable_pool
from nasadvisor.stored.documents import to_document
from tests.fixtures.machines.build import typical
from tests.unit.console.watching import Night, Post, mail, night, open_codes, post
from tests.unit.machines import home_server, with_pool

__all__ = ["mail", "night", "post"]

pytestmark = pytest.mark.usefixtures("mail")

HOUR = 60


def healthy() -> Inventory:
    """A machine without any finding above a note, whatever the date."""
    return typical()


def erring(errors: int = 3) -> Inventory:
    """A machine with errors on one disk."""
    (pool,) = typical().pools
    mirror = pool.data[0]
    leaf = replace(mirror.children[0], read_errors=errors)
    data = (replace(mirror, children=(leaf, *mirror.children[1:])), *pool.data[1:])
    return replace(typical(), pools=(replace(pool, data=data),))


def degraded() -> Inventory:
    (pool,) = typical().pools
    return replace(typical(), pools=(replace(pool, state="DEGRADED"),))


def test_a_disk_that_errs_is_one_alert_and_one_recovery(night: Night, post: Post) -> None:
    night.minute(healthy())
    night.minute(erring(), count=30)
    night.minute(healthy(), count=30)
    assert len(post.subjects) == 2
    assert "Warning: Devices of pool tank have had I/O errors" in post.subjects[0]
    assert "Resolved:" in post.subjects[1]
    assert open_codes() == set()


def test_errors_that_multiply_are_told_again(night: Night, post: Post) -> None:
    night.minute(erring(3), count=3)
    night.minute(erring(4), count=3)
    night.minute(erring(60), count=3)
    assert len(post.sent) == 2
    assert "Worse" in post.subjects[1]


def test_what_somebody_has_taken_up_is_quiet_until_it_grows(night: Night, post: Post) -> None:
    night.minute(erring(3))
    take_up(StoredAlert.objects.get(), "anna", night.now)
    night.minute(erring(3), count=3)
    assert StoredAlert.objects.get().acknowledged_by == "anna"
    night.minute(erring(30))
    alert = StoredAlert.objects.get()
    assert (alert.state, alert.acknowledged_by) == ("new", "")
    assert len(post.sent) == 2


def test_what_was_acknowledged_for_a_while_is_told_again_once_if_it_is_still_there(night: Night, post: Post) -> None:
    night.minute(erring(3))
    take_up(StoredAlert.objects.get(), "anna", night.now, night.now + timedelta(days=1))
    night.now += timedelta(hours=23)
    night.minute(erring(3), count=3)
    assert len(post.sent) == 1
    night.now += timedelta(hours=1)
    night.minute(erring(3), count=5)
    alert = StoredAlert.objects.get()
    assert (alert.state, alert.acknowledged_by, alert.snoozed_until) == ("new", "", None)
    assert len(post.sent) == 2
    assert "Still there" in post.subjects[1]


@pytest.mark.slow
def test_a_mail_server_that_is_down_for_an_hour_loses_nothing_and_sends_nothing_twice(night: Night, post: Post) -> None:
    night.minute(healthy())
    post.is_down = True
    night.minute(erring(), count=20)
    night.minute(degraded(), count=40)
    assert post.sent == []
    assert "did not accept" in Channel.objects.get().last_error
    post.is_down = False
    night.minute(degraded(), count=HOUR)
    told = [event.pk for event in AlertEvent.objects.all()]
    assert len(told) == 3
    assert Delivery.objects.filter(state=DeliveryState.SENT).count() == 3
    text = "\n".join(message.text for _, message, _ in post.sent)
    assert text.count("had I/O errors") == 2  # new, over
    assert text.count("is DEGRADED") == 1
    assert Channel.objects.get().last_error == ""


def test_redis_down_for_an_hour_is_a_gap_and_no_more(night: Night, post: Post) -> None:
    night.minute(erring())
    night.now += timedelta(hours=1)  # the clock reaches nobody, so nothing runs
    night.minute(erring(), count=10)
    assert ["device-errors" in alert.code for alert in StoredAlert.objects.all()] == [True]
    assert len(post.sent) == 1


def test_two_workers_at_the_same_time_send_it_once(night: Night, post: Post) -> None:
    night.minute(erring())
    Delivery.objects.update(state=DeliveryState.SENDING, claimed_at=night.now, due_at=night.now)
    post.sent.clear()
    deliver.deliver(night.now)
    assert post.sent == []


def test_a_worker_that_died_while_sending_is_made_up_for_under_the_same_message_id(night: Night, post: Post) -> None:
    night.minute(erring())
    [(_, _, first)] = post.sent
    Delivery.objects.update(state=DeliveryState.SENDING, claimed_at=night.now, sent_at=None)
    deliver.deliver(night.now + timedelta(minutes=5))
    assert len(post.sent) == 1
    deliver.deliver(night.now + timedelta(minutes=11))
    assert [message_id for _, _, message_id in post.sent] == [first, first]


def test_a_silent_host_is_told_and_its_pools_are_not_taken_for_healed(night: Night, post: Post) -> None:
    night.minute(erring())
    night.minute(None, count=30)
    assert open_codes() == {"device-errors", "host-silent"}
    assert len(post.sent) == 2
    night.minute(erring(), count=10)
    assert open_codes() == {"device-errors"}


def unread() -> Inventory:
    """A machine of whose pool nothing was understood but its name and guid."""
    (pool,) = typical().pools
    return replace(typical(), pools=(unreadable_pool(pool.name, pool.guid, "it said nothing"),))


def test_a_pool_that_cannot_be_read_is_told_and_not_taken_for_healed(night: Night, post: Post) -> None:
    night.minute(degraded())
    night.minute(unread(), count=30)
    assert open_codes() == {"pool-not-online", "pool-unreadable"}
    night.minute(healthy(), count=30)
    assert open_codes() == set()


def test_a_disk_that_vanishes_and_comes_back_under_another_name_is_one_alert_and_one_recovery(
    night: Night, post: Post
) -> None:
    night.minute(healthy())
    without = replace(healthy(), disks=healthy().disks[:-1])
    night.minute(without, count=5)
    assert open_codes() == {"disk-gone"}
    moved = replace(healthy().disks[-1], kernel_name="nvme9n1", path="/dev/disk/by-id/nvme-other", links=())
    night.minute(replace(healthy(), disks=(*healthy().disks[:-1], moved)), count=5)
    assert open_codes() == set()
    assert len(post.sent) == 2
    assert StoredDisk.objects.count() == len(healthy().disks)


def test_a_disk_that_somebody_took_out_for_good_is_over(night: Night) -> None:
    night.minute(healthy())
    night.minute(replace(healthy(), disks=healthy().disks[:-1]), count=2)
    StoredDisk.objects.filter(is_present=False).update(is_forgotten=True)
    night.minute(replace(healthy(), disks=healthy().disks[:-1]), count=6)
    assert open_codes() == set()


def test_a_sweep_that_does_not_happen_is_told(night: Night, post: Post) -> None:
    create_schedules()
    night.minute(healthy())
    NodeHealth.objects.create(node=Node.objects.get(), sweep_ended_at=night.now - timedelta(hours=6))
    night.minute(healthy(), count=29)
    assert open_codes() == set()
    night.minute(healthy(), count=5)
    assert open_codes() == {"sweep-missed"}
    NodeHealth.objects.update(sweep_ended_at=night.now)
    night.minute(healthy(), count=5)
    assert open_codes() == set()
    assert len(post.sent) == 2


def test_a_sweep_that_could_not_be_made_says_why(night: Night, post: Post) -> None:
    create_schedules()
    night.minute(healthy())
    reason = to_document(Statement("tool-missing", "smartctl is not installed."))
    NodeHealth.objects.create(node=Node.objects.get(), sweep_ended_at=night.now, error_document=reason)
    night.minute(healthy())
    assert "smartctl is not installed" in post.sent[0][1].text


def test_notes_are_no_alerts(night: Night, post: Post) -> None:
    old_scrub = Scan("scrub", (timezone.now() - timedelta(days=60)).isoformat(timespec="seconds"), 0)
    (pool,) = typical().pools
    night.minute(replace(typical(), pools=(replace(pool, last_scan=old_scrub),)))
    assert (post.sent, open_codes()) == ([], set())


def test_quiet_hours_hold_a_warning_back_and_let_what_is_critical_through(night: Night, post: Post) -> None:
    WatchSettings.objects.update(quiet_begin=time(22), quiet_end=time(7))
    night.now = timezone.localtime(night.now).replace(hour=23, minute=0)
    night.minute(erring(), count=30)
    assert post.sent == []
    (pool,) = typical().pools
    night.minute(replace(typical(), pools=(replace(pool, state="SUSPENDED", suspended=True),)))
    assert len(post.sent) == 1
    night.now = night.now.replace(hour=6, minute=59) + timedelta(days=1)
    night.minute(None, count=3)
    assert any("had I/O errors" in message.text for _, message, _ in post.sent)


def test_a_digest_is_one_message_a_day(night: Night, post: Post) -> None:
    Channel.objects.update(timing="digest")
    night.now = timezone.localtime(night.now).replace(hour=12, minute=0)
    night.minute(erring(), count=2)
    night.minute(degraded(), count=5)
    assert post.sent == []
    night.now = night.now.replace(hour=6, minute=58) + timedelta(days=1)
    night.minute(degraded(), count=5)
    assert [channel for channel, _, _ in post.sent] == ["mail"]
    assert "messages" in post.subjects[0]


def test_a_channel_gets_what_is_of_its_level_only(night: Night, post: Post) -> None:
    Channel.objects.update(level="critical")
    night.minute(erring(), count=3)
    assert post.sent == []


def test_a_channel_that_is_switched_off_gets_nothing(night: Night, post: Post) -> None:
    Channel.objects.update(is_enabled=False)
    night.minute(erring(), count=3)
    assert (post.sent, Delivery.objects.count()) == ([], 0)


def test_what_nobody_takes_up_is_told_those_on_call_once(night: Night, post: Post) -> None:
    (pool,) = typical().pools
    suspended = replace(typical(), pools=(replace(pool, state="SUSPENDED", suspended=True),))
    Channel.objects.create(name="off call", kind="mail", secret=Channel.objects.get().secret, is_on_call=False)
    night.minute(suspended)
    night.now += timedelta(hours=4)
    night.minute(suspended, count=5)
    assert [channel for channel, _, _ in post.sent] == ["mail", "off call", "mail"]
    assert "Not acknowledged" in post.subjects[2]


def test_a_message_is_in_the_language_of_its_channel(night: Night, post: Post) -> None:
    Channel.objects.update(language="de")
    night.minute(erring())
    assert "Warnung: Geräte des Pools tank hatten" in post.subjects[0]


def test_a_message_links_to_the_console(night: Night, post: Post) -> None:
    WatchSettings.objects.update(console_address="https://nas.example/")
    night.minute(erring())
    pool = typical().pools[0].guid
    assert f"https://nas.example/pools/{pool}/" in post.sent[0][1].text


def test_every_node_has_alerts_of_its_own(night: Night) -> None:
    night.report(erring())
    other = replace(home_server(), host=replace(home_server().host, node="nas2"))
    night.minute(with_pool(other, state="DEGRADED"))
    assert StoredAlert.objects.filter(node__name="nas1").count() == 1
    assert StoredAlert.objects.filter(node__name="nas2").exists()


@pytest.mark.parametrize("error", [ValueError("odd"), RecursionError(), KeyError("x"), DataError("\\u0000")])
def test_a_host_whose_words_nobody_can_work_with_keeps_no_other_waiting(
    night: Night, post: Post, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Proves that its own alerts stay as they are, that somebody is told, and that all is well again by itself."""
    other = replace(degraded(), host=replace(degraded().host, node="nas0"))
    night.minute(other)
    assert len(post.subjects) == 1

    def stumbling(node: Node, now: datetime) -> View:
        if node.name == "nas0":
            raise error
        return view(node, now)

    monkeypatch.setattr("nasadvisor.console.health.alerts.watch.view", stumbling)
    night.minute(erring(), count=30)
    assert open_codes() == {"device-errors", "disks-claimed", "node-unwatchable", "pool-not-online"}
    assert any("had I/O errors" in message.text for _, message, _ in post.sent)
    monkeypatch.undo()
    monkeypatch.setattr(deliver, "send", post.send)
    night.report(other)
    night.minute(erring(), count=30)
    assert "node-unwatchable" not in open_codes()


@pytest.mark.parametrize("stumbles", ["send", "message_for"])
def test_a_channel_that_cannot_be_worked_with_keeps_no_other_waiting(
    night: Night, post: Post, mail: Channel, monkeypatch: pytest.MonkeyPatch, stumbles: str
) -> None:
    """Proves it for what a service's own code raises, and for words of which no message can be made."""
    Channel.objects.create(name="later", kind="mail", secret=mail.secret)
    works = getattr(deliver, stumbles)

    def stumbling(*given: object) -> object:
        if mail in given:
            raise UnicodeError("https://hooks.example/secret")
        return works(*given)

    monkeypatch.setattr(deliver, stumbles, stumbling)
    night.minute(erring(), count=2)
    assert [channel for channel, _, _ in post.sent] == ["later"]
    assert Channel.objects.get(name="mail").last_error == "Sending failed: UnicodeError."
    monkeypatch.setattr(deliver, stumbles, works)
    night.minute(erring(), count=2)
    assert [channel for channel, _, _ in post.sent] == ["later", "mail"]
