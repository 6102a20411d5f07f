from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0024_drafts"),
    ]

    operations = [
        migrations.AddField(
            model_name="node",
            name="quotas_reached",
            field=models.JSONField(default=dict),
        ),
    ]
