"""The pages about wear, alerts, where they go, and schedules."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts import channel_pages
from nasadvisor.console.health.alerts.models import Channel, StoredAlert, WatchSettings
from nasadvisor.console.health.alerts.senders import AlertMessage, NotSent
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.secrets import decrypt, encrypt
from nasadvisor.console.worker.schedules import create_schedules
from nasadvisor.domain.fleet.platforms import PlatformReport, Rewrite
from nasadvisor.domain.storage.inventory import Slot, Vdev
from nasadvisor.domain.units import DAY_S, GIB
from nasadvisor.stored.documents import to_document
from tests.fixtures.machines.build import large, typical
from tests.unit.console.conftest import Sent
from tests.unit.console.health.health_data import disk_of, watched
from tests.unit.console.test_pages import load, page

PATHS = ["/disks/", "/alerts/", "/settings/schedules/"]
WORN = "S6Z1NJ0W401234"
SECRET = "tgram://123456789:AAEhBOweik9ai9oochee/42"


@pytest.mark.parametrize("path", PATHS)
def test_every_page_shows_before_any_host_has_reported(viewer: Client, path: str) -> None:
    page(viewer, path)


@pytest.mark.parametrize("path", PATHS)
def test_every_page_shows_before_any_sweep(viewer: Client, path: str) -> None:
    create_schedules()
    load(typical())
    page(viewer, path)


def test_the_drive_that_wears_out_first_is_on_top(viewer: Client) -> None:
    watched(typical())
    serials = re.findall(r"</i> (\S+) ·", page(viewer, "/disks/"))
    assert serials[0] == WORN


@pytest.mark.parametrize(
    "sort", ["health", "-health", "worn", "-worn", "written", "temperature", "name", "use", "protection", "nonsense"]
)
def test_the_fleet_sorts_and_filters(viewer: Client, sort: str) -> None:
    watched(large(), days=0)
    text = page(viewer, f"/disks/?sort={sort}&q=KIOXIA+log&page=1")
    assert text.count('scope="row"') == 2
    assert "No disk matches" in page(viewer, "/disks/?q=no+such+disk")


def test_a_count_of_zero_is_shown_as_one(viewer: Client) -> None:
    watched(typical(), days=0)
    text = page(viewer, f"/disks/{disk_of(WORN).key}/").replace("<wbr>", "")
    assert re.search(r'>\s*critical_warning</a>\s*</th>\s*<td class="text-end num" title="0">0</td>', text)


def test_only_the_newest_self_tests_are_unfolded(viewer: Client) -> None:
    now = watched(typical(), days=0)
    disk = disk_of(WORN)
    disk.self_tests.all().delete()
    for hours in range(1, 13):
        disk.self_tests.create(hours=hours, kind="Short", status="Completed without error", passed=True, seen_at=now)
    shown, _, folded = page(viewer, f"/disks/{disk.key}/").partition("<details")
    assert "7\n    earlier ones" in folded or "7 earlier ones" in folded
    assert shown.count("Completed without error") == 5
    assert folded.partition("</details>")[0].count("Completed without error") == 7


def test_a_disk_in_an_enclosure_says_where_and_how_to_make_its_slot_blink(viewer: Client) -> None:
    first, *others = typical().disks
    load(replace(typical(), disks=(replace(first, slot=Slot("Slot 07", "LSI SAS3x40")), *others)))
    text = page(viewer, f"/disks/{first.key}/")
    assert re.search(r"<dt>Slot</dt><dd>Slot 07\s*<span class=\"sub\">enclosure LSI SAS3x40", text)
    assert f"ledctl locate={first.path}" in text
    assert "ledctl" not in page(viewer, f"/disks/{others[0].key}/")


def test_a_long_fleet_has_pages(viewer: Client) -> None:
    watched(large(), days=0)
    assert "1 / 4" in page(viewer, "/disks/")
    assert "4 / 4" in page(viewer, "/disks/?page=99")


def test_the_page_of_a_drive_shows_its_range_its_picture_and_what_is_wrong(viewer: Client) -> None:
    watched(typical())
    text = page(viewer, f"/disks/{disk_of(WORN).key}/")
    assert 'class="fan"' in text
    assert 'class="past"' in text
    assert "has reported media errors (3 so far)" in text
    assert "92 %" in text
    assert " style=" not in text


@pytest.mark.parametrize(("ended_days_ago", "told"), [(10, True), (40, False)])
def test_what_a_platform_rewrote_lately_is_said_beside_the_date(
    viewer: Client, ended_days_ago: int, told: bool
) -> None:
    path = next(disk.path for disk in typical().disks if disk.identity.serial == WORN)
    cache = Vdev("77", "disk", path, "ONLINE", path=path)
    pool = replace(typical().pools[0], caches=(cache,))
    watched(replace(typical(), pools=(pool,)))
    ended = int(timezone.now().timestamp()) - ended_days_ago * DAY_S
    job = Rewrite(f"{pool.name}/media", False, ended - 60, ended, 3 * GIB)
    Node.objects.update(platform_document=to_document(PlatformReport("nas1", "", rewrites=(job,))))
    text = page(viewer, f"/disks/{disk_of(WORN).key}/")
    assert "Used up:" in text
    assert ("media was moved between storage tiers (3 GiB)" in text) is told


def test_a_drive_with_little_history_gets_no_date(viewer: Client) -> None:
    watched(typical(), days=3, every=1)
    assert "Not enough history" in page(viewer, f"/disks/{disk_of(WORN).key}/")


def test_a_hard_disk_has_a_page_without_wear(viewer: Client) -> None:
    watched(typical())
    text = page(viewer, f"/disks/{StoredDisk.objects.filter(is_rotational=True)[0].key}/")
    assert "Rated endurance" not in text


def test_no_drive_has_that_number(viewer: Client) -> None:
    assert viewer.get("/disks/4242/").status_code == 404


def test_an_operator_starts_a_self_test(operator: Client, sent: list[Sent]) -> None:
    watched(typical())
    disk = disk_of(WORN)
    operator.post(f"/wear/{disk.pk}/self-test/", {"test": "long"})
    [task] = sent
    assert (task.task, task.args) == ("host.start_self_test", [disk.key, "long", "operator"])


def test_an_operator_asks_all_disks_now(operator: Client, sent: list[Sent]) -> None:
    load(typical())
    operator.post("/wear/sweep/")
    assert [each.task for each in sent] == ["host.smart_sweep"]


@pytest.mark.usefixtures("no_redis")
def test_without_the_message_service_it_says_so(operator: Client) -> None:
    load(typical())
    assert "not responding" in operator.post("/wear/sweep/", follow=True).content.decode()


def test_a_disk_is_forgotten_only_once_it_is_gone(operator: Client) -> None:
    watched(typical())
    disk = disk_of(WORN)
    operator.post(f"/wear/{disk.pk}/forget/")
    assert not disk_of(WORN).is_forgotten
    StoredDisk.objects.filter(pk=disk.pk).update(is_present=False)
    assert "I removed it" in page(operator, f"/disks/{disk.key}/")
    operator.post(f"/wear/{disk.pk}/forget/")
    assert disk_of(WORN).is_forgotten


@pytest.mark.parametrize(
    "path", ["/wear/sweep/", "/wear/1/self-test/", "/wear/1/forget/", "/alerts/1/acknowledge/", "/alerts/acknowledge/"]
)
def test_a_viewer_changes_nothing(viewer: Client, path: str, sent: list[Sent]) -> None:
    watched(typical(), days=0)
    assert viewer.post(path).status_code == 403
    assert sent == []


def test_an_alert_is_acknowledged(operator: Client) -> None:
    watched(typical())
    alert = StoredAlert.objects.filter(code="media-errors").get()
    assert "Acknowledge" in page(operator, "/alerts/")
    operator.post(f"/alerts/{alert.pk}/acknowledge/")
    assert "acknowledged by operator" in page(operator, "/alerts/")


def test_all_that_is_open_about_a_disk_is_one_row_and_acknowledged_together(operator: Client) -> None:
    watched(typical())
    first = StoredAlert.objects.get(code="media-errors")
    own = sorted(StoredAlert.objects.filter(state="new", subject=first.subject).values_list("pk", flat=True))
    others = set(StoredAlert.objects.filter(state="new").exclude(pk__in=own).values_list("pk", flat=True))
    assert len(own) > 1
    text = page(operator, "/alerts/")
    [row] = [each for each in text.split('<div class="notice ')[1:] if each.count(f'value="{first.pk}"') > 1]
    assert first.finding
    assert f'<p class="issue-name">{first.finding.values["disk"]}</p>' in row
    numbers = re.findall(r'type="hidden" name="alert" value="(\d+)"', row.partition("</form>")[0])
    assert sorted(map(int, numbers)) == own
    operator.post("/alerts/acknowledge/", {"alert": numbers})
    assert set(StoredAlert.objects.filter(state="new").values_list("pk", flat=True)) == others


def test_several_alerts_are_acknowledged_at_once_and_for_a_while(operator: Client) -> None:
    watched(typical())
    first, second, third = StoredAlert.objects.filter(state="new")[:3]
    assert "Acknowledge selected" in page(operator, "/alerts/")
    before = timezone.now()
    operator.post("/alerts/acknowledge/", {"alert": [first.pk, second.pk, "x", "99999999999"], "for": "week"})
    found = {each.pk: each for each in StoredAlert.objects.all()}
    assert [found[each.pk].state for each in (first, second, third)] == ["acknowledged", "acknowledged", "new"]
    until = found[first.pk].snoozed_until
    assert until is not None
    assert timedelta(days=7) <= until - before < timedelta(days=7, minutes=5)
    again = operator.post("/alerts/acknowledge/", {"alert": [third.pk], "for": "day"}, follow=True).content.decode()
    assert "1 alert acknowledged. You will be notified again on " in again
    assert "No alert was selected." in operator.post("/alerts/acknowledge/", follow=True).content.decode()


def test_alerts_are_filtered_by_level_host_and_text(viewer: Client) -> None:
    watched(typical())
    alert = StoredAlert.objects.filter(code="media-errors").get()
    StoredAlert.objects.filter(pk=alert.pk).update(level="critical")
    assert StoredAlert.objects.exclude(level="critical").exists()
    assert page(viewer, "/alerts/?level=critical").count("notice notice-critical") == 1
    assert "notice notice-warning" not in page(viewer, "/alerts/?level=critical").partition("Worth knowing")[0]
    assert "No open alert matches." in page(viewer, "/alerts/?host=other")
    assert page(viewer, f"/alerts/?q={WORN}").count("notice notice-") >= 1
    assert "No open alert matches." in page(viewer, "/alerts/?q=nothing-of-this-name")


def test_many_alerts_have_pages_and_what_nobody_took_up_comes_first(viewer: Client) -> None:
    watched(typical())
    alert = StoredAlert.objects.all()[0]
    for number in range(60):
        alert.pk, alert.subject, alert.state = None, f"other {number}", "acknowledged"
        alert.save(force_insert=True)
    text = page(viewer, "/alerts/")
    assert "1 / 2" in text
    assert text.index("notice-warning") < text.index("acknowledged by")
    assert "2 / 2" in page(viewer, "/alerts/?open=2")


def test_the_menu_counts_new_alerts(viewer: Client) -> None:
    watched(typical())
    count = StoredAlert.objects.filter(state="new").count()
    assert f'rail-count">{count}<' in page(viewer, "/")


def test_the_table_for_other_programs_has_every_drive(viewer: Client) -> None:
    watched(typical())
    StoredDisk.objects.filter(serial=WORN).update(model='=cmd("x")')
    response = viewer.get("/wear.csv")
    lines = b"".join(response.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert len(lines) == 1 + len(typical().disks)
    assert any(line.startswith("nas1,\"'=cmd(") for line in lines)


@pytest.mark.parametrize("path", ["/settings/alerts/", "/settings/alerts/add/", "/settings/alerts/delivery/"])
def test_where_alerts_go_is_for_administrators(operator: Client, path: str) -> None:
    assert operator.get(path).status_code == 403


def fields(**changes: object) -> dict[str, object]:
    return {
        "name": "phone",
        "kind": "apprise",
        "address": SECRET,
        "level": "warning",
        "timing": "at-once",
        "language": "en",
        "is_enabled": "on",
        **changes,
    }


UNTESTED = {"without_test": "1"}


@pytest.fixture
def tests_sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tests that channels sent; one with "down" in its name is refused."""
    sent: list[str] = []

    def send(channel: Channel, message: AlertMessage, message_id: str) -> None:
        del message, message_id
        if "down" in channel.name:
            raise NotSent("The service did not accept the message: unknown token")
        sent.append(f"{channel.name}: {decrypt(channel.secret)}")

    monkeypatch.setattr(channel_pages, "send", send)
    return sent


