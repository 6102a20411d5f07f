"""Alerts, what there is to tell of them, to whom, and whether it was told: the outbox; and reports that go out.

An event and its deliveries are written in the same transaction as the alert's step, so nothing is told that was not
stored, and nothing stored is forgotten while a mail server or Redis is down.
"""

from datetime import datetime
from functools import cached_property
from typing import ClassVar

from django.core.validators import MaxValueValidator, RegexValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from nasadvisor.domain.health import alerts
from nasadvisor.domain.health.alerts import AlertKey, AlertState, EventKind
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.stored.documents import document_or_none


class AlertStates(models.TextChoices):
    """`alerts.AlertState`."""

    NEW = AlertState.NEW.value, _("new")
    ACKNOWLEDGED = AlertState.ACKNOWLEDGED.value, _("acknowledged")
    RECOVERED = AlertState.RECOVERED.value, _("resolved")


class Levels(models.TextChoices):
    """`statements.Level`."""

    INFO = Level.INFO.value, _("Note")
    WARNING = Level.WARNING.value, _("Warning")
    CRITICAL = Level.CRITICAL.value, _("Critical")


class StoredAlert(models.Model):
    """One episode of an alert: `alerts.Alert`, the finding as last seen, and who took it up."""

    node = models.ForeignKey("console.Node", on_delete=models.CASCADE, related_name="alerts")
    source = models.CharField(max_length=300)
    code = models.CharField(max_length=60)
    subject = models.CharField(max_length=300, blank=True)
    state = models.CharField(max_length=12, choices=AlertStates, default=AlertStates.NEW)
    level = models.CharField(max_length=10, choices=Levels)
    measure = models.BigIntegerField(default=0)
    began_at = models.DateTimeField(db_index=True)
    told_at = models.DateTimeField()
    told_level = models.CharField(max_length=10, choices=Levels)
    told_measure = models.BigIntegerField(default=0)
    away_since = models.DateTimeField(null=True)
    is_escalated = models.BooleanField(default=False)
    finding_document = models.JSONField()
    acknowledged_by = models.CharField(max_length=253, default="", blank=True)
    acknowledged_at = models.DateTimeField(null=True)
    snoozed_until = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-began_at"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["source", "code", "subject"],
                condition=~models.Q(state=AlertStates.RECOVERED),
                name="one_open_alert_a_finding",
            )
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.subject}"

    @cached_property
    def finding(self) -> Finding | None:
        """The finding as last seen."""
        return document_or_none(Finding, self.finding_document)

    @property
    def alert_key(self) -> AlertKey:
        """What it is about."""
        return AlertKey(self.source, self.code, self.subject)

    def as_alert(self) -> alerts.Alert:
        """The alert in the domain's terms."""
        return alerts.Alert(
            key=self.alert_key,
            state=AlertState(self.state),
            level=Level(self.level),
            measure=self.measure,
            began_at=self.began_at,
            told_at=self.told_at,
            told_level=Level(self.told_level),
            told_measure=self.told_measure,
            away_since=self.away_since,
            is_escalated=self.is_escalated,
            snoozed_until=self.snoozed_until,
        )

    def take(self, alert: alerts.Alert) -> None:
        """Take over what the state machine made of it; not saved yet."""
        self.state = alert.state.value
        self.level, self.measure = alert.level.value, alert.measure
        self.told_at, self.told_level, self.told_measure = alert.told_at, alert.told_level.value, alert.told_measure
        self.away_since, self.is_escalated = alert.away_since, alert.is_escalated
        self.snoozed_until = alert.snoozed_until
        if alert.state is AlertState.NEW:
            self.acknowledged_by, self.acknowledged_at = "", None


class EventKinds(models.TextChoices):
    """`alerts.EventKind`."""

    NEW = EventKind.NEW.value, _("new")
    WORSE = EventKind.WORSE.value, _("worse")
    AGAIN = EventKind.AGAIN.value, _("still there")
    ESCALATED = EventKind.ESCALATED.value, _("not acknowledged")
    RECOVERED = EventKind.RECOVERED.value, _("resolved")


class AlertEvent(models.Model):
    """Something to tell about an alert, with the finding as it was then."""

    alert = models.ForeignKey(StoredAlert, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=10, choices=EventKinds)
    level = models.CharField(max_length=10, choices=Levels)
    at = models.DateTimeField(db_index=True)
    finding_document = models.JSONField()

    class Meta:
        ordering: ClassVar = ["at"]

    def __str__(self) -> str:
        return f"{self.kind} {self.alert_id}"

    @cached_property
    def finding(self) -> Finding | None:
        """The finding as it was."""
        return document_or_none(Finding, self.finding_document)


