"""Where alerts go: channels, the mail server, quiet hours. For administrators only, since they hold secrets."""

from collections.abc import Iterator
from typing import Any, ClassVar, Final
from uuid import uuid4

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.passwords import ask_again, confirmed_admin_required, is_confirmed_by
from nasadvisor.console.accounts.roles import admin_required
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import Channel, ChannelKind, HomeAssistantSettings, WatchSettings
from nasadvisor.console.health.alerts.senders import (
    NotSent,
    is_answered_later,
    is_apprise_address,
    recipients_in,
    send,
    trial_message,
)
from nasadvisor.console.health.alerts.services import NoServiceAddress, service_address
from nasadvisor.console.health.alerts.ssrf_guard import fault_in
from nasadvisor.console.secrets import SecretUnreadable, encrypt

KEPT = gettext_lazy("Stored encrypted and never shown again. Leave empty to keep the stored value.")

HEADINGS: Final[dict[str, str | Promise]] = {
    "mail_host": gettext_lazy("E-mail"),
    "quiet_begin": gettext_lazy("Times"),
    "console_address": gettext_lazy("Links in messages"),
}
"""What stands above these fields of `DeliveryForm`, each the first of several."""


class ChannelForm(forms.ModelForm):  # type: ignore[type-arg]
    """A channel; where it leads to is entered but never shown."""

    address = forms.CharField(
        label=gettext_lazy("Addresses"),
        widget=forms.Textarea(attrs={"rows": 2, "autocomplete": "off", "spellcheck": "false"}),
        required=False,
    )

    class Meta:
        model = Channel
        fields: ClassVar = [
            "name",
            "kind",
            "address",
            "level",
            "timing",
            "language",
            "is_on_call",
            "gets_reports",
            "may_be_private",
            "is_enabled",
        ]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["address"].help_text = KEPT if self.instance.secret else _where_to()
        if self.instance.pk is None:
            self.initial["language"] = get_language()

    @property
    def is_testable(self) -> bool:
        """Whether a test goes out before it is saved; the template asks."""
        return True

    @property
    def leads_elsewhere(self) -> bool:
        """Whether what was proven before says nothing about where messages would go now."""
        return bool(not self.instance.pk or {"address", "kind", "may_be_private"} & set(self.changed_data))

    def clean(self) -> dict[str, Any]:
        """Check that the address is one of its kind, and that there is a way to send to it."""
        cleaned = super().clean() or self.cleaned_data
        address = str(cleaned.get("address", "")).strip()
        has_changed_kind = "kind" in self.changed_data and self.instance.pk
        if not address and (not self.instance.secret or has_changed_kind):
            self.add_error("address", _("Enter a destination for the messages."))
        elif address:
            for fault in _faults_of(str(cleaned.get("kind", "")), address, bool(cleaned.get("may_be_private"))):
                self.add_error("address", fault)
        if cleaned.get("kind") == ChannelKind.MAIL and not WatchSettings.load().mail_host:
            self.add_error("kind", _no_mail_server())
        return cleaned

    def proposed(self) -> Channel:
        """The channel as it would be saved.

        Raises:
            SecretUnreadable: there is no key to encrypt the address with.
        """
        address = str(self.cleaned_data.get("address", "")).strip()
        if address:
            self.instance.secret = encrypt(address)
        channel: Channel = self.instance
        return channel

    def save(self, commit: bool = True) -> Channel:
        """Store it, the address encrypted.

        Raises:
            SecretUnreadable: there is no key to encrypt it with.
        """
        self.proposed()
        channel: Channel = super().save(commit)
        return channel


