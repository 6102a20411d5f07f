"""Signing in, the first administrator, and changing one's password."""

import hashlib
import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm, BaseUserCreationForm, PasswordChangeForm
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.messages.views import SuccessMessageMixin
from django.core.exceptions import BadRequest, ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from nasadvisor.console.accounts import account_notices, audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.lock_out import LockOutSubject, MustWait, authenticate_counted, forgive
from nasadvisor.console.accounts.models import GivenPassword, Guessed, SetupToken
from nasadvisor.console.accounts.password_rules import say_plainly
from nasadvisor.console.accounts.passwords import refuse_wrong_factor, wrong_password
from nasadvisor.console.accounts.required_setup import has_given_password
from nasadvisor.console.accounts.roles import UserRole, set_role, user_of
from nasadvisor.console.accounts.second_factor.factors import has_factor
from nasadvisor.console.accounts.second_factor.second_factor_form import Purpose, ask_for_factor
from nasadvisor.console.accounts.second_factor.second_step import begin_second_step, must_wait
from nasadvisor.console.accounts.single_sign_on import IN_SESSION, offer

ACTIVE: Final = "active"
"""When somebody did something last in this session, in seconds since 1970."""

ENDED_AFTER: Final = "ended_after_minutes"
"""In the session of a stranger who was somebody until then: after how many minutes of nothing that ended."""

WRITTEN_EVERY_S: Final = 60
"""Not each request is written down."""


class Idle:
    """Middleware: signs out who did nothing for too long, before it is asked whether somebody is signed in.

    A session that hangs on a platform ends with the platform's own, and would be back at the next request.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if isinstance(request.user, User) and IN_SESSION not in request.session:
            anybody, administrators = settings.IDLE_FOR
            allowed: timedelta = administrators if request.user.is_superuser else anybody
            now, last = timezone.now().timestamp(), request.session.get(ACTIVE)
            is_somebody = request.method != "GET" or "HX-Request" not in request.headers
            if last is not None and now - last >= allowed.total_seconds():
                audit.record(request, Act.SESSION_IDLE)
                request.session.flush()
                request.user = AnonymousUser()
                request.session[ENDED_AFTER] = allowed // timedelta(minutes=1)
            elif last is None or (is_somebody and abs(now - last) >= WRITTEN_EVERY_S):
                request.session[ACTIVE] = now
        return self.get_response(request)


TOKEN_VALID_FOR = timedelta(hours=24)

LONGEST_NAME: Final = 150
"""`django.contrib.auth.models.AbstractUser.username`."""


class SignInForm(AuthenticationForm):
    """Name and password. A name that nobody can have is not looked up, and not counted either."""

    def clean_username(self) -> str:
        """The name, if it is no longer than names are; Django's own form leaves that to browsers."""
        name = str(self.cleaned_data["username"])
        if len(name) > LONGEST_NAME:
            raise BadRequest
        return name

    def clean(self) -> dict[str, Any]:
        """What was typed, if it is right. Django's own form asks `authenticate`, which does not count.

        Raises:
            MustWait: too many wrong passwords were typed for this name, or from this network.
        """
        name, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if self.request is not None and name and password:
            self.user_cache = authenticate_counted(self.request, name, password=password)
            if self.user_cache is None:
                raise self.get_invalid_login_error()
            self.confirm_login_allowed(self.user_cache)
        return self.cleaned_data


class SignIn(auth.LoginView):
    """The login; says how to make the first administrator while there is none."""

    authentication_form = SignInForm
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Sign in, or say that it has to wait."""
        try:
            return super().post(request, *args, **kwargs)
        except MustWait:
            return must_wait(request)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Sign in, or go on to the second step where there is one."""
        user = form.get_user()
        if not has_factor(user):
            forgive(LockOutSubject(Guessed.NAME, user.get_username()))
            return super().form_valid(form)
        begin_second_step(self.request, user, self.get_success_url())
        return redirect("login-code")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(
            needs_setup=not admin_exists(),
            manage=settings.MANAGE_COMMAND,
            offer=offer(self.request),
            ended_after=self.request.session.pop(ENDED_AFTER, None),
            **kwargs,
        )


class OwnPasswordForm(PasswordChangeForm):
    """A new password for oneself. Who has a second factor is asked for that as well.

    Guesses at the old password and at codes are counted as where they are asked for before a change.
    """

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        say_plainly(self)
        self.request = request
        user = user_of(request)
        if has_factor(user):
            ask_for_factor(self, request, user, Purpose.CONFIRM, "code")

    def clean(self) -> dict[str, Any]:
        """What was typed. A second factor is looked at last: it works once."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if "old_password" in cleaned and cleaned["old_password"] == cleaned.get("new_password1"):
            self.add_error("new_password1", _("This is your current password. Choose another one."))
        if "code" in self.fields and not self.errors:
            refuse_wrong_factor(self.request, self, "code")
        return cleaned

    def clean_old_password(self) -> str:
        """The old password, if it is that."""
        old = str(self.cleaned_data["old_password"])
        wrong = wrong_password(self.request, old)
        if wrong:
            raise ValidationError(wrong)
        return old


class ChangePassword(SuccessMessageMixin, auth.PasswordChangeView):  # type: ignore[type-arg]
    """A new password for oneself."""

    form_class = OwnPasswordForm
    template_name = "registration/password_change.html"
    success_url = reverse_lazy("account")
    success_message = gettext_lazy("Your password was changed.")

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "request": self.request}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(is_given=has_given_password(self.request), section="account", **kwargs)

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        """Save it, and write that down."""
        with transaction.atomic():
            done = super().form_valid(form)
            GivenPassword.objects.filter(user=user_of(self.request)).delete()
        account_notices.record(self.request, Act.PASSWORD_CHANGED, user_of(self.request))
        return done


def admin_exists() -> bool:
    """Whether an administrator can sign in."""
    return User.objects.filter(is_superuser=True, is_active=True).exists()


def new_setup_token() -> str:
    """A fresh token for the first administrator; those made before stop working."""
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        SetupToken.objects.all().delete()
        SetupToken.objects.create(digest=_digest(token), expires_at=timezone.now() + TOKEN_VALID_FOR)
    return token


@login_not_required
def setup(request: HttpRequest, token: str) -> HttpResponse:
    """Make the first administrator and sign in."""
    stored = SetupToken.objects.filter(digest=_digest(token)).first()
    if stored is None or not stored.is_valid(timezone.now()) or admin_exists():
        return render(request, "registration/setup_invalid.html", {"manage": settings.MANAGE_COMMAND}, status=404)
    form: BaseUserCreationForm[User] = BaseUserCreationForm(request.POST if request.method == "POST" else None)
    say_plainly(form)
    if form.is_valid():
        user = _create_first_admin(form, token)
        if user is None:
            return redirect("login")
        login(request, user, backend="django.contrib.auth.backends.ModelBackend")
        audit.record(request, Act.SET_UP)
        messages.success(request, _("Welcome. You are the administrator."))
        return redirect("overview")
    return render(request, "registration/setup.html", {"form": form})


@transaction.atomic
def _create_first_admin(form: "BaseUserCreationForm[User]", token: str) -> User | None:
    """The user; None if somebody else used the token in the meantime."""
    used, _details = SetupToken.objects.filter(digest=_digest(token)).delete()
    if not used or admin_exists():
        return None
    user: User = form.save()
    set_role(user, UserRole.ADMIN)
    return user


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
