"""The groups behind the roles viewer and operator."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

NAMES = ("viewer", "operator")


def create_groups(apps: Apps, _: BaseDatabaseSchemaEditor) -> None:
    """Make the groups."""
    group = apps.get_model("auth", "Group")
    for name in NAMES:
        group.objects.get_or_create(name=name)


def delete_groups(apps: Apps, _: BaseDatabaseSchemaEditor) -> None:
    """Take them away again."""
    apps.get_model("auth", "Group").objects.filter(name__in=NAMES).delete()


class Migration(migrations.Migration):
    dependencies = [("console", "0001_initial"), ("auth", "0012_alter_user_first_name_max_length")]
    operations = [migrations.RunPython(create_groups, delete_groups)]
