"""The page on which administrators say to which MQTT broker Home Assistant listens."""

from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.passwords import ask_again, is_confirmed_by
from nasadvisor.console.accounts.roles import admin_required
from nasadvisor.console.health.alerts.channel_pages import KEPT
from nasadvisor.console.health.alerts.home_assistant import trial_messages
from nasadvisor.console.health.alerts.home_assistant_publisher import withdraw
from nasadvisor.console.health.alerts.models import HomeAssistantSettings
from nasadvisor.console.health.alerts.mqtt import publish
from nasadvisor.console.health.alerts.senders import NotSent
from nasadvisor.console.secrets import SecretUnreadable, encrypt

PLACE = {"host", "port"}
"""What says which broker it is."""


class HomeAssistantForm(forms.ModelForm):  # type: ignore[type-arg]
    """The broker, what it is told, and whether at all; its password is entered but never shown."""

    broker_password = forms.CharField(
        label=gettext_lazy("Password"),
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=KEPT,
    )

    class Meta:
        model = HomeAssistantSettings
        fields: ClassVar = [
            "is_enabled",
            "host",
            "port",
            "may_be_private",
            "has_tls",
            "checks_certificate",
            "user",
            "broker_password",
            "prefix",
            "language",
        ]
        widgets: ClassVar = {"host": forms.TextInput(attrs={"placeholder": "homeassistant.example"})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance.host:
            self.initial["language"] = get_language()

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is another broker than before."""
        return bool(PLACE & set(self.changed_data))

    def clean(self) -> dict[str, Any]:
        """A stored password goes to no other broker: whoever could name one would read it there."""
        cleaned = super().clean() or self.cleaned_data
        if self.instance.secret and self.is_elsewhere and cleaned.get("user") and not cleaned.get("broker_password"):
            self.add_error("broker_password", _("Enter the password again, because the broker is another one."))
        return cleaned

    def proposed(self) -> HomeAssistantSettings:
        """The settings as they would be saved.

        Raises:
            SecretUnreadable: there is no key to encrypt the password with.
        """
        settings: HomeAssistantSettings = self.instance
        if self.cleaned_data["broker_password"]:
            settings.secret = encrypt(self.cleaned_data["broker_password"])
        if not settings.user:
            settings.secret = ""
        settings.due_at, settings.failures, settings.last_error = timezone.now(), 0, ""
        return settings


@admin_required
def home_assistant(request: HttpRequest) -> HttpResponse:
    """Save the broker once a test of it was accepted, or untested where somebody asks for that."""
    former = HomeAssistantSettings.load()
    form = HomeAssistantForm(request.POST if request.method == "POST" else None, instance=HomeAssistantSettings.load())
    if is_confirmed_by(request, ask_again(request, form)):
        try:
            settings = form.proposed()
            if settings.is_enabled and "without_test" not in request.POST:
                publish(settings, trial_messages(settings.prefix))
        except NotSent as error:
            said = _("Nothing was saved because the test message could not be delivered. %(reason)s")
            form.add_error(None, said % {"reason": str(error)})
        except SecretUnreadable as error:
            form.add_error(None, str(error))
        else:
            settings.published = HomeAssistantSettings.load().published  # the worker may have published meanwhile
            if form.is_elsewhere:
                _leave(request, former)
                settings.published, settings.last_sent_at, settings.all_sent_at = {}, None, None
            settings.save()
            audit.record(request, Act.HOME_ASSISTANT_CHANGED, str(settings))
            messages.success(request, _("Saved. Home Assistant is updated within a minute."))
            return redirect("channels")
    context = {"form": form, "title": _("Home Assistant (MQTT)"), "section": "settings"}
    return render(request, "health/alerts/home_assistant.html", context)


def _leave(request: HttpRequest, former: HomeAssistantSettings) -> None:
    """Nothing of ours is to stay at a broker that is left."""
    try:
        withdraw(former)
    except (NotSent, SecretUnreadable) as error:
        said = _("The devices at the former broker could not be removed. Remove them in Home Assistant. %(reason)s")
        messages.warning(request, said % {"reason": str(error)})