class DeliveryForm(forms.ModelForm):  # type: ignore[type-arg]
    """The mail server and when to be quiet."""

    mail_password = forms.CharField(
        label=gettext_lazy("Password"),
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=KEPT,
    )

    console_address = forms.URLField(
        label=gettext_lazy("Address of this console"),
        required=False,
        assume_scheme="https",
        widget=forms.URLInput(attrs={"placeholder": "https://nas.example:8843"}),
    )

    class Meta:
        model = WatchSettings
        fields: ClassVar = [
            "mail_host",
            "mail_port",
            "mail_security",
            "mail_user",
            "mail_password",
            "mail_sender",
            "quiet_begin",
            "quiet_end",
            "digest_at",
            "escalate_after_hours",
            "console_address",
        ]
        widgets: ClassVar = {
            "quiet_begin": forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
            "quiet_end": forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
            "digest_at": forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        }
        labels: ClassVar = {"escalate_after_hours": gettext_lazy("Repeat unacknowledged critical alerts after (hours)")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, heading in HEADINGS.items():
            setattr(self.fields[name], "heading", heading)  # noqa: B010 - Django's fields have none; _fields.html shows it

    def save(self, commit: bool = True) -> WatchSettings:
        """Store it, the password encrypted.

        Raises:
            SecretUnreadable: there is no key to encrypt it with.
        """
        if self.cleaned_data["mail_password"]:
            self.instance.mail_secret = encrypt(self.cleaned_data["mail_password"])
        options: WatchSettings = super().save(commit)
        return options


@admin_required
def channels(request: HttpRequest) -> HttpResponse:
    """All channels, and how messages are sent."""
    context = {
        "channels": Channel.objects.all(),
        "options": WatchSettings.load(),
        "home_assistant": HomeAssistantSettings.load(),
        "section": "settings",
    }
    return render(request, "health/alerts/channels.html", context)


@admin_required
def add(request: HttpRequest) -> HttpResponse:
    """A new channel."""
    return _channel(request, ChannelForm(request.POST if request.method == "POST" else None), _("Add a channel"))


@admin_required
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Another setting for a channel."""
    channel = get_object_or_404(Channel, pk=pk)
    form = ChannelForm(request.POST if request.method == "POST" else None, instance=channel)
    return _channel(request, form, channel.name)


@admin_required
def delivery(request: HttpRequest) -> HttpResponse:
    """The mail server, quiet hours, escalation."""
    form = DeliveryForm(request.POST if request.method == "POST" else None, instance=WatchSettings.load())
    if is_confirmed_by(request, ask_again(request, form)):
        try:
            form.save()
        except SecretUnreadable as error:
            form.add_error(None, str(error))
        else:
            audit.record(request, Act.DELIVERY_CHANGED)
            return redirect("channels")
    context = {"form": form, "title": _("Delivery settings"), "section": "settings"}
    return render(request, "health/alerts/channel.html", context)


@require_POST
@confirmed_admin_required
def test(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a test, now and whatever the hour."""
    channel = get_object_or_404(Channel, pk=pk)
    try:
        _prove(channel)
    except (NotSent, SecretUnreadable) as error:
        messages.error(request, str(error))
    else:
        proven = {"last_sent_at": channel.last_sent_at, "last_error": channel.last_error}
        Channel.objects.filter(pk=pk).update(is_untested=False, **proven)
        messages.success(request, _said_of_test(channel) % {"name": channel.name})
    return redirect("channels")


def _prove(channel: Channel) -> None:
    """Send a test and note on the channel, which is not saved, that it was accepted, as far as that is known by now.

    Raises:
        NotSent: it was not accepted.
        SecretUnreadable: where to send it to cannot be decrypted.
    """
    send(channel, trial_message(channel), f"<test-{uuid4().hex}@nasadvisor>")
    if not is_answered_later(channel):
        channel.last_sent_at, channel.last_error = timezone.now(), ""


def _said_of_test(channel: Channel) -> str:
    if is_answered_later(channel):
        return _("The test through %(name)s was handed to the host. The result appears below once the host reports it.")
    return _("A test was sent through %(name)s.")


@require_POST
@confirmed_admin_required
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Drop a channel with what it had still to send."""
    channel = get_object_or_404(Channel, pk=pk)
    channel.delete()
    audit.record(request, Act.CHANNEL_DELETED, channel.name)
    messages.success(request, _("%(name)s was deleted.") % {"name": channel.name})
    return redirect("channels")


def _channel(request: HttpRequest, form: ChannelForm, title: str) -> HttpResponse:
    """Save a channel once a test of it was accepted, or untested where somebody asks for that."""
    if is_confirmed_by(request, ask_again(request, form)):
        try:
            channel = form.proposed()
            if form.leads_elsewhere:
                channel.last_sent_at = None
            channel.is_untested = "without_test" in request.POST
            if not channel.is_untested:
                _prove(channel)
            form.save()
        except NotSent as error:
            said = _("Nothing was saved because the test message could not be delivered. %(reason)s") % {
                "reason": str(error)
            }
            form.add_error(None, said)
        except SecretUnreadable as error:
            form.add_error(None, str(error))
        else:
            audit.record(request, Act.CHANNEL_SAVED, channel.name)
            said = _("%(name)s was saved without a test.") if channel.is_untested else _said_of_test(channel)
            messages.success(request, said % {"name": channel.name})
            return redirect("channels")
    return render(request, "health/alerts/channel.html", {"form": form, "title": title, "section": "settings"})


def _where_to() -> SafeString:
    """What an address is; the page shows that of the kind that is chosen."""
    mail = _("One or more e-mail addresses.")
    words = {
        ChannelKind.MAIL: mail if WatchSettings.load().mail_host else format_html("{} {}", mail, _no_mail_server()),
        ChannelKind.NTFY: _(
            "The address of the topic, such as https://ntfy.sh/my-topic. If it needs an access token, add it after a "
            "space."
        ),
        ChannelKind.GOTIFY: _(
            "The address of the server and the token of an application there, separated by a space: "
            "https://gotify.example A1b2c3"
        ),
        ChannelKind.WEBHOOK: _(
            "An https address that accepts JSON by POST. If it needs a bearer token, add it after a space."
        ),
        ChannelKind.APPRISE: _("One address, such as tgram://… or matrixs://…"),
        ChannelKind.PLATFORM: _(
            "The host name, followed by e-mail addresses for messages whose delivery its platform does not confirm."
        ),
    }
    return format_html_join(" ", '<span class="of-{}">{}</span>', ((kind.value, said) for kind, said in words.items()))


def _no_mail_server() -> SafeString:
    return format_html(
        '{} <a href="{}">{}</a>',
        _("No mail server is set, so no e-mail can be sent."),
        reverse("alert-delivery"),
        _("Set up the mail server"),
    )


def _faults_of(kind: str, address: str, may_be_private: bool) -> Iterator[str]:
    """What is wrong with where a channel of this kind is to lead."""
    mail = recipients_in(address) if kind in (ChannelKind.MAIL, ChannelKind.PLATFORM) else []
    if kind == ChannelKind.PLATFORM:
        host, *mail = mail or [""]
        if not Node.objects.filter(name=host).exists():
            yield _("There is no host named %(host)s.") % {"host": host}
    elif kind != ChannelKind.MAIL:
        yield from _faults_of_service(kind, address, may_be_private)
    try:
        for each in mail:
            validate_email(each)
    except ValidationError:
        yield _("At least one of these is not an e-mail address.")


def _faults_of_service(kind: str, typed: str, may_be_private: bool) -> Iterator[str]:
    try:
        address = service_address(kind, typed)
    except NoServiceAddress as error:
        yield str(error)
        return
    if not is_apprise_address(address):
        yield _("Apprise does not support this kind of address.")
    if fault := fault_in(address, may_be_private=may_be_private):
        yield fault
