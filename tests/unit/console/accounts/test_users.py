"""User management."""

from django.contrib.auth.models import User
from django.test import Client

from nasadvisor.console.accounts.roles import UserRole, role_of, set_role

NEW = {"username": "olga", "password1": "a long pass phrase", "password2": "a long pass phrase", "role": "operator"}


def somebody() -> User:
    user = User.objects.create_user("viktor")
    set_role(user, UserRole.VIEWER)
    return user


def test_it_adds_a_user_with_a_role(admin: Client) -> None:
    admin.post("/settings/users/add/", NEW)
    assert role_of(User.objects.get(username="olga")) is UserRole.OPERATOR


def test_it_refuses_a_role_that_there_is_not(admin: Client) -> None:
    assert admin.post("/settings/users/add/", {**NEW, "role": "root"}).status_code == 200
    assert not User.objects.filter(username="olga").exists()


def test_it_changes_a_role(admin: Client) -> None:
    user = somebody()
    admin.post(f"/settings/users/{user.pk}/role/", {"role": "admin"})
    assert role_of(User.objects.get(pk=user.pk)) is UserRole.ADMIN
    admin.post(f"/settings/users/{user.pk}/role/", {"role": "viewer"})
    assert role_of(User.objects.get(pk=user.pk)) is UserRole.VIEWER


def test_it_locks_somebody_out_at_once_and_lets_them_in_again(admin: Client) -> None:
    user, browser = somebody(), Client()
    browser.force_login(user)
    admin.post(f"/settings/users/{user.pk}/active/")
    assert browser.get("/").status_code == 302
    admin.post(f"/settings/users/{user.pk}/active/")
    assert User.objects.get(pk=user.pk).is_active


def test_it_does_not_let_the_administrator_lose_the_role_or_the_access(admin: Client) -> None:
    me = User.objects.get(username="admin")
    admin.post(f"/settings/users/{me.pk}/active/")
    admin.post(f"/settings/users/{me.pk}/role/", {"role": "viewer"})
    me.refresh_from_db()
    assert me.is_active
    assert role_of(me) is UserRole.ADMIN


def test_it_sets_a_forgotten_password(admin: Client) -> None:
    user = somebody()
    new = {"new_password1": "staple of correct", "new_password2": "staple of correct"}
    admin.post(f"/settings/users/{user.pk}/password/", new)
    assert User.objects.get(pk=user.pk).check_password("staple of correct")


def test_it_lists_everybody(admin: Client) -> None:
    somebody()
    page = admin.get("/settings/users/").content.decode()
    assert "viktor" in page
    assert "Add a user" in page


def test_what_a_password_must_be_is_said_in_a_few_words(admin: Client) -> None:
    user = somebody()
    for path in ("/settings/users/add/", f"/settings/users/{user.pk}/password/", "/password/"):
        form = admin.get(path).content.decode().partition('<form class="narrow-form"')[2].partition("</form>")[0]
        assert "At least 12 characters." in form
        assert "<li>" not in form
        assert "for verification" not in form