NOBODY = "Alerts appear only in the web interface"


def test_a_channel_is_saved_once_its_test_was_accepted(admin: Client, tests_sent: list[str]) -> None:
    load(typical())
    assert NOBODY in page(admin, "/alerts/")
    refused = admin.post("/settings/alerts/add/", fields(name="down")).content.decode()
    assert "Nothing was saved because the test message could not be delivered. The service did not accept" in refused
    assert "Save without a test" in refused
    assert not Channel.objects.exists()
    assert NOBODY in page(admin, "/alerts/")
    admin.post("/settings/alerts/add/", fields())
    assert tests_sent == [f"phone: {SECRET}"]
    assert Channel.objects.get().last_sent_at
    assert NOBODY not in page(admin, "/alerts/")


def test_a_channel_may_be_saved_without_a_test_on_purpose_and_says_so(admin: Client, tests_sent: list[str]) -> None:
    load(typical())
    admin.post("/settings/alerts/add/", fields(name="down", **UNTESTED))
    assert tests_sent == []
    assert "Saved without a test" in page(admin, "/settings/alerts/")
    assert NOBODY not in page(admin, "/alerts/")


def test_a_channel_that_leads_elsewhere_now_is_not_proven_by_what_was_sent_before(
    admin: Client, tests_sent: list[str]
) -> None:
    admin.post("/settings/alerts/add/", fields())
    edit = f"/settings/alerts/{Channel.objects.get().pk}/"
    admin.post(edit, fields(address=f"{SECRET}3", **UNTESTED))
    channel = Channel.objects.get()
    assert (channel.last_sent_at, channel.is_untested) == (None, True)
    admin.post(edit, fields(address=""))
    assert tests_sent == [f"phone: {SECRET}", f"phone: {SECRET}3"]
    assert Channel.objects.get().last_sent_at


