"""The pages of tokens for other programs."""

from typing import ClassVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts import account_notices, audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.models import ApiToken, new_token
from nasadvisor.console.accounts.passwords import ask_again, confirmed_admin_required, is_confirmed_by
from nasadvisor.console.accounts.roles import admin_required, user_of


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new token."""

    class Meta:
        model = ApiToken
        fields: ClassVar = ["name", "may_acknowledge"]
        help_texts: ClassVar = {
            "name": gettext_lazy(
                "Name of the program that uses the token, such as Prometheus. A token can read everything but never "
                "change a pool."
            )
        }


@admin_required
def tokens(request: HttpRequest) -> HttpResponse:
    """All tokens."""
    return _tokens(request)


@admin_required
def add_token(request: HttpRequest) -> HttpResponse:
    """One more, which is shown this once."""
    form = TokenForm(request.POST if request.method == "POST" else None)
    if is_confirmed_by(request, ask_again(request, form)):
        shown = new_token()
        form.instance.digest = ApiToken.digest_of(shown)
        form.instance.created_by = user_of(request)
        form.save()
        account_notices.record(request, Act.TOKEN_MADE, user_of(request), form.instance.name)
        return _tokens(request, shown)
    return render(request, "health/api/add_token.html", {"form": form, "section": "settings"})


def _tokens(request: HttpRequest, shown: str = "") -> HttpResponse:
    context = {"tokens": ApiToken.objects.select_related("created_by"), "shown": shown, "section": "settings"}
    return render(request, "health/api/tokens.html", context)


@require_POST
@confirmed_admin_required
def delete_token(request: HttpRequest, pk: int) -> HttpResponse:
    """A token that is good no more. Whoever made it is told."""
    token = get_object_or_404(ApiToken, pk=pk)
    token.delete()
    if token.created_by:
        account_notices.record(request, Act.TOKEN_DELETED, token.created_by, token.name)
    else:
        audit.record(request, Act.TOKEN_DELETED, token.name)
    messages.success(request, _("%(name)s was deleted.") % {"name": token.name})
    return redirect("tokens")
