"""Who may do what. Viewers look, operators change pools, administrators also manage users.

Operators and viewers are Django groups; administrators are superusers.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

View = Callable[..., HttpResponse]


class UserRole(models.TextChoices):
    """What somebody may do; the values of the first two are names of groups."""

    VIEWER = "viewer", gettext_lazy("Viewer")
    OPERATOR = "operator", gettext_lazy("Operator")
    ADMIN = "admin", gettext_lazy("Administrator")


def role_of(user: User) -> UserRole:
    """The role of somebody who is signed in; without any group, that of a viewer."""
    if user.is_superuser:
        return UserRole.ADMIN
    return UserRole.OPERATOR if user.groups.filter(name=UserRole.OPERATOR).exists() else UserRole.VIEWER


def set_role(user: User, role: UserRole) -> None:
    """Give somebody exactly this role."""
    user.is_superuser = role is UserRole.ADMIN
    user.save(update_fields=["is_superuser"])
    user.groups.set(Group.objects.filter(name=role))


def may_change(user: User) -> bool:
    """Whether somebody may apply, finish and undo."""
    return role_of(user) is not UserRole.VIEWER


def user_of(request: HttpRequest) -> User:
    """Who is signed in.

    Raises:
        PermissionDenied: nobody is.
    """
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def operator_required(view: View) -> View:
    """Only operators and administrators get to this view."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not may_change(user_of(request)):
            raise PermissionDenied(_("You have read-only access. Ask an operator to make this change."))
        return view(request, *args, **kwargs)

    return guarded


def admin_required(view: View) -> View:
    """Only administrators get to this view."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if role_of(user_of(request)) is not UserRole.ADMIN:
            raise PermissionDenied(_("Only administrators can manage users."))
        return view(request, *args, **kwargs)

    return guarded
