"""Metrics, as Prometheus's own parser reads them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from prometheus_client.parser import text_string_to_metric_families

from nasadvisor.console.health.api import metrics
from nasadvisor.console.health.api.metrics import Family, everything, exposition, labels_text
from nasadvisor.console.health.models import StoredDisk
from tests.fixtures.machines.build import typical
from tests.unit.console.health.health_data import watched


@pytest.mark.parametrize("word", ["", "plain", 'with "quotes"', "back\\slash", "two\nlines", "\\n", "Größe 💾", "a,b}"])
def test_what_a_disk_says_of_itself_is_read_back_as_it_was(word: str) -> None:
    watched(typical(), days=0)
    StoredDisk.objects.update(model=word)
    families = {each.name: each for each in text_string_to_metric_families(exposition(everything()))}
    assert {each.labels["model"] for each in families["nasadvisor_disk_present"].samples} == {word}
    assert families["nasadvisor_disk_written_bytes"].type == "counter"


def test_a_scrape_asks_the_database_as_often_for_many_disks_as_for_few() -> None:
    with CaptureQueriesContext(connection) as none:
        exposition(everything())
    watched(typical(), days=2, every=1)
    with CaptureQueriesContext(connection) as some:
        text = exposition(everything())
    assert "nasadvisor_disk_percent_used" in text
    assert len(some) == len(none) + 1  # the inventory of the host


@pytest.mark.parametrize("value", [0, 1, -3, 1.5, 2**53, 6 * 10**22, 1e-7, 1790000000.25])
def test_a_value_is_read_back_as_it_was(value: float) -> None:
    family = Family("a_total", 'What it "is":\n1 \\ 2', "counter")
    family.add("", value)
    family.add(labels_text({"disk": "x", "pool": ""}) + ',by="log"', value)
    (read,) = text_string_to_metric_families(exposition([family]))
    assert (read.name, read.type, read.documentation) == ("a", "counter", 'What it "is":\n1 \\ 2')
    assert [(each.labels, each.value) for each in read.samples] == [
        ({}, value),
        ({"disk": "x", "pool": "", "by": "log"}, value),
    ]


def test_the_labels_of_a_disk_are_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    watched(typical(), days=2, every=1)
    written: list[str] = []

    def noted(labels: dict[str, str]) -> str:
        written.append(labels.get("serial", ""))
        return labels_text(labels)

    monkeypatch.setattr(metrics, "labels_text", noted)
    list(everything())
    assert sorted(filter(None, written)) == sorted(StoredDisk.objects.values_list("serial", flat=True))


def test_times_are_in_seconds_as_prometheus_wants_them() -> None:
    watched(typical(), days=0)
    StoredDisk.objects.update(power_on_hours=None)
    StoredDisk.objects.filter(pk=StoredDisk.objects.earliest("pk").pk).update(power_on_hours=100)
    families = {each.name: each for each in text_string_to_metric_families(exposition(everything()))}
    assert [each.value for each in families["nasadvisor_disk_powered_on_seconds"].samples] == [360_000]
    assert not [name for name in families if name.endswith(("hours", "minutes", "days", "milliseconds"))]
