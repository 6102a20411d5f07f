"""The dry run of `zpool add` has to show each slice under the class it is for, and nowhere else."""

import pytest

from nasadvisor.host.adapters.zpool_questions import DryRunDiffers, check_dry_run
from tests.unit.domain.builders import cache_on, log_on
from tests.unit.machines import NVME1, NVME2

LOG = log_on(NVME1, NVME2)[1]
CACHE = cache_on(NVME1, NVME2)[1]
ONE, TWO = (side.path.rsplit("/", 1)[1] for side in LOG.sides)
HEAD = "would update 'tank' to the following configuration:\n\n"


def test_each_class_is_looked_for_under_its_own_heading() -> None:
    log = f"{HEAD}\ttank\n\t  mirror-0\n\t    ata-x\n\tlogs\n\t  mirror\n\t    {ONE}\n\t    {TWO}\n"
    check_dry_run(log, LOG)
    check_dry_run(log.replace("\tlogs\n\t  mirror\n", "\tcache\n"), CACHE)
    with pytest.raises(DryRunDiffers, match="under cache"):
        check_dry_run(log, CACHE)


def test_a_slice_that_also_stands_elsewhere_stops_the_step() -> None:
    with pytest.raises(DryRunDiffers):
        check_dry_run(f"{HEAD}\ttank\n\t  {ONE}\n\tlogs\n\t  {ONE}\n\t  {TWO}\n", LOG)
    with pytest.raises(DryRunDiffers):
        check_dry_run(f"{HEAD}\ttank\n\t  x\n\tspecial\n\t  {TWO}\n\tlogs\n\t  {ONE}\n\t  {TWO}\n", LOG)


def test_what_is_indented_is_no_heading_whatever_it_is_called() -> None:
    with pytest.raises(DryRunDiffers):
        check_dry_run(f"{HEAD}\ttank\n\t  logs\n\t    {ONE}\n\t    {TWO}\n", LOG)


def test_a_pool_called_logs_does_not_make_its_data_logs() -> None:
    with pytest.raises(DryRunDiffers):
        check_dry_run(f"{HEAD}\tlogs\n\t  {ONE}\n\t  {TWO}\n", LOG)


def test_a_name_is_known_with_and_without_its_directory() -> None:
    check_dry_run(f"{HEAD}\ttank\n\t  x\n\tlogs\n\t  mirror\n\t    {LOG.sides[0].path}\n\t    {TWO}\n", LOG)


def test_the_error_names_the_class_every_slice_that_is_missing_and_the_answer() -> None:
    answer = f"{HEAD}\ttank\n\t  x\n"
    with pytest.raises(DryRunDiffers) as error:
        check_dry_run(answer, LOG)
    assert f"{LOG.sides[0].path}, {LOG.sides[1].path} under logs" in str(error.value)
    assert str(error.value).endswith(answer.strip())


def test_only_what_is_missing_is_named() -> None:
    with pytest.raises(DryRunDiffers) as error:
        check_dry_run(f"{HEAD}\ttank\n\t  x\n\tcache\n\t  {ONE}\n", CACHE)
    assert LOG.sides[0].path not in str(error.value)
    assert f"did not place {LOG.sides[1].path} under cache" in str(error.value)