def test_a_channel_that_was_never_proven_tells_nobody(admin: Client) -> None:
    load(typical())
    WatchSettings.objects.create(pk=1, mail_host="mail.example")
    Channel.objects.create(name="mail", kind="mail", secret=encrypt("a@example.org"))
    assert NOBODY in page(admin, "/alerts/")
    assert "Not tested yet" in page(admin, "/settings/alerts/")
    Channel.objects.update(last_sent_at=timezone.now())
    assert NOBODY not in page(admin, "/alerts/")
    WatchSettings.objects.update(mail_host="")
    assert NOBODY in page(admin, "/alerts/")


@pytest.mark.parametrize("changes", [{}, UNTESTED])
def test_an_e_mail_channel_is_not_saved_without_a_mail_server(
    admin: Client, tests_sent: list[str], changes: dict[str, object]
) -> None:
    said = admin.post("/settings/alerts/add/", fields(kind="mail", address="a@example.org", **changes))
    assert 'No mail server is set, so no e-mail can be sent. <a href="/settings/alerts/delivery/">' in (
        said.content.decode()
    )
    assert not Channel.objects.exists()
    assert tests_sent == []


def test_where_an_e_mail_channel_is_added_it_says_before_that_there_is_no_mail_server(admin: Client) -> None:
    hint = 'No mail server is set, so no e-mail can be sent. <a href="/settings/alerts/delivery/">'
    assert hint in page(admin, "/settings/alerts/add/")
    WatchSettings.objects.update(mail_host="mail.example")
    assert hint not in page(admin, "/settings/alerts/add/")


