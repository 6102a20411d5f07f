"""The frame around every page, and what an installation prepares."""

import stat
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.utils import get_random_secret_key
from django.test import Client, override_settings
from django.utils import timezone, translation
from django_celery_beat.models import PeriodicTask

from nasadvisor.console.fleet.current_host import SILENT_AFTER, Contact, contact_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.management.commands.prepare import make_key
from nasadvisor.console.templatetags.nasadvisor import ago, gigabytes, sentence
from nasadvisor.console.worker.schedules import EVERY_S, create_schedules
from nasadvisor.domain.statements import Statement
from nasadvisor.stored.documents import to_document


def test_it_speaks_german_when_asked(client: Client) -> None:
    client.post("/language/", {"language": "de"})
    assert '<html lang="de"' in client.get("/login/").content.decode()


def test_it_creates_the_schedules_once_and_leaves_changes_alone() -> None:
    create_schedules()
    PeriodicTask.objects.filter(name="console.follow_runs").update(enabled=False)
    create_schedules()
    assert PeriodicTask.objects.filter(name__in=EVERY_S).count() == len(EVERY_S)
    assert not PeriodicTask.objects.get(name="console.follow_runs").enabled


def test_it_makes_a_secret_key_that_only_its_owner_reads_and_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "secret-key"
    make_key(path, get_random_secret_key)
    first = path.read_text()
    make_key(path, get_random_secret_key)
    assert path.read_text() == first
    assert len(first) >= 50
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_it_prepares_an_installation_twice_without_harm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with override_settings(STATE_DIR=tmp_path / "console", SECRET_KEY_FILE=tmp_path / "console" / "secret-key"):
        call_command("prepare")
        call_command("prepare")
    assert "ready" in capsys.readouterr().out


def test_it_needs_no_new_migration() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_it_shows_commands_in_sentences_as_code_and_nothing_else_as_markup() -> None:
    statement = Statement("code", "Run `zpool clear {pool}` on {disk}.", {"pool": "a<b", "disk": "<i>`"})
    assert sentence(statement) == "Run <code>zpool clear a&lt;b</code> on &lt;i&gt;<code>.</code>"


@pytest.mark.parametrize(
    ("language", "words"), [("en", ["1 day ago", "3 days ago"]), ("de", ["vor 1 Tag", "vor 3 Tagen"])]
)
def test_it_says_how_long_ago_something_was(language: str, words: list[str]) -> None:
    moments = [timezone.now() - timedelta(days=days, hours=1) for days in (1, 3)]
    with translation.override(language):
        said = [ago(moment).replace("\xa0", " ") for moment in moments]
    assert [text.partition(">")[2].partition("<")[0] for text in said] == words


def test_a_host_that_could_not_read_itself_and_then_fell_silent_is_silent() -> None:
    node = Node(name="nas", last_contact=timezone.now(), inventory_error_document=to_document(Statement("x", "X.")))
    assert contact_of(node, timezone.now()) is Contact.FAILED
    assert contact_of(node, timezone.now() + SILENT_AFTER * 2) is Contact.SILENT


@pytest.mark.parametrize(
    ("count", "words"),
    [(None, "–"), (0, "0.0 GB"), (4_200_000, "4.2 MB"), (14_000_000_000, "14.0 GB"), (1_200_000_000_000, "1.2 TB")],
)
def test_bytes_a_day_never_round_to_nothing(count: int | None, words: str) -> None:
    assert gigabytes(count).replace("\N{NO-BREAK SPACE}", " ") == words
