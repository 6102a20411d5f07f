"""What a host's platforms say, and the users whom a platform knows."""

from typing import ClassVar

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("console", "0010_remote"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations: ClassVar = [
        migrations.AlterField(
            "channel",
            "kind",
            models.CharField(
                choices=[
                    ("mail", "E-mail"),
                    ("apprise", "Another service (Apprise)"),
                    ("platform", "The platform of a host"),
                ],
                default="mail",
                max_length=10,
                verbose_name="Kind",
            ),
        ),
        migrations.AddField("node", "platform_document", models.JSONField(null=True)),
        migrations.CreateModel(
            "PlatformAccount",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("platform", models.CharField(max_length=100)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="platform_account",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
    ]
