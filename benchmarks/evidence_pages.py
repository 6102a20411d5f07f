"""The evidence pages of a pool with a day of samples taken every ten seconds, and hours of a month."""

from collections.abc import Iterator
from typing import Final

from benchmarks.console import console_folder, p95_ms, signed_in
from benchmarks.figure import Figure
from nasadvisor.domain.units import DAY_S, HOUR_S

PAGE_MS: Final = 100
DAYS: Final = 30


def figures() -> Iterator[Figure]:
    """The page of the pool, and the data of its heat map over a day and over all days."""
    console_folder()
    from django.core.management import call_command  # noqa: PLC0415 - Django is set up above
    from django.utils import timezone  # noqa: PLC0415

    from nasadvisor.console.evidence.models import Resolution  # noqa: PLC0415
    from nasadvisor.console.evidence.series import save_samples  # noqa: PLC0415
    from nasadvisor.host.simulated.evidence import simulated_sample  # noqa: PLC0415
    from tests.unit.console.evidence.sampled import fill  # noqa: PLC0415
    from tests.unit.machines import TANK, home_server  # noqa: PLC0415

    call_command("flush", interactive=False, verbosity=0)
    watched = fill(25)
    client = signed_in()
    now = int(timezone.now().timestamp())
    (pool,) = (pool for pool in home_server().pools if pool.guid == TANK)
    hours = range((now // HOUR_S - 25) * HOUR_S, now - DAYS * DAY_S, -HOUR_S)
    save_samples(watched, Resolution.HOUR, [simulated_sample(pool, at, HOUR_S) for at in hours])
    heat = f"/evidence/{TANK}/heat/"
    pages = {
        "the page of the evidence": f"/pools/{TANK}/evidence/",
        "the heat map of a day": f"{heat}?start={now - DAY_S}&end={now}",
        f"the heat map of {DAYS} days": f"{heat}?start={now - DAYS * DAY_S}&end={now}",
    }
    for name, path in pages.items():
        p95, cpu = p95_ms(client, path)
        yield Figure(f"p95 of {name}", f"{PAGE_MS} ms", f"{p95:.0f} ms ({cpu:.0f} ms CPU)", met=p95 <= PAGE_MS)
