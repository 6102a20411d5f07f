"""What an installation can set."""

import pytest

from nasadvisor import settings


def test_the_database_is_sqlite_in_the_folder_of_the_console_unless_a_url_names_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NASADVISOR_DATABASE_URL", raising=False)
    chosen = settings.database()
    assert chosen["ENGINE"] == "django.db.backends.sqlite3"
    assert chosen["NAME"] == settings.STATE_DIR / "console.sqlite3"


@pytest.mark.parametrize(
    ("url", "host"),
    [("postgresql://nas:s%40crt@db.example:5433/advisor", "db.example"), ("postgresql://nas@/advisor", "")],
)
def test_a_database_url_names_a_postgresql_database(monkeypatch: pytest.MonkeyPatch, url: str, host: str) -> None:
    monkeypatch.setenv("NASADVISOR_DATABASE_URL", url)
    chosen = settings.database()
    assert chosen["ENGINE"] == "django.db.backends.postgresql"
    assert (chosen["NAME"], chosen["USER"], chosen["HOST"]) == ("advisor", "nas", host)
    assert chosen["PASSWORD"] == ("s@crt" if host else "")
    assert chosen["CONN_HEALTH_CHECKS"] is True
