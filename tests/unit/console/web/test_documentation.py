"""The documentation is shown where the package brought it, and nothing beside it."""

from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from nasadvisor.console.web.documentation import START, address_of, address_of_guide


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "html"
    monkeypatch.setattr(settings, "DOCUMENTATION", place)
    (place / "explanation").mkdir(parents=True)
    for name in (START, "explanation/safety.html"):
        (place / name).write_text(f"<h1>{name}</h1>")
    (tmp_path / "secret").write_text("beside it")
    return tmp_path


def test_the_settings_lead_to_it(viewer: Client, installed: Path) -> None:
    assert 'href="/documentation/index.html"' in viewer.get("/settings/").content.decode()
    shown = viewer.get("/documentation/index.html")
    assert b"".join(shown).decode() == "<h1>index.html</h1>"
    assert shown.headers["Content-Type"] == "text/html"


def test_what_a_code_means_leads_to_the_page_that_goes_further(viewer: Client, installed: Path) -> None:
    assert 'href="/documentation/explanation/safety.html"' in viewer.get("/explain/too-small/").content.decode()


def test_where_it_is_not_installed_nothing_leads_to_it(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "DOCUMENTATION", Path("/nowhere"))
    assert address_of(START) == address_of_guide("docs/explanation/safety.md") == ""
    assert "/documentation/" not in viewer.get("/settings/").content.decode()
    assert "/documentation/" not in viewer.get("/explain/too-small/").content.decode()
    assert viewer.get("/documentation/index.html").status_code == 404


@pytest.mark.parametrize("name", ["../secret", "%2e%2e/secret", "explanation/../../secret"])
def test_no_name_leads_out_of_it(viewer: Client, installed: Path, name: str) -> None:
    assert viewer.get(f"/documentation/{name}").status_code in (400, 404)


def test_nobody_unauthenticated_reads_it(client: Client, installed: Path) -> None:
    assert client.get("/documentation/index.html").status_code == 302
