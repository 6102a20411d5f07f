"""What happened to the machine of tests/story, and which of its pages are the stops of the demo."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from nasadvisor.console.accounts.roles import UserRole, set_role
from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.host.change.runs import RunHost
from nasadvisor.host.simulated.executor import SimulatedExecutor
from tests.demo.bar import Stop
from tests.story.machine import LOG_SSDS, MEDIA, TANK
from tests.story.past import APPLIED_DAYS_AGO, BY, Clock, live, machine_before

SERVER = "127.0.0.1"
"""By which name the pages are asked for: that of this host would have to be set."""


def stops_of_the_story(root: Path) -> tuple[Stop, ...]:
    """Let it happen, in an empty console; `root` is where the host keeps its journal."""
    now = datetime.now(UTC).replace(microsecond=0)
    executor = SimulatedExecutor(machine_before(now))
    clock = Clock(now - timedelta(days=APPLIED_DAYS_AGO))
    live(RunHost("nas1", root / "runs", (root / "lock",), lambda _: executor, clock), executor, now)
    set_role(User.objects.create_user(BY), UserRole.OPERATOR)
    run, ssd = StoredRun.objects.get(), StoredDisk.objects.get(key=LOG_SSDS[0])
    return (
        Stop(
            "/",
            {"en": "What to do first", "de": "Was zuerst zu tun ist"},
            {
                "en": "The first page says what is wrong, worst first, and how long programs wait.",
                "de": "Die erste Seite sagt, was nicht stimmt, das Schlimmste zuerst, und wie lange Programme warten.",
            },
        ),
        Stop(
            reverse("evidence-pool", args=[TANK]),
            {"en": "Would it help?", "de": "Hilft es?"},
            {
                "en": "What programs wait for on tank, and what each choice takes away. It got a log 26 days ago: see "
                "“Before and after”.",
                "de": "Worauf Programme bei tank warten, und was jede Möglichkeit davon nimmt. Seit 26 Tagen hat er "
                "ein Log: siehe „Vorher und nachher“.",
            },
        ),
        Stop(
            _review(MEDIA),
            {"en": "The plan", "de": "Der Plan"},
            {
                "en": "For the pool media a log is proposed: what is added, wiped and worn, what an undo leaves. "
                "Nothing has been changed yet.",
                "de": "Für den Pool media wird ein Log vorgeschlagen: was hinzukommt, gelöscht und abgenutzt wird, was "
                "bleibt, wenn man es zurücknimmt. Noch ist nichts geändert.",
            },
        ),
        Stop(
            reverse("run-detail", args=[run.pk]),
            {"en": "The run, and its undo", "de": "Der Lauf, und wie man ihn rückgängig macht"},
            {
                "en": "What was done on tank, step by step. “Undo” takes all of it back.",
                "de": "Was bei tank getan wurde, Schritt für Schritt. „Rückgängig“ nimmt alles davon zurück.",
            },
        ),
        Stop(
            reverse("disk", args=[ssd.key]),
            {"en": "Who wears the SSD out", "de": "Wer die SSD abnutzt"},
            {
                "en": "How this SSD is, how long it lasts, and who writes to it.",
                "de": "Wie es dieser SSD geht, wie lange sie hält, und wer auf sie schreibt.",
            },
        ),
    )


def somebody() -> Client:
    """Who looks at the pages."""
    client = Client(SERVER_NAME=SERVER)
    client.force_login(User.objects.get(username=BY))
    return client


def _review(pool: str) -> str:
    """The address of the review of what the wizard proposes for a pool."""
    client, address = somebody(), reverse("wizard-devices", args=[pool])
    answer = client.post(address, _filled_in(client.get(address).content.decode()))
    return str(answer.headers["Location"])


def _filled_in(page: str) -> dict[str, list[str]]:
    """What a browser would send of the form on a page that nobody has touched."""
    found: dict[str, list[str]] = {}
    for tag in re.findall(r"<input\b[^>]*>", page):
        named = dict(re.findall(r'\b(name|value|type)="([^"]*)"', tag))
        is_chosen = named.get("type") not in ("checkbox", "radio") or re.search(r"\bchecked\b", tag)
        if is_chosen and "name" in named:
            found.setdefault(named["name"], []).append(named.get("value", "on"))
    return found
