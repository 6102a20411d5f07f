"""Readings of a release that kept each in a row of its own are all there after an update."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.health.readings import readings_of
from nasadvisor.stored.packed_readings import DiskReading
from tests.unit.stored.readings import said

BEFORE, NOW = ("console", "0034_given_passwords"), ("console", "0035_reading_months")


@pytest.fixture
def _tables_may_change(db: None, tmp_path: Path) -> Iterator[None]:
    """SQLite cannot change tables within the transaction of a test: there it is done to a copy of the database."""
    tested = connections["default"]
    if tested.vendor != "sqlite":
        yield
        return
    copy = connections.create_connection("default")
    copy.settings_dict = {**copy.settings_dict, "NAME": tmp_path / "copy.sqlite3"}
    copy.ensure_connection()
    with closing(sqlite3.connect(tested.settings_dict["NAME"])) as beside:  # the test's own is about to write
        beside.backup(copy.connection)
    connections["default"] = copy
    yield
    copy.close()
    connections["default"] = tested


def moved_to(target: tuple[str, str]) -> Any:
    """The models of a release, its tables being there."""
    connection.check_constraints()  # PostgreSQL changes no table on which something is still to be checked
    return MigrationExecutor(connection).migrate([target]).apps


def a_disk(models: Any, serial: str) -> int:
    now = timezone.now()
    node, _ = models.get_model("console", "Node").objects.get_or_create(name="nas")
    disks = models.get_model("console", "StoredDisk").objects
    return int(disks.create(identity_key=serial, node=node, key=serial, first_seen_at=now, last_seen_at=now).pk)


@pytest.mark.usefixtures("_tables_may_change")
def test_every_reading_is_carried_over() -> None:
    models = moved_to(BEFORE)
    rows = models.get_model("console", "Reading").objects
    now = timezone.now().replace(microsecond=0)
    told = [said(int((now - timedelta(hours=6 * age)).timestamp())) for age in range(300, -1, -1)]
    disk, damaged, silent = (a_disk(models, serial) for serial in ("N1", "N2", "N3"))
    for reading in told:
        rows.create(disk_id=disk, taken_at=reading.taken_at, **dict(list(reading._asdict().items())[1:]))
    rows.create(disk_id=damaged, taken_at=now, indicators="x", counters=[5])

    moved_to(NOW)
    found = {pk: readings_of(StoredDisk.objects.only("pk").get(pk=pk)) for pk in (disk, damaged, silent)}
    assert found[disk] == told
    assert found[damaged] == [DiskReading(told[-1].at, indicators=[], counters=[5])]
    assert found[silent] == []
