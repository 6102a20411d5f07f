"""What no browser of a person sends is refused before anything looks at it, on every database."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern
from django.urls.exceptions import NoReverseMatch

from tests.unit.console.accounts.test_matrix import PATTERNS, SAMPLES, address_of
from tests.unit.console.conftest import PASSWORD

NUL = "a\x00b"
LONG = "x" * 300


def hostile_paths() -> list[str]:
    """Every address that holds text, with a NUL in it."""
    found = []
    for name, pattern in PATTERNS:
        texts = [each for each in pattern.pattern.converters if isinstance(SAMPLES[each], str)]
        try:
            path = address_of(name, pattern) if texts else ""
        except NoReverseMatch:
            continue
        if path:
            found.append(path.rstrip("/") + "%00/")
    return found


@pytest.mark.parametrize("path", hostile_paths())
def test_an_address_with_nul_is_refused(operator: Client, path: str) -> None:
    assert operator.get(path).status_code == 400
    assert Client().get(path).status_code == 400


@pytest.mark.parametrize(("name", "pattern"), PATTERNS, ids=lambda each: each if isinstance(each, str) else "")
def test_a_field_with_nul_is_refused(admin: Client, name: str, pattern: URLPattern) -> None:
    path = address_of(name, pattern)
    assert admin.get(path, {"state": NUL}).status_code == 400
    assert admin.post(path, {"name": NUL}).status_code == 400
    assert admin.post(path, {NUL: "x"}).status_code == 400


def test_a_cookie_with_nul_is_no_cookie(client: Client) -> None:
    client.cookies["nasadvisor_session"] = NUL
    assert client.get("/login/").status_code == 200
    assert client.get("/").status_code == 302


def test_nobody_who_signs_in_has_a_name_of_300_characters(client: Client) -> None:
    assert client.post("/login/", {"username": LONG, "password": "x"}).status_code == 400
    assert client.post("/login/", {"username": NUL, "password": "x"}).status_code == 400


def test_no_field_of_a_form_breaks_with_300_characters(admin: Client) -> None:
    somebody = User.objects.create_user("somebody", password=PASSWORD)
    fields = dict.fromkeys(("username", "name", "role", "kind", "address", "mail_host", "node", "password1"), LONG)
    for name, pattern in PATTERNS:
        path = address_of(name, pattern).replace("/1/", f"/{somebody.pk}/")
        assert admin.post(path, fields).status_code < 500, name
        assert admin.get(path, fields).status_code < 500, name
