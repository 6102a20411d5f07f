"""Reasons are stored as documents, so that pages can say them in every language."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("console", "0002_groups")]
    operations: ClassVar = [
        migrations.RemoveField("node", "inventory_error"),
        migrations.AddField("node", "inventory_error_document", models.JSONField(null=True)),
        migrations.RemoveField("storedrun", "error"),
        migrations.AddField("storedrun", "error_document", models.JSONField(null=True)),
    ]
