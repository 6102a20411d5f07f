"""Published drive samples decode to what they say, and the wear of real SSDs to what their page 7 says."""

import dataclasses

from nasadvisor.domain.health.smart.conflicts import conflicts
from nasadvisor.domain.health.smart.reading import decode
from nasadvisor.domain.health.smart.report import read_report
from nasadvisor.domain.health.smart.wear import PAGE_7, wear_indicators
from nasadvisor.domain.health.smart.written import byte_counters
from tests.unit.data import document, lines, needs_data, rows

pytestmark = needs_data


def test_every_sample_decodes_to_what_it_says() -> None:
    wrong = []
    for row in rows("smartctl-json/index.csv"):
        reading = decode(document(row["file"]))
        percent, written = row["expected_percent_used"], row["expected_bytes_written"]
        if percent and reading.percent_used != float(percent):
            wrong.append((row["file"], "percent", percent, reading.percent_used))
        if written and reading.bytes_written != int(written):
            wrong.append((row["file"], "bytes", written, reading.bytes_written))
    assert wrong == []


def test_vendor_attributes_alone_tell_the_wear() -> None:
    truth = {row["drive"]: row for row in rows("wear-decode/truth.csv")}
    total = within = missed = 0
    fleet = fleet_within = 0.0
    for line in lines("wear-decode/snapshots.jsonl.gz"):
        row = truth[line["drive"]]
        true, weight = float(row["percent_used"]), float(row["weight"])
        percent = decode(line["smartctl"]).percent_used
        close = percent is not None and abs(min(percent, 100) - min(true, 100)) <= 1
        total, within = total + 1, within + close
        fleet, fleet_within = fleet + weight, fleet_within + weight * close
        missed += true >= 80 and (percent is None or percent < 50)
    assert within / total >= 0.80
    assert fleet_within / fleet >= 0.92
    assert missed <= 10


def test_believable_drives_seldom_contradict_themselves() -> None:
    newest = {line["drive"]: line["smartctl"] for line in lines("wear-series/sata-ssd.jsonl.gz")}
    flagged = [_conflicts(decode(smartctl).findings) for smartctl in newest.values()]
    assert sum(flagged) / len(flagged) <= 0.03


def test_a_page_7_put_back_seldom_contradicts_the_attributes() -> None:
    truth = {row["drive"]: row for row in rows("wear-decode/truth.csv")}
    fleet = flagged = 0.0
    for line in lines("wear-decode/snapshots.jsonl.gz"):
        row = truth[line["drive"]]
        report = read_report(line["smartctl"])
        page7 = {PAGE_7: int(float(row["percent_used"]))}
        report = dataclasses.replace(report, statistics={**report.statistics, **page7})
        found = conflicts(report, wear_indicators(report), byte_counters(report))
        fleet += float(row["weight"])
        flagged += float(row["weight"]) * _conflicts(found)
    assert flagged / fleet <= 0.03


def test_doubtful_drives_are_shown_as_such_where_they_contradict_themselves() -> None:
    """Three in ten show nothing wrong by themselves: they were set aside by comparing many drives of a model."""
    readings = [decode(line["smartctl"]) for line in lines("wear-decode/page7-doubtful.jsonl.gz")]
    assert sum(_conflicts(reading.findings) for reading in readings) / len(readings) >= 0.70


def _conflicts(findings: tuple[object, ...]) -> bool:
    return any(getattr(finding, "code", "") == "indicator-conflict" for finding in findings)
