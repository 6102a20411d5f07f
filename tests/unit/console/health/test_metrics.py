"""Metrics, as Prometheus's own parser reads them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from nasadvisor.console.health.metrics import Everything
from nasadvisor.console.health.models import StoredDisk
from tests.fixtures.machines.build import typical
from tests.unit.console.health.health_data import watched


@pytest.mark.parametrize("word", ["", "plain", 'with "quotes"', "back\\slash", "two\nlines", "\\n", "Größe 💾", "a,b}"])
def test_what_a_disk_says_of_itself_is_read_back_as_it_was(word: str) -> None:
    watched(typical(), days=0)
    StoredDisk.objects.update(model=word)
    families = {each.name: each for each in text_string_to_metric_families(generate_latest(Everything()).decode())}
    assert {each.labels["model"] for each in families["nasadvisor_disk_present"].samples} == {word}
    assert families["nasadvisor_disk_written_bytes"].type == "counter"


def test_a_scrape_asks_the_database_as_often_for_many_disks_as_for_few() -> None:
    with CaptureQueriesContext(connection) as none:
        generate_latest(Everything())
    watched(typical(), days=2, every=1)
    with CaptureQueriesContext(connection) as some:
        text = generate_latest(Everything()).decode()
    assert "nasadvisor_disk_percent_used" in text
    assert len(some) == len(none) + 1  # the inventory of the host
