"""What an installation can set."""

import pytest

from nasadvisor import settings
from nasadvisor.runtime import environment


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


def test_how_many_is_a_whole_number_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NASADVISOR_RECEIVERS", raising=False)
    assert environment.count("NASADVISOR_RECEIVERS", 1, most=64) == 1
    monkeypatch.setenv("NASADVISOR_RECEIVERS", "64")
    assert environment.count("NASADVISOR_RECEIVERS", 1, most=64) == 64


@pytest.mark.parametrize("value", ["0", "65", "-1", "2.5", "two", "٣"])
def test_anything_else_is_refused_with_what_it_may_be(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("NASADVISOR_RECEIVERS", value)
    with pytest.raises(ValueError, match=r"NASADVISOR_RECEIVERS is .* Set it to a whole number from 1 to 64\."):
        environment.count("NASADVISOR_RECEIVERS", 1, most=64)