class ChannelKind(models.TextChoices):
    """By what means a channel tells."""

    MAIL = "mail", _("E-mail")
    NTFY = "ntfy", "ntfy"
    GOTIFY = "gotify", "Gotify"
    WEBHOOK = "webhook", _("Webhook (JSON)")
    APPRISE = "apprise", _("Other service (Apprise)")
    PLATFORM = "platform", _("Host platform")


class Timing(models.TextChoices):
    """When a channel tells."""

    AT_ONCE = "at-once", _("Immediately")
    DIGEST = "digest", _("Once a day")


class Channel(models.Model):
    """Somewhere to tell alerts. `secret` is, encrypted, the list of addresses or the address of a service as typed.

    `last_sent_at` is when a message, a test too, was last accepted by whoever delivers it: before that nobody knows
    whether the channel leads anywhere. `is_untested` is whether an administrator saved it without a test on purpose.
    """

    name = models.CharField(_("Name"), max_length=80, unique=True)
    kind = models.CharField(_("Kind"), max_length=10, choices=ChannelKind, default=ChannelKind.MAIL)
    secret = models.TextField()
    level = models.CharField(_("Minimum level"), max_length=10, choices=Levels, default=Levels.WARNING)
    timing = models.CharField(_("When"), max_length=10, choices=Timing, default=Timing.AT_ONCE)
    is_on_call = models.BooleanField(_("Repeat unacknowledged critical alerts"), default=True)
    gets_reports = models.BooleanField(_("Send the monthly report"), default=False)
    language = models.CharField(
        _("Language"), max_length=5, choices=[("en", _("English")), ("de", _("German"))], default="en"
    )
    is_enabled = models.BooleanField(_("Enabled"), default=True)
    may_be_private = models.BooleanField(
        _("Allow addresses on the console's own network"),
        default=False,
        help_text=_("For a service that you host yourself."),
    )
    is_untested = models.BooleanField(default=False)
    last_sent_at = models.DateTimeField(null=True)
    last_error = models.TextField(default="", blank=True)

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name


class DeliveryState(models.TextChoices):
    """How far a delivery is."""

    WAITING = "waiting", _("waiting")
    SENDING = "sending", _("sending")
    SENT = "sent", _("sent")
    GAVE_UP = "gave-up", _("given up")


class Outgoing(models.Model):
    """Something to send, tried until it is accepted; `deliver` moves it."""

    state = models.CharField(max_length=10, choices=DeliveryState, default=DeliveryState.WAITING)
    due_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)
    error = models.TextField(default="", blank=True)

    class Meta:
        abstract = True


class Delivery(Outgoing):
    """One event for one channel: the record that makes sure that it is told, and told once."""

    event = models.ForeignKey(AlertEvent, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="deliveries")

    class Meta:
        ordering: ClassVar = ["due_at"]
        indexes: ClassVar = [models.Index(fields=["state", "due_at"], name="deliveries_to_send")]
        constraints: ClassVar = [models.UniqueConstraint(fields=["event", "channel"], name="told_once_a_channel")]

    def __str__(self) -> str:
        return f"{self.event_id} {self.state}"


class MailSecurity(models.TextChoices):
    """How the connection to the mail server is protected."""

    STARTTLS = "starttls", "STARTTLS"
    TLS = "tls", "TLS"
    NONE = "none", _("none")


class WatchSettings(models.Model):
    """The one row of settings about telling: the mail server, quiet hours, escalation."""

    mail_host = models.CharField(_("Mail server"), max_length=253, default="", blank=True)
    mail_port = models.PositiveIntegerField(_("Port"), default=587)
    mail_security = models.CharField(_("Security"), max_length=10, choices=MailSecurity, default=MailSecurity.STARTTLS)
    mail_user = models.CharField(_("User name"), max_length=253, default="", blank=True)
    mail_secret = models.TextField(default="", blank=True)
    mail_sender = models.EmailField(_("Sender"), default="", blank=True)
    quiet_begin = models.TimeField(_("Quiet from"), null=True, blank=True)
    quiet_end = models.TimeField(_("Quiet until"), null=True, blank=True)
    escalate_after_hours = models.PositiveIntegerField(_("Repeat unacknowledged alerts after (hours)"), default=4)
    digest_at = models.TimeField(_("Daily summary at"), default="07:00")
    console_address = models.URLField(_("Address of this console, for links in messages"), default="", blank=True)

    def __str__(self) -> str:
        return "settings"

    @classmethod
    def load(cls) -> "WatchSettings":
        """The row; made at first use."""
        return cls.objects.get_or_create(pk=1)[0]


