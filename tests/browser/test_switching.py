"""Proof by switching in a real browser: the offer, what is under way, and the answer with its picture."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from django.utils import timezone

from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.units import HOUR_S
from nasadvisor.stored.documents import to_document
from tests.browser.conftest import Desk
from tests.browser.layout import check_layout
from tests.unit.console.evidence.test_switching import counted, watched
from tests.unit.machines import TANK

POOL = f"/pools/{TANK}/evidence/"


def offer(desk: Desk) -> None:
    watched(hours=26)
    desk.open(f"/evidence/{TANK}/switching/start/")


def under_way(desk: Desk) -> None:
    """Half of it is done, and a cache could not be put back."""
    watched()
    problem = Statement("pool-away", "Pool tank is not imported.")
    plan = replace(counted().plan, start=int(timezone.now().timestamp()) - 30 * HOUR_S)
    take_answer("nas", "cache-switching", to_document(replace(counted(pairs=14), plan=plan, problem=problem)))
    desk.open(f"{POOL}#switching")


def answered(desk: Desk) -> None:
    watched()
    at, why = timezone.now().isoformat(), Statement("switching-done", "The test ran to completion.")
    take_answer(
        "nas", "cache-switching", to_document(replace(counted(factor=0.7), over_at=at, ended_at=at, why_over=why))
    )
    desk.open(f"{POOL}#switching")


def stopping(desk: Desk) -> None:
    under_way(desk)
    desk.open(f"/evidence/{TANK}/switching/stop/")


PAGES: dict[str, Callable[[Desk], None]] = {
    "offer": offer,
    "under-way": under_way,
    "answered": answered,
    "stopping": stopping,
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_fits_in_both_languages(operator: Desk, name: str) -> None:
    PAGES[name](operator)
    check_layout(operator, f"switching-{name}")
