from datetime import date
from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from nasadvisor.stored.packed_readings import DiskReading, pack_readings


def carry_over(apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
    """Every reading that there is, disk by disk: there may be millions."""
    database = editor.connection.alias
    readings = apps.get_model("console", "Reading").objects.using(database)
    months = apps.get_model("console", "ReadingMonth").objects.using(database)
    fields = (
        *("taken_at", "power_on_hours", "percent_used", "bytes_written", "temperature_c", "spare_percent"),
        *("media_errors", "role", "indicators", "counters"),
    )
    for disk in readings.order_by().values_list("disk", flat=True).distinct():
        by_month: dict[date, dict[int, DiskReading]] = {}
        rows = readings.filter(disk=disk).order_by("taken_at").values_list(*fields)
        for taken_at, *said, indicators, counters in rows:
            at = int(taken_at.timestamp())
            lists = (each if isinstance(each, list) else [] for each in (indicators, counters))
            by_month.setdefault(taken_at.date().replace(day=1), {})[at] = DiskReading(at, *said, *lists)
        months.bulk_create(
            [
                months.model(disk_id=disk, month=month, packed=pack_readings(found.values()))
                for month, found in by_month.items()
            ]
        )


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0034_given_passwords"),
    ]

    operations = [
        migrations.CreateModel(
            name="ReadingMonth",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("month", models.DateField()),
                ("packed", models.BinaryField()),
                ("is_thinned", models.BooleanField(default=False)),
                (
                    "disk",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reading_months",
                        to="console.storeddisk",
                    ),
                ),
            ],
            options={
                "ordering": ["month"],
                "constraints": [
                    models.UniqueConstraint(fields=("disk", "month"), name="one_pack_a_disk_and_month"),
                ],
            },
        ),
        migrations.RunPython(carry_over, migrations.RunPython.noop),
        migrations.DeleteModel(name="Reading"),
    ]