def test_an_address_is_stored_encrypted_and_never_shown(admin: Client) -> None:
    assert admin.post("/settings/alerts/add/", fields(**UNTESTED)).status_code == 302
    channel = Channel.objects.get()
    assert decrypt(channel.secret) == SECRET
    for path in ("/settings/alerts/", f"/settings/alerts/{channel.pk}/"):
        assert "AAEhBOweik9ai9oochee" not in page(admin, path)


def test_a_stored_address_is_kept_when_none_is_entered(admin: Client) -> None:
    admin.post("/settings/alerts/add/", fields(**UNTESTED))
    channel = Channel.objects.get()
    admin.post(f"/settings/alerts/{channel.pk}/", fields(name="my phone", address="", **UNTESTED))
    channel.refresh_from_db()
    assert (channel.name, decrypt(channel.secret)) == ("my phone", SECRET)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"address": ""}, "Enter a destination for the messages"),
        ({"address": "nonsense"}, "does not support this kind"),
        ({"kind": "mail", "address": "a@example.org, nobody"}, "is not an e-mail address"),
    ],
)
def test_an_address_that_leads_nowhere_is_refused(admin: Client, changes: dict[str, object], said: str) -> None:
    response = admin.post("/settings/alerts/add/", fields(**changes))
    assert said in response.content.decode()
    assert not Channel.objects.exists()


def test_a_channel_of_another_kind_needs_another_address(admin: Client) -> None:
    admin.post("/settings/alerts/add/", fields(**UNTESTED))
    response = admin.post(f"/settings/alerts/{Channel.objects.get().pk}/", fields(kind="mail", address=""))
    assert "Enter a destination for the messages" in response.content.decode()


