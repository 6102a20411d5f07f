"""How far a measurement is."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("console", "0011_platforms")]
    operations: ClassVar = [
        migrations.AddField("storedmeasurement", "progress_document", models.JSONField(null=True)),
    ]
