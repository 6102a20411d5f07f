"""Who gets to see and do what."""

import pytest
from django import forms
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from nasadvisor.console.accounts.passwords import PasswordForm, confirm_password
from nasadvisor.console.accounts.roles import UserRole, operator_required, set_role

PASSWORD = "correct horse battery"


@pytest.mark.parametrize("path", ["/settings/users/", "/settings/users/1/role/", "/settings/users/1/password/"])
@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_it_keeps_user_management_to_administrators(request: pytest.FixtureRequest, role: str, path: str) -> None:
    client: Client = request.getfixturevalue(role)
    assert client.post(path, {"role": "admin"}).status_code == 403
    assert User.objects.filter(is_superuser=True).count() == 0


def request_of(user: User) -> HttpRequest:
    request = RequestFactory().post("/")
    request.user = user
    request.session = SessionStore()
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
    olga = User.objects.create_user("olga", password=PASSWORD)
    set_role(olga, UserRole.OPERATOR)
    assert confirm_password(request_of(olga), PasswordForm({"password": PASSWORD}))


def test_a_viewers_own_password_confirms_nothing() -> None:
    """Somebody whom their platform has made a viewer since the page was shown."""
    request = request_of(User.objects.create_user("olga", password=PASSWORD))
    form: forms.Form = PasswordForm({"password": PASSWORD})
    assert not confirm_password(request, form)
    assert form.errors["password"]


@pytest.mark.parametrize("password", ["wrong", "", " " + PASSWORD])
def test_it_takes_no_other_password_as_confirmation(password: str) -> None:
    request = request_of(User.objects.create_user("olga", password=PASSWORD))
    form: forms.Form = PasswordForm({"password": password})
    assert not confirm_password(request, form)
    assert form.errors["password"]
