"""How hypothesis works here: without a clock, since two busy cores are no reason to fail; the same each time in CI."""

import os

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from nasadvisor.domain.change.plan import Plan, make_plan
from tests.unit.domain.builders import Example, ids_for, inventories, requests

settings.register_profile("default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default"))


@pytest.fixture(scope="session")
def examples() -> tuple[Example, ...]:
    """Machines and plans for them, made up once for all tests: making them up is what takes the time.

    They are the same each time, so that none of the sorts that the tests want is ever missing.
    """
    found: list[Example] = []

    @settings(max_examples=600, phases=[Phase.generate], database=None, derandomize=True)
    @given(st.data())
    def make_up(data: st.DataObject) -> None:
        inventory = data.draw(inventories())
        request = data.draw(requests(inventory))
        plan = make_plan(request, inventory, ids_for(request))
        if isinstance(plan, Plan):
            found.append((inventory, plan))

    make_up()
    return tuple(found)
