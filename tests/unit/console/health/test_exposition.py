"""Metrics as text, as Prometheus's own parser reads it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from prometheus_client.parser import text_string_to_metric_families

from nasadvisor.console.health.exposition import Metric, exposition, labels_text
from nasadvisor.console.health.metrics import everything
from tests.fixtures.machines.build import typical
from tests.unit.console.health.health_data import watched


@pytest.mark.parametrize("word", ["", "plain", 'with "quotes"', "back\\slash", "two\nlines", "\\n", "Größe 💾", "a,b}"])
def test_what_a_disk_says_of_itself_is_read_back_as_it_was(word: str) -> None:
    metric = Metric("nasadvisor_x", "What it is")
    metric.add(labels_text(model=word, role="log"), 1)
    (family,) = text_string_to_metric_families(exposition([metric]).decode())
    assert [each.labels for each in family.samples] == [{"model": word, "role": "log"}]


@pytest.mark.parametrize("value", [0, 7, 2**63, 3_200_631_791_616, 0.1, 1e-7, 1e22, 1789.5, float("inf")])
def test_a_value_is_read_back_as_it_was(value: float) -> None:
    metric = Metric("nasadvisor_x_total", "What it is", "counter")
    metric.add("", value)
    (family,) = text_string_to_metric_families(exposition([metric]).decode())
    assert (family.type, family.documentation) == ("counter", "What it is")
    assert [each.value for each in family.samples] == [value]


def test_a_scrape_asks_the_database_as_often_for_many_disks_as_for_few() -> None:
    with CaptureQueriesContext(
        connection,
    ) as none:
        exposition(everything())
    watched(typical(), days=2, every=1)
    with CaptureQueriesContext(connection) as some:
        text = exposition(everything()).decode()
    assert "nasadvisor_disk_percent_used" in text
    assert len(some) == len(none) + 1  # the inventory of the host
