"""Which programs wait."""

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("console", "0012_measure_progress")]
    operations: ClassVar = [
        migrations.CreateModel(
            name="StoredWaiting",
            fields=[
                (
                    "node",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="waiting",
                        serialize=False,
                        to="console.node",
                    ),
                ),
                ("asked_at", models.DateTimeField()),
                ("told_at", models.DateTimeField(null=True)),
                ("document", models.JSONField(null=True)),
                ("error_document", models.JSONField(null=True)),
            ],
        ),
    ]