def test_a_test_is_sent_or_it_says_why_not(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    channel = Channel.objects.create(name="mail", kind="mail", secret=encrypt("a@example.org"))
    sent: list[str] = []

    def send(to: Channel, message: AlertMessage, message_id: str) -> None:
        if sent:
            raise NotSent("The mail server did not accept the message.")
        sent.append(f"{to.name}: {message.subject}")

    monkeypatch.setattr(channel_pages, "send", send)
    test = f"/settings/alerts/{channel.pk}/test/"
    assert "A test was sent through mail" in admin.post(test, follow=True).content.decode()
    assert sent == ["mail: NAS Advisor: test"]
    assert "did not accept" in admin.post(test, follow=True).content.decode()


def test_a_channel_is_deleted(admin: Client) -> None:
    channel = Channel.objects.create(name="mail", kind="mail", secret="")
    admin.post(f"/settings/alerts/{channel.pk}/delete/")
    assert not Channel.objects.exists()


def test_the_mail_password_is_stored_encrypted_and_kept(admin: Client) -> None:
    data = {
        "mail_host": "mail.example",
        "mail_port": "587",
        "mail_security": "starttls",
        "mail_user": "nas",
        "mail_password": "hunter22",
        "mail_sender": "nas@example.org",
        "digest_at": "07:00",
        "escalate_after_hours": "4",
    }
    assert admin.post("/settings/alerts/delivery/", data).status_code == 302
    admin.post(
        "/settings/alerts/delivery/", {**data, "mail_password": "", "quiet_begin": "22:00", "quiet_end": "07:00"}
    )
    options = WatchSettings.load()
    assert decrypt(options.mail_secret) == "hunter22"
    assert "22:00 – 07:00" in page(admin, "/settings/alerts/")
    assert "hunter22" not in page(admin, "/settings/alerts/delivery/")


def test_how_messages_are_sent_is_asked_for_in_parts(admin: Client) -> None:
    form = page(admin, "/settings/alerts/delivery/")
    order = [form.index(text) for text in (">E-mail</h2>", "mail_host", ">Times</h2>", "quiet_begin", ">Links in")]
    assert order == sorted(order)


def test_schedules_show_how_often_and_what_comes_next(viewer: Client) -> None:
    create_schedules()
    text = page(viewer, "/settings/schedules/")
    assert "every 6 h" in text
    assert "on day 1 of each month at 07:00" in text
    assert "switched off" in text
    assert "/settings/schedules/1" not in text


def test_an_administrator_changes_how_often_disks_are_asked(admin: Client) -> None:
    create_schedules()
    task = PeriodicTask.objects.get(name="console.sweep")
    page(admin, f"/settings/schedules/{task.pk}/")
    admin.post(f"/settings/schedules/{task.pk}/", {"hours": "12", "is_enabled": "on"})
    assert "every 12 h" in page(admin, "/settings/schedules/")
    create_schedules()
    assert "every 12 h" in page(admin, "/settings/schedules/")


def test_an_administrator_switches_self_tests_on(admin: Client) -> None:
    create_schedules()
    task = PeriodicTask.objects.get(name="console.short_self_tests")
    page(admin, f"/settings/schedules/{task.pk}/")
    admin.post(f"/settings/schedules/{task.pk}/", {"at": "03:15", "day_of_week": "0", "is_enabled": "on"})
    assert "Sunday at 03:15" in page(admin, "/settings/schedules/")


def test_once_a_month_is_a_day_of_the_month_and_no_weekday(admin: Client) -> None:
    create_schedules()
    path = f"/settings/schedules/{PeriodicTask.objects.get(name='console.long_self_tests').pk}/"
    assert '<option value="month" selected>' in page(admin, path)
    fields = {"at": "03:15", "day_of_week": "month", "is_enabled": "on"}
    assert "Enter a day from 1 to 28" in admin.post(path, {**fields, "day_of_month": ""}).content.decode()
    admin.post(path, {**fields, "day_of_month": "7"})
    assert "on day 7 of each month at 03:15" in page(admin, "/settings/schedules/")
    admin.post(path, {**fields, "day_of_week": "1", "day_of_month": "7"})
    assert "Monday at 03:15" in page(admin, "/settings/schedules/")


def test_what_keeps_the_pages_going_is_not_changed_here(admin: Client) -> None:
    create_schedules()
    assert admin.get(f"/settings/schedules/{PeriodicTask.objects.get(name='console.watch').pk}/").status_code == 404


def test_what_nobody_may_change_of_the_schedules_is_folded_away(admin: Client) -> None:
    create_schedules()
    shown, _, folded = page(admin, "/settings/schedules/").partition("<details><summary>Internal jobs of the console")
    assert "Check the health of all disks" in shown
    assert "Track runs" in folded
    assert (shown.count(">Change<"), folded.count(">Change<")) == (4, 0)
