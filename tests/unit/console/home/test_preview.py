"""The pages on a recorded machine: marked as that on each, with how far the real one is."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client, override_settings

MARK = "<strong>Simulated.</strong>"


@pytest.fixture
def said(tmp_path: Path) -> Iterator[Path]:
    """Where the build says how far it is."""
    with override_settings(PREVIEW=str(tmp_path / "real.json")):
        yield tmp_path / "real.json"


@pytest.mark.parametrize("path", ["/", "/disks/", "/settings/", "/no-such-page/"])
def test_every_page_is_marked_as_simulated(admin: Client, said: Path, path: str) -> None:
    assert MARK in admin.get(path).content.decode()


@pytest.mark.parametrize("path", ["/login/", "/setup/nothing/", "/preview/"])
def test_so_are_those_of_nobody_in_particular(client: Client, said: Path, path: str) -> None:
    assert MARK in client.get(path).content.decode()


def test_without_a_preview_nothing_is_marked_and_there_is_no_notice(client: Client) -> None:
    assert MARK not in client.get("/login/").content.decode()
    assert client.get("/preview/").status_code == 404


def test_no_view_gives_a_page_another_thing_by_the_name_of_one_that_every_page_has() -> None:
    """What a view calls so hides what a context processor does: the review of a real pool was marked as simulated."""
    console = Path(__file__).parents[4] / "nasadvisor" / "console"
    everywhere = re.compile(r'"(?:frame|recorded)": |\b(?:frame|recorded)=')
    found = {file.name for file in console.rglob("*.py") if everywhere.search(file.read_text(encoding="utf-8"))}
    assert found == {"frame.py"}


def test_a_stage_is_said_with_what_is_left_and_looked_at_again(client: Client, said: Path) -> None:
    said.write_text(json.dumps({"stage": "Booting", "ends_at": time.time() + 300}))
    page = client.get("/login/").content.decode()
    assert "Booting" in page
    assert "about 5 minutes left" in " ".join(page.split())
    assert "hx-get" in client.get("/preview/").content.decode()


def test_the_page_leads_to_the_real_one_and_looks_no_more(client: Client, said: Path) -> None:
    said.write_text(json.dumps({"stage": "Waiting", "address": "http://127.0.0.1:4711"}))
    page = client.get("/preview/").content.decode()
    assert '<a href="http://127.0.0.1:4711">' in page
    assert "hx-get" not in page


def test_a_failure_is_said(client: Client, said: Path) -> None:
    said.write_text(json.dumps({"stage": "Booting", "problem": "no disk left"}))
    page = client.get("/preview/").content.decode()
    assert "could not be created" in page
    assert "hx-get" not in page


@pytest.mark.parametrize("content", ["", "[]", "null", '{"ends_at": "soon"}', '{"address": "javascript:alert(1)"}'])
def test_of_what_cannot_be_read_only_the_mark_is_left(client: Client, said: Path, content: str) -> None:
    said.write_text(content)
    page = client.get("/preview/").content.decode()
    assert MARK in page
    assert "<a " not in page