class HomeAssistantSettings(models.Model):
    """The one row about what Home Assistant is shown: the MQTT broker, and how far publishing is.

    `secret` is the broker's password, encrypted. `published` is what the broker keeps of us: a digest of each payload
    by its topic, `all_sent_at` when it last got all of them. After `failures` in a row it is tried again at `due_at`.
    """

    is_enabled = models.BooleanField(_("Enabled"), default=True)
    host = models.CharField(_("Broker"), max_length=253, default="")
    port = models.PositiveIntegerField(
        _("Port"), default=1883, help_text=_("Usually 1883, and 8883 with TLS."), validators=[MaxValueValidator(65535)]
    )
    has_tls = models.BooleanField(
        _("Use TLS"), default=False, help_text=_("Without it, the password passes the network in clear.")
    )
    checks_certificate = models.BooleanField(
        _("Check the certificate of the broker"),
        default=True,
        help_text=_("Authorities that this machine trusts can vouch for it."),
    )
    user = models.CharField(_("User name"), max_length=253, default="", blank=True)
    secret = models.TextField(default="", blank=True)
    prefix = models.CharField(
        _("Discovery prefix"),
        max_length=80,
        default="homeassistant",
        validators=[RegexValidator(r"\A[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*\Z")],
        help_text=_("As set in the MQTT integration of Home Assistant."),
    )
    language = models.CharField(
        _("Language"), max_length=5, choices=[("en", _("English")), ("de", _("German"))], default="en"
    )
    may_be_private = models.BooleanField(
        _("Allow addresses on the console's own network"),
        default=False,
        help_text=_("For a broker that you host yourself."),
    )
    published = models.JSONField(default=dict)
    all_sent_at = models.DateTimeField(null=True)
    last_sent_at = models.DateTimeField(null=True)
    last_error = models.TextField(default="", blank=True)
    failures = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.host

    @classmethod
    def load(cls) -> "HomeAssistantSettings":
        """The row; before it is saved, one without a broker."""
        return cls.objects.filter(pk=1).first() or cls(pk=1)


class FirstHour(models.Model):
    """The one row about the list of first steps: when it was put away, by whom; "" by itself, as all was done."""

    closed_at = models.DateTimeField()
    closed_by = models.CharField(max_length=253, default="", blank=True)

    def __str__(self) -> str:
        return f"closed {self.closed_at:%Y-%m-%d}"

    @classmethod
    def close(cls, now: datetime, by: str) -> None:
        """Put it away; doing it twice changes nothing."""
        cls.objects.get_or_create(pk=1, defaults={"closed_at": now, "closed_by": by})


def is_somebody_told() -> bool:
    """Whether a channel is switched on that took a message before, or that somebody vouched for without a test."""
    channels = Channel.objects.filter(
        models.Q(last_sent_at__isnull=False) | models.Q(is_untested=True), is_enabled=True
    )
    if not WatchSettings.load().mail_host:
        channels = channels.exclude(kind=ChannelKind.MAIL)
    return channels.exists()


class ReportState(models.TextChoices):
    """How far a report is."""

    REQUESTED = "requested", _("requested")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")


class StoredReport(models.Model):
    """A printable report. Only the newest few are kept. `day` is that of the schedule which ordered it, else None."""

    requested_at = models.DateTimeField(default=timezone.now)
    requested_by = models.CharField(max_length=253, default="", blank=True)
    language = models.CharField(max_length=5, default="en")
    state = models.CharField(max_length=10, choices=ReportState, default=ReportState.REQUESTED)
    pdf = models.BinaryField(default=b"")
    day = models.DateField(null=True)

    class Meta:
        ordering: ClassVar = ["-requested_at"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["day", "language"], name="one_report_a_day_language")]

    def __str__(self) -> str:
        return f"{self.requested_at:%Y-%m-%d}"


class ReportDelivery(Outgoing):
    """A report for one channel: the record that makes sure that it is sent, and sent once."""

    report = models.ForeignKey(StoredReport, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="report_deliveries")

    class Meta:
        ordering: ClassVar = ["due_at"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["report", "channel"], name="one_report_a_channel")]

    def __str__(self) -> str:
        return f"{self.report_id} {self.state}"
