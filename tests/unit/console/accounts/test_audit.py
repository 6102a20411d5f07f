"""The audit log: what somebody did is written down, where nobody changes it, and where logs elsewhere find it."""

import csv
import logging
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act, AppendOnly, AuditEntry
from nasadvisor.console.accounts.roles import UserRole, set_role
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.console.worker.tasks import prune
from nasadvisor.stored.documents import to_document
from tests.unit.console.conftest import PASSWORD, confirm
from tests.unit.machines import home_server

CONSOLE = Path(audit.__file__).parents[1]
FROM = "192.0.2.7"


@pytest.fixture
def boss(client: Client) -> Client:
    """An administrator who has just signed in by the page, from a known address."""
    set_role(User.objects.create_user("boss", password=PASSWORD), UserRole.ADMIN)
    client.defaults["REMOTE_ADDR"] = FROM
    assert client.post("/login/", {"username": "boss", "password": PASSWORD}).status_code == 302
    confirm(client)
    return client


def entries() -> list[tuple[str, str, str, str]]:
    """Oldest first, without the sign-in that each test begins with."""
    found = AuditEntry.objects.order_by("pk").values_list("act", "user_name", "address", "about")
    return [each for each in found if each[:2] != ("sign-in", "boss")]


def test_signing_in_failing_to_and_signing_out_are_written_down(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    User.objects.create_user("olga", password=PASSWORD)
    client.defaults["REMOTE_ADDR"] = FROM
    with caplog.at_level(logging.INFO, "nasadvisor.audit"):
        client.post("/login/", {"username": "olga", "password": "wrong"})
        client.post("/login/", {"username": "olga", "password": PASSWORD})
        client.post("/logout/")
    acts = ["sign-in-failed", "sign-in", "sign-out"]
    assert entries() == [(act, "olga", FROM, "") for act in acts]
    lines = [each.getMessage() for each in caplog.records if each.name == "nasadvisor.audit"]
    assert lines == [f"act={act} address={FROM} user='olga' about=''" for act in acts]


def test_a_name_cannot_look_like_another_field_of_the_journal(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    name = "x' address=198.51.100.9 act=sign-in\n\x1b[2J"
    with caplog.at_level(logging.INFO, "nasadvisor.audit"):
        client.post("/login/", {"username": name, "password": "wrong"}, REMOTE_ADDR=FROM)
    (line,) = [each.getMessage() for each in caplog.records if each.name == "nasadvisor.audit"]
    assert re.match(r"act=sign-in-failed address=(\S+) user=", line).groups() == (FROM,)  # type: ignore[union-attr]
    assert "\n" not in line
    assert "\x1b" not in line


def test_what_an_administrator_changes_is_written_down(boss: Client) -> None:
    fields = {"username": "nina", "password1": "kq8vR2mzt-pL", "password2": "kq8vR2mzt-pL", "role": "viewer"}
    boss.post("/settings/users/add/", fields)
    nina = User.objects.get(username="nina")
    boss.post(f"/settings/users/{nina.pk}/role/", {"role": "operator"})
    boss.post(f"/settings/users/{nina.pk}/active/")
    boss.post(f"/settings/users/{nina.pk}/active/")
    new = {"new_password1": "Zu8vR2mzt-pL", "new_password2": "Zu8vR2mzt-pL"}
    boss.post(f"/settings/users/{nina.pk}/password/", new)
    boss.post("/settings/tokens/add/", {"name": "grafana"})
    assert [each[0] + " " + each[3] for each in entries()] == [
        "user-added nina: viewer",
        "role-changed nina: operator",
        "user-locked nina",
        "user-let-in nina",
        "password-reset nina",
        "token-made grafana",
    ]
    assert {each[1:3] for each in entries()} == {("boss", FROM)}


def test_what_was_refused_is_not_said_to_be_done(boss: Client) -> None:
    """Proves it for a wrong password, which is an entry of its own, and for a form that is not valid."""
    take_answer("nas", "inventory", to_document(home_server()))
    Node.objects.update(is_simulated=True)
    boss.post("/settings/hosts/nas/forget/", {"password": "wrong"})
    boss.post(
        "/settings/users/add/", {"username": "nina", "password1": "short", "password2": "short", "role": "viewer"}
    )
    assert entries() == [("re-entry-failed", "boss", FROM, "/settings/hosts/nas/forget/")]
    boss.post("/settings/hosts/nas/forget/", {"password": PASSWORD})
    assert entries()[1:] == [("host-forgotten", "boss", FROM, "nas")]


def test_nobody_changes_or_drops_an_entry(boss: Client) -> None:
    del boss
    entry = AuditEntry.objects.get()
    entry.user_name = "somebody else"
    for change in (entry.save, entry.delete, AuditEntry.objects.all().delete, AuditEntry.objects.filter(pk=1).delete):
        with pytest.raises(AppendOnly):
            change()
    with pytest.raises(AppendOnly):
        AuditEntry.objects.update(user_name="somebody else")
    User.objects.all().delete()
    assert AuditEntry.objects.get().user_name == "boss"


def test_it_is_kept_for_two_years() -> None:
    for days in (731, 729):
        AuditEntry.objects.create(at=timezone.now() - timedelta(days=days), act=Act.SIGN_IN, user_name=str(days))
    prune()
    assert [each.user_name for each in AuditEntry.objects.all()] == ["729"]


def test_strangers_do_not_fill_it(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MOST_FAILURES", 3)
    for number in range(6):
        client.post("/login/", {"username": f"guess{number}", "password": "wrong"})
    assert AuditEntry.objects.count() == 3


def test_the_page_shows_who_what_and_from_where_and_filters(boss: Client) -> None:
    boss.post("/settings/tokens/add/", {"name": "<b>grafana</b>"})
    page = boss.get("/settings/audit/").content.decode()
    assert all(words in page for words in ("boss", FROM, "created a token", "&lt;b&gt;grafana&lt;/b&gt;"))
    assert "created a token</td>" not in boss.get("/settings/audit/?act=sign-in").content.decode()
    assert "No matching entries" in boss.get("/settings/audit/?user=nobody").content.decode()
    assert "created a token" in boss.get(f"/settings/audit/?user=BOSS&address={FROM}").content.decode()
    german = boss.get("/settings/audit/", headers={"accept-language": "de"}).content.decode()
    assert "hat ein Token erstellt" in german


def test_the_table_for_programs_holds_the_same_and_no_formula(boss: Client) -> None:
    boss.post("/settings/tokens/add/", {"name": "=cmd()"})
    answer = boss.get("/settings/audit.csv?act=token-made")
    [head, row] = csv.reader(answer.content.decode().splitlines())
    assert head == ["at", "act", "user", "address", "about"]
    assert row[1:] == ["token-made", "boss", FROM, "'=cmd()"]


def test_every_act_is_written_somewhere() -> None:
    """Proves that none is only promised."""
    code = "".join(path.read_text() for path in CONSOLE.rglob("*.py") if path.name != "audit_models.py")
    assert [act.name for act in Act if f"Act.{act.name}" not in code] == []


def test_the_end_of_a_run_is_told_in_words_and_its_id_is_cut(boss: Client) -> None:
    run = "4dc8650b-481f-4493-a03e-f8e27594a5e0"
    audit.record_result("nas1", f"tank {run}: put-back")
    text = boss.get("/settings/audit/").content.decode()
    assert f'nas1: tank <abbr title="{run}">4dc8650b…</abbr>: reverted' in text
    assert re.search(r'<th scope="row">\s*a host\s*</th>\s*<td class="cell-what">ended a run</td>', text)
    assert f"{run}: put-back" in boss.get("/settings/audit.csv").content.decode()
