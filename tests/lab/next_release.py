"""A made-up release after this one: this source tree with one more migration and another form of records."""

from collections.abc import Mapping
from typing import Final

from .paths import PROJECT

VERSION: Final = "99.0.0"
GROUP: Final = "next-release"
"""The group that its migration makes."""

_KINDS: Final = PROJECT / "nasadvisor/stored/kinds.py"
_MIGRATIONS: Final = PROJECT / "nasadvisor/console/migrations"
_MIGRATION: Final = '''"""Make one more group."""

from django.db import migrations

LAST = "{last}"


def create(apps, _):
    apps.get_model("auth", "Group").objects.create(name="{group}")


class Migration(migrations.Migration):
    dependencies = [("console", LAST)]
    operations = [migrations.RunPython(create)]
'''


def changed_files() -> Mapping[str, str]:
    """The files in which it differs, by their path in the source tree."""
    last = max(path.stem for path in _MIGRATIONS.glob("[0-9]*.py"))
    kinds, today = _KINDS.read_text(encoding="utf-8"), 'Kind("record", Record)'
    if today not in kinds:
        raise AssertionError(f"{_KINDS} does not name the kind as {today}: say here how the next release does.")
    return {
        str(_KINDS.relative_to(PROJECT)): kinds.replace(today, 'Kind("record", Record, (lambda document: document,))'),
        str((_MIGRATIONS / "9999_next.py").relative_to(PROJECT)): _MIGRATION.format(last=last, group=GROUP),
    }
