"""Every stored inventory has a version of its own, by which processes know whether they have decoded it already."""

from typing import ClassVar
from uuid import uuid4

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("console", "0003_error_documents")]
    operations: ClassVar = [
        migrations.AddField("node", "inventory_version", models.UUIDField(null=True, default=uuid4)),
        migrations.AlterField("node", "inventory_version", models.UUIDField(null=True)),
    ]
