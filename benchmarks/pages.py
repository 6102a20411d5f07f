"""20 people look at a console with 1,000 disks and a year of them, by the clock, on the stack of an installation.

Clients and console share this machine's cores. `python -m benchmarks.load` lets the console do the rest of its work.
"""

import logging
import multiprocessing
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from benchmarks.clients import Answer, browse
from benchmarks.figure import Figure
from benchmarks.fleet import fleet, watch_a_year, written_a_year
from benchmarks.stack import stack, start_console

DISKS: Final = 1000
CLIENTS: Final = 20
MINUTES: Final = 3
PAGE_MS: Final = 100
SETTLE_S: Final = 20.0
"""Until the services have started, and the receiver has made the users of all hosts."""


def figures() -> Iterator[Figure]:
    """Make the stack and the year, then let the clients at the pages."""
    with stack() as made:
        logging.disable(logging.INFO)  # that somebody has signed in
        cookies, paths = with_a_year(DISKS, CLIENTS)
        start_console(made)
        time.sleep(SETTLE_S)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            answers = pool.apply(browse, (made.port, cookies, paths, MINUTES * 60))
        yield from of_pages(answers)


def with_a_year(disks: int, clients: int) -> tuple[list[str], list[str]]:
    """A console with a host of so many disks and a year of them: a cookie for each client, and the pages to look at."""
    from django.conf import settings  # noqa: PLC0415 - Django is set up by now
    from django.contrib.auth.models import User  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415

    from nasadvisor.console.health.models import StoredDisk  # noqa: PLC0415

    now = datetime.now(UTC).replace(microsecond=0)
    inventory = fleet(now, disks)
    watch_a_year(inventory, now)
    written_a_year(now)
    user = User.objects.create_user("bench", is_superuser=True)
    cookies = []
    for _ in range(clients):
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        cookies.append(f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}")
    disk = StoredDisk.objects.order_by("pk")[0]
    pool = inventory.pools[0].guid
    return cookies, ["/", "/disks/", "/disks/?sort=-worn", f"/disks/{disk.key}/", "/alerts/", f"/pools/{pool}/"]


def of_pages(answers: list[Answer]) -> Iterator[Figure]:
    """How many of them were errors, and how long each page took."""
    errors = [answer for answer in answers if answer.error]
    for error in {f"{each.path}: {each.error}" for each in errors}:
        print(f"  {error}")
    yield Figure("requests with an error", "0", f"{len(errors)} of {len(answers)}", met=not errors)
    by_path: dict[str, list[float]] = defaultdict(list)
    for answer in answers:
        by_path[answer.path].append(answer.seconds * 1000)
    for path, times in sorted(by_path.items()):
        if len(times) > 1:
            half, most = statistics.median(times), statistics.quantiles(times, n=20)[-1]
            text = f"p50 {half:.0f} ms, p95 {most:.0f} ms ({len(times)})"
            yield Figure(path, f"p95 {PAGE_MS} ms", text, met=most <= PAGE_MS)
