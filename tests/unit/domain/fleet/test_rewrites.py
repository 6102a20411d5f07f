"""Jobs of a platform that write data again: said beside what is made of the counters that they move."""

from dataclasses import replace

import pytest

from nasadvisor.domain.fleet.platforms import Rewrite, in_evidence, in_wear
from nasadvisor.domain.statements import Level
from nasadvisor.domain.units import DAY_S, GIB

NOW = 1_790_000_000
OVER = Rewrite("tank/media", False, NOW - 5 * DAY_S, NOW - 3 * DAY_S, 5 * GIB)
RUNNING = replace(OVER, dataset="tank", is_running=True, rewritten_bytes=GIB)


def test_a_job_that_ran_while_the_pool_was_watched_is_told_with_its_dataset_and_size() -> None:
    found = in_evidence([OVER, RUNNING], "tank", NOW - 4 * DAY_S)
    assert found
    assert (found.code, found.level) == ("rewrites-in-load", Level.WARNING)
    assert found.values == {"pool": "tank", "datasets": "tank/media, tank", "size": "6 GiB"}


@pytest.mark.parametrize(
    ("pool", "since", "told"),
    [
        ("tank", OVER.last_at, True),
        ("tank", OVER.last_at + 1, False),
        ("tan", 0, False),
        ("tank/media", 0, False),
    ],
)
def test_one_that_was_over_before_or_is_on_another_pool_is_not(pool: str, since: int, told: bool) -> None:
    assert (in_evidence([OVER], pool, since) is not None) is told


def test_one_that_runs_is_told_however_old_its_figures_are() -> None:
    assert in_evidence([RUNNING], "tank", NOW)
    assert in_wear([RUNNING], ["tank"], NOW + 365 * DAY_S)


@pytest.mark.parametrize(("age_days", "told"), [(29, True), (30, True), (31, False)])
def test_a_forecast_has_it_beside_itself_for_30_days(age_days: int, told: bool) -> None:
    found = in_wear([OVER], ["rpool", "tank"], OVER.last_at + age_days * DAY_S)
    assert (found is not None) is told
    assert not found or (found.code, found.level, found.values["days"]) == ("rewrites-in-wear", Level.INFO, "30")


def test_a_disk_of_no_pool_is_not_worn_by_any() -> None:
    assert in_wear([OVER], [], NOW) is None


def test_three_datasets_are_named_each_once() -> None:
    many = [replace(OVER, dataset=f"tank/{name}") for name in "abacd"]
    found = in_evidence(many, "tank", 0)
    assert found
    assert found.values["datasets"] == "tank/a, tank/b, tank/c …"
