"""Managing users; for administrators only."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.forms import BaseUserCreationForm, SetPasswordForm
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts import account_notices, audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.models import GivenPassword
from nasadvisor.console.accounts.password_rules import say_plainly
from nasadvisor.console.accounts.passwords import ask_again, confirmed_admin_required, is_confirmed_by
from nasadvisor.console.accounts.roles import UserRole, admin_required, role_of, set_role, user_of


class AddUserForm(BaseUserCreationForm):  # type: ignore[type-arg]
    """A new user with a role."""

    role = forms.ChoiceField(
        label=gettext_lazy("Role"),
        choices=UserRole.choices,
        initial=UserRole.VIEWER,
        help_text=gettext_lazy(
            "Viewers can see everything. Operators can also apply plans and undo runs. Administrators can also change "
            "these settings."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        say_plainly(self)


class RoleForm(forms.Form):
    """Another role for somebody."""

    role = forms.ChoiceField(choices=UserRole.choices)


@admin_required
def users(request: HttpRequest) -> HttpResponse:
    """Everybody."""
    found = User.objects.select_related("platform_account", "authenticator").prefetch_related("groups", "passkeys")
    everybody = [(user, role_of(user)) for user in found.order_by("username")]
    context = {"everybody": everybody, "roles": UserRole.choices, "section": "settings"}
    return render(request, "accounts/users.html", context)


@admin_required
def add(request: HttpRequest) -> HttpResponse:
    """One more."""
    form = AddUserForm(request.POST if request.method == "POST" else None)
    if is_confirmed_by(request, ask_again(request, form)):
        user = _with_given_password(form)
        set_role(user, UserRole(form.cleaned_data["role"]))
        audit.record(request, Act.USER_ADDED, f"{user.get_username()}: {form.cleaned_data['role']}")
        messages.success(request, _("%(user)s was added.") % {"user": user.get_username()})
        return redirect("users")
    return render(request, "accounts/add_user.html", {"form": form, "section": "settings"})


@require_POST
@confirmed_admin_required
def change_role(request: HttpRequest, user_id: int) -> HttpResponse:
    """Give somebody else another role."""
    user, form = _somebody_else(request, user_id), RoleForm(request.POST)
    if user and form.is_valid() and not hasattr(user, "platform_account"):
        set_role(user, UserRole(form.cleaned_data["role"]))
        account_notices.record(request, Act.ROLE_CHANGED, user, f"{user.get_username()}: {form.cleaned_data['role']}")
        messages.success(request, _("The role of %(user)s was changed.") % {"user": user.get_username()})
    return redirect("users")


@require_POST
@confirmed_admin_required
def toggle_active(request: HttpRequest, user_id: int) -> HttpResponse:
    """Lock somebody else out, or let them in again; a user is never deleted, since the history names them."""
    user = _somebody_else(request, user_id)
    if user:
        user.is_active = not user.is_active
        user.save(update_fields=["is_active"])
        act = Act.USER_LET_IN if user.is_active else Act.USER_LOCKED
        account_notices.record(request, act, user, user.get_username())
        text = _("%(user)s can sign in again.") if user.is_active else _("%(user)s can no longer sign in.")
        messages.success(request, text % {"user": user.get_username()})
    return redirect("users")


@admin_required
def reset_password(request: HttpRequest, user_id: int) -> HttpResponse:
    """A new password for somebody else who forgot theirs; for one's own the old one is asked for."""
    user = get_object_or_404(User, pk=user_id, platform_account=None)
    if user == user_of(request):
        return redirect("password_change")
    form = say_plainly(SetPasswordForm(user, request.POST if request.method == "POST" else None))
    if is_confirmed_by(request, ask_again(request, form)):
        _with_given_password(form)
        account_notices.record(request, Act.PASSWORD_RESET, user, user.get_username())
        messages.success(request, _("%(user)s has a new password.") % {"user": user.get_username()})
        return redirect("users")
    return render(request, "accounts/reset_password.html", {"form": form, "somebody": user, "section": "settings"})


@transaction.atomic
def _with_given_password(form: "AddUserForm | SetPasswordForm[User]") -> User:
    """The user with the password of the form, which is good for choosing one of their own."""
    user: User = form.save()
    GivenPassword.objects.get_or_create(user=user)
    return user


def _somebody_else(request: HttpRequest, user_id: int) -> User | None:
    """The user; None with a message if it is oneself, so that one administrator always remains."""
    user = get_object_or_404(User, pk=user_id)
    if user == user_of(request):
        messages.error(request, _("You cannot change your own role or lock yourself out. Ask another administrator."))
        return None
    return user
