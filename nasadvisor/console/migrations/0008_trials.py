"""Runs on trial: until when, when it ended, and what it showed."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("console", "0007_written_and_reports")]
    operations: ClassVar = [
        migrations.AddField("storedrun", "trial_until", models.DateTimeField(null=True)),
        migrations.AddField("storedrun", "trial_ended_at", models.DateTimeField(null=True)),
        migrations.AddField("storedrun", "trial_verdict_document", models.JSONField(null=True)),
        migrations.AlterField(
            "storedrun",
            "pending",
            models.CharField(
                blank=True,
                choices=[
                    ("", "nothing"),
                    ("apply", "apply"),
                    ("finish", "finish"),
                    ("undo", "undo"),
                    ("keep", "keep"),
                ],
                default="",
                max_length=10,
            ),
        ),
    ]
