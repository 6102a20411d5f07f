"""Proof by switching in a real browser: the offer, what is under way, and the answer with its picture."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from django.utils import timezone

from nasadvisor.console.evidence.switch_store import store_switching
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.units import HOUR_S
from nasadvisor.stored.documents import to_document
from tests.browser.conftest import Desk
from tests.browser.test_looks import WIDTHS, overflow, picture, violations
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
    store_switching("nas", to_document(replace(counted(pairs=14), plan=plan, problem=problem)))
    desk.open(f"{POOL}#switching")


def answered(desk: Desk) -> None:
    watched()
    at, why = timezone.now().isoformat(), Statement("switching-done", "It was carried out to its end.")
    store_switching("nas", to_document(replace(counted(factor=0.7), over_at=at, ended_at=at, why_over=why)))
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


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", PAGES)
def test_it_fits_and_is_accessible_in_light_and_dark_and_on_a_phone(operator: Desk, name: str, language: str) -> None:
    """Nothing has to be scrolled sideways, and axe-core finds nothing, wherever it is looked at."""
    page = operator.page
    page.context.add_cookies([{"name": "nasadvisor_language", "value": language, "url": operator.url}])
    PAGES[name](operator)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        for width, height in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(150)
            picture(page, f"switching-{name}-{language}-{theme}-{width}")
            assert not overflow(page), f"{name} is wider than {width} px"
        assert not violations(page)
