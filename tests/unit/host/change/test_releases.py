"""What is noted of the releases that were installed here, and which of them may come back."""

from pathlib import Path

import pytest

from nasadvisor.host.change import releases
from nasadvisor.host.change.releases import CannotGoBack, note_release, refuse_older, written_by


def test_a_release_says_of_the_database_how_many_migrations_it_has() -> None:
    migrations = Path("nasadvisor/console/migrations").glob("[0-9]*.py")
    assert written_by("1.0").forms["database"] == len(list(migrations)) > 0


def test_a_release_that_was_never_here_may_not_take_the_place_of_one_with_more_migrations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrations = tmp_path / "migrations"
    migrations.mkdir()
    for name in ("0001_initial.py", "0002_next.py"):
        (migrations / name).touch()
    monkeypatch.setattr(releases, "MIGRATIONS", migrations)
    note_release(tmp_path, "1.0")
    with pytest.raises(CannotGoBack, match="database"):
        refuse_older(tmp_path, "0.9")
    note_release(tmp_path, "0.9")
    refuse_older(tmp_path, "0.9")
