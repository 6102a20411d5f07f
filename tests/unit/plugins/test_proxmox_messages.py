"""Messages by Proxmox VE's notification system, from Python through the real Perl to a stand-in that fails as it does.

The stand-in is tests/fixtures/pve_notify; it names the files and functions of Proxmox VE that it follows.
"""

import stat
from email import message_from_bytes
from email.header import decode_header, make_header
from pathlib import Path

import pytest

from nasadvisor.domain.fleet.platforms import Notice
from nasadvisor.domain.statements import Level, Statement
from nasadvisor.host.adapters import process
from nasadvisor.host.adapters.process import HostRunner
from plugins.proxmox.host import ProxmoxHost
from plugins.proxmox.messages import MessageLost

ROOT = Path(__file__).parents[3]
STANDIN = ROOT / "tests/fixtures/pve_notify"
TEMPLATES = ROOT / "packaging/deb/nasadvisor/templates"

SUBJECT = "Pool täglich: Log gestört – größer als 3 µs"
TEXT = "Beide Seiten des Logs von “täglich” sind fort.\n\nПривет, 世界: nichts ging verloren."
NOTICE = Notice(Level.CRITICAL, SUBJECT, TEXT)

USERS = "user:root@pam:1:0:Ada:L:admin@example.com::\nuser:anna@pve:1:0:::anna@example.com::\n"

TARGETS = (
    "smtp: mail-to-root\n\tserver mail.example.com\n\tmailto-user root@pam\n\nmatcher: all\n\ttarget mail-to-root\n"
)

LOGS = ["stderr", "journal"]


@pytest.fixture
def no_commands() -> None:
    """Here Perl runs, and programs of the stand-in; nothing that could change a disk."""


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The stand-in's directory; what it shall do is set in the environment of programs."""
    (tmp_path / "etc/pve").mkdir(parents=True)
    (tmp_path / "etc/pve/user.cfg").write_text(USERS)
    (tmp_path / "etc/pve/notifications.cfg").write_text(TARGETS)
    environment = {
        **process.ENVIRONMENT,
        "PATH": f"{STANDIN / 'bin'}:{process.ENVIRONMENT['PATH']}",
        "PERL5LIB": str(STANDIN),
        "STANDIN": str(tmp_path),
        "STANDIN_LOGS_TO": "stderr",
        "STANDIN_TEMPLATES": str(TEMPLATES),
    }
    monkeypatch.setattr(process, "ENVIRONMENT", environment)
    return tmp_path


def behave(**settings: str) -> None:
    process.ENVIRONMENT.update({f"STANDIN_{name.upper()}": value for name, value in settings.items()})


def send(there: Path) -> Statement | None:
    return ProxmoxHost(there).notify(HostRunner(), NOTICE)


def mail(there: Path) -> tuple[str, str, list[str]]:
    """Subject and text of the mail that went out, and the arguments of sendmail."""
    found = message_from_bytes((there / "mail").read_bytes())
    text = found.get_payload(decode=True)
    assert isinstance(text, bytes)
    arguments = (there / "mail-arguments").read_text().split("\n")[:-1]
    return str(make_header(decode_header(found["Subject"]))), text.decode().removesuffix("\n"), arguments


@pytest.mark.parametrize("logs_to", LOGS)
def test_a_message_that_pve_says_it_delivered_needs_nothing_else(there: Path, logs_to: str) -> None:
    behave(logs_to=logs_to)
    assert send(there) is None
    assert not (there / "mail").exists()


@pytest.mark.parametrize("targets", ["", "sendmail: mail-to-root\n\tmailto-user root@pam\n", "gotify: other\n"])
def test_what_the_mail_system_was_handed_is_not_called_delivered(there: Path, targets: str) -> None:
    (there / "etc/pve/notifications.cfg").write_text(targets)
    said = send(there)
    assert said is not None
    assert (said.code, said.values) == ("proxmox-by-mail-system", {"targets": "mail-to-root"})
    assert not (there / "mail").exists(), "a second mail would go the same way"


def test_without_a_file_of_targets_there_is_the_one_of_the_mail_system(there: Path) -> None:
    (there / "etc/pve/notifications.cfg").unlink()
    assert str(send(there)).startswith("Proxmox VE passed the message to this host's mail system")


def test_umlauts_arrive_as_they_were_written(there: Path) -> None:
    send(there)
    subject, _, text = (there / "delivered").read_bytes().decode("utf-8").partition("\n")
    assert subject == SUBJECT
    assert text.strip().startswith(TEXT)


