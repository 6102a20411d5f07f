from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0027_cache_curve"),
    ]

    operations = [
        migrations.AddField(
            model_name="storeddisk",
            name="leaf_guids",
            field=models.JSONField(blank=True, default=list),
        ),
    ]
