"""Who gets to see and do what."""

from uuid import uuid4

import pytest
from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver

from nasadvisor.console.passwords import PasswordForm, confirm_password
from nasadvisor.console.roles import UserRole, operator_required, set_role

PASSWORD = "correct horse battery"
OPEN_TO_ALL = {"login", "setup", "set_language"}
SAMPLES = {
    "name": "nas",
    "guid": "1",
    "pool_guid": "1",
    "key": "x",
    "user_id": 1,
    "token": "x",
    "plan_id": uuid4(),
    "run_id": uuid4(),
}


def all_patterns(resolver: URLResolver) -> list[URLPattern]:
    found: list[URLPattern] = []
    for each in resolver.url_patterns:
        found.extend(all_patterns(each) if isinstance(each, URLResolver) else [each])
    return found


def address_of(pattern: URLPattern) -> str:
    resolver = get_resolver()
    names = pattern.pattern.converters
    return "/" + str(resolver.reverse(str(pattern.name), **{name: SAMPLES[name] for name in names})).lstrip("/")


@pytest.mark.parametrize("pattern", all_patterns(get_resolver()), ids=lambda pattern: str(pattern.name))
@pytest.mark.parametrize("method", ["get", "post"])
def test_it_shows_anonymous_visitors_only_the_login(client: Client, pattern: URLPattern, method: str) -> None:
    response = getattr(client, method)(address_of(pattern))
    if pattern.name in OPEN_TO_ALL:
        assert response.status_code in (200, 204, 302, 404)
        assert "NAS Advisor" in response.content.decode() or not response.content
    else:
        assert response.status_code == 302
        assert response.headers["Location"].startswith("/login/")


@pytest.mark.parametrize("path", ["/settings/users/", "/settings/users/1/role/", "/settings/users/1/password/"])
@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_it_keeps_user_management_to_administrators(request: pytest.FixtureRequest, role: str, path: str) -> None:
    client: Client = request.getfixturevalue(role)
    assert client.post(path, {"role": "admin"}).status_code == 403
    assert User.objects.filter(is_superuser=True).count() == 0


def request_of(user: User) -> HttpRequest:
    request = RequestFactory().post("/")
    request.user = user
    return request


@operator_required
def guarded(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("changed")


@pytest.mark.parametrize("role", list(UserRole))
def test_it_lets_everybody_but_viewers_change_things(role: UserRole) -> None:
    user = User.objects.create_user("somebody")
    set_role(user, role)
    if role is UserRole.VIEWER:
        with pytest.raises(PermissionDenied):
            guarded(request_of(user))
    else:
        assert guarded(request_of(user)).content == b"changed"


def test_it_takes_somebody_without_a_group_for_a_viewer() -> None:
    with pytest.raises(PermissionDenied):
        guarded(request_of(User.objects.create_user("somebody")))


def test_it_takes_the_right_password_as_confirmation() -> None:
    request = request_of(User.objects.create_user("olga", password=PASSWORD))
    assert confirm_password(request, PasswordForm({"password": PASSWORD}))


@pytest.mark.parametrize("password", ["wrong", "", " " + PASSWORD])
def test_it_takes_no_other_password_as_confirmation(password: str) -> None:
    request = request_of(User.objects.create_user("olga", password=PASSWORD))
    form: forms.Form = PasswordForm({"password": password})
    assert not confirm_password(request, form)
    assert form.errors["password"]
