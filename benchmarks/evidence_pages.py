"""The evidence pages of a pool with a day of samples taken every ten seconds."""

from collections.abc import Iterator
from typing import Final

from benchmarks.console import console_folder, p95_ms, signed_in
from benchmarks.figure import Figure
from nasadvisor.domain.units import DAY_S

PAGE_MS: Final = 300


def figures() -> Iterator[Figure]:
    """The page of the pool, and the data of its heat map over the whole day."""
    console_folder()
    from django.core.management import call_command  # noqa: PLC0415 - Django is set up above
    from django.utils import timezone  # noqa: PLC0415

    from tests.unit.console.evidence.sampled import fill  # noqa: PLC0415
    from tests.unit.machines import TANK  # noqa: PLC0415

    call_command("flush", interactive=False, verbosity=0)
    fill(25)
    client = signed_in()
    now = int(timezone.now().timestamp())
    for path in (f"/pools/{TANK}/evidence/", f"/evidence/{TANK}/heat/?start={now - DAY_S}&end={now}"):
        p95, cpu = p95_ms(client, path)
        name = path.partition("?")[0]
        yield Figure(f"p95 of {name}", f"{PAGE_MS} ms", f"{p95:.0f} ms ({cpu:.0f} ms CPU)", met=p95 <= PAGE_MS)