@pytest.mark.parametrize("logs_to", LOGS)
@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        ("recipients", "no recipients provided"),
        ("unusable", "connection refused"),
        ("matcher", "no target accepted it"),
        ("config", "Could not instantiate notification bus"),
    ],
)
def test_without_proof_of_delivery_it_goes_out_as_a_mail_of_our_own_and_that_is_said(
    there: Path, trouble: str, why: str, logs_to: str
) -> None:
    behave(trouble=trouble, logs_to=logs_to)
    said = send(there)
    assert said is not None
    assert [word for word in (why, "admin@example.com", "did not confirm") if word not in str(said)] == []
    assert mail(there) == (SUBJECT, TEXT, ["-i", "--", "admin@example.com"])


def test_where_its_templates_are_missing_it_goes_out_as_a_mail(there: Path) -> None:
    behave(templates=str(there / "nowhere"))
    said = send(there)
    assert "failed to render notification template" in str(said)
    assert mail(there)[:2] == (SUBJECT, TEXT)


def test_with_the_signature_before_named_templates_it_goes_out_as_a_mail(there: Path) -> None:
    behave(signature="titles")
    assert "expected a string" in str(send(there))
    assert mail(there)[:2] == (SUBJECT, TEXT)


def test_one_target_that_delivered_is_proof_enough(there: Path) -> None:
    behave(trouble="two")
    assert send(there) is None
    assert not (there / "mail").exists()


def test_a_log_level_that_somebody_set_does_not_hide_the_proof(there: Path) -> None:
    process.ENVIRONMENT["PVE_LOG"] = "error"
    assert send(there) is None


def test_a_notification_system_that_hangs_is_given_up(there: Path) -> None:
    behave(trouble="hangs")
    process.ENVIRONMENT["NASADVISOR_NOTIFY_S"] = "1"
    assert "no answer within 1 s" in str(send(there))
    assert mail(there)[:2] == (SUBJECT, TEXT)


def test_without_the_notification_system_it_goes_out_as_a_mail(there: Path) -> None:
    process.ENVIRONMENT["PERL5LIB"] = str(there)
    assert "PVE/Notify.pm" in str(send(there))
    assert mail(there)[0] == SUBJECT


def test_where_root_has_no_address_it_is_said_that_the_mail_may_get_lost_too(there: Path) -> None:
    (there / "etc/pve/user.cfg").write_text("user:root@pam:1:0::::::\n")
    behave(trouble="recipients")
    said = send(there)
    assert [word for word in ("may get lost", "root@pam has no e-mail address") if word not in str(said)] == []
    assert mail(there)[2] == ["-i", "--", "root"]


def test_the_sender_of_the_cluster_is_that_of_the_mail(there: Path) -> None:
    (there / "etc/pve/datacenter.cfg").write_text("keyboard: de\nemail_from: pve@example.com\n")
    behave(trouble="matcher")
    send(there)
    assert mail(there)[2] == ["-i", "-f", "pve@example.com", "--", "admin@example.com"]
    assert b"From: NAS Advisor <pve@example.com>\n" in (there / "mail").read_bytes()


@pytest.mark.parametrize(
    "address", ["-oQ/tmp@example.com", "a b@example.com", "a@b,c@d", "|/bin/sh@example.com", "root"]
)
def test_what_is_no_address_is_none(there: Path, address: str) -> None:
    (there / "etc/pve/user.cfg").write_text(f"user:root@pam:1:0:::{address}::\n")
    behave(trouble="matcher")
    assert "root@pam has no e-mail address" in str(send(there))


def test_a_message_that_nothing_took_is_an_error_with_the_reason(there: Path) -> None:
    behave(trouble="unusable", mail="down")
    with pytest.raises(MessageLost, match="connection refused"):
        send(there)


def test_a_subject_is_one_line(there: Path) -> None:
    behave(trouble="matcher")
    ProxmoxHost(there).notify(HostRunner(), Notice(Level.INFO, "One\r\nBcc: x@example.com", "y"))
    assert mail(there)[0] == "One Bcc: x@example.com"


def test_the_package_puts_its_templates_where_pve_looks_for_them() -> None:
    stage = (ROOT / "packaging/deb/nasadvisor/stage.sh").read_text()
    assert "usr/share/pve-manager/templates/default" in stage
    assert {file.name for file in TEMPLATES.iterdir()} == {
        "nasadvisor-subject.txt.hbs",
        "nasadvisor-body.txt.hbs",
        "nasadvisor-body.html.hbs",
    }


def test_the_programs_of_the_stand_in_can_run() -> None:
    assert all(file.stat().st_mode & stat.S_IXUSR for file in (STANDIN / "bin").iterdir())
