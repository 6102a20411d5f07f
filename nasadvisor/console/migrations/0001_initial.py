"""The tables of the first release, and the groups behind the roles viewer and operator."""

import uuid

import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import nasadvisor.console.accounts.models

GROUPS = ("viewer", "operator")


def create_groups(apps: Apps, _: BaseDatabaseSchemaEditor) -> None:
    """Make the groups."""
    for name in GROUPS:
        apps.get_model("auth", "Group").objects.get_or_create(name=name)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="Channel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80, unique=True, verbose_name="Name")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("mail", "E-mail"),
                            ("ntfy", "ntfy"),
                            ("gotify", "Gotify"),
                            ("webhook", "Webhook (JSON)"),
                            ("apprise", "Other service (Apprise)"),
                            ("platform", "Host platform"),
                        ],
                        default="mail",
                        max_length=10,
                        verbose_name="Kind",
                    ),
                ),
                ("secret", models.TextField()),
                (
                    "level",
                    models.CharField(
                        choices=[("info", "Note"), ("warning", "Warning"), ("critical", "Critical")],
                        default="warning",
                        max_length=10,
                        verbose_name="Minimum level",
                    ),
                ),
                (
                    "timing",
                    models.CharField(
                        choices=[("at-once", "Immediately"), ("digest", "Once a day")],
                        default="at-once",
                        max_length=10,
                        verbose_name="When",
                    ),
                ),
                ("is_on_call", models.BooleanField(default=True, verbose_name="Repeat unacknowledged critical alerts")),
                ("gets_reports", models.BooleanField(default=False, verbose_name="Send the monthly report")),
                (
                    "language",
                    models.CharField(
                        choices=[("en", "English"), ("de", "German")],
                        default="en",
                        max_length=5,
                        verbose_name="Language",
                    ),
                ),
                ("is_enabled", models.BooleanField(default=True, verbose_name="Enabled")),
                (
                    "may_be_private",
                    models.BooleanField(
                        default=False,
                        help_text="For a service that you host yourself.",
                        verbose_name="Allow addresses on the console's own network",
                    ),
                ),
                ("is_untested", models.BooleanField(default=False)),
                ("last_sent_at", models.DateTimeField(null=True)),
                ("last_error", models.TextField(blank=True, default="")),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="FirstHour",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("closed_at", models.DateTimeField()),
                ("closed_by", models.CharField(blank=True, default="", max_length=253)),
            ],
        ),
        migrations.CreateModel(
            name="Node",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=253, unique=True)),
                ("last_contact", models.DateTimeField(null=True)),
                ("inventory_document", models.JSONField(null=True)),
                ("inventory_version", models.UUIDField(null=True)),
                ("inventory_read_at", models.DateTimeField(null=True)),
                ("inventory_error_document", models.JSONField(null=True)),
                ("finding_documents", models.JSONField(default=list)),
                ("platform_document", models.JSONField(null=True)),
                ("schema_versions_document", models.JSONField(null=True)),
                ("is_simulated", models.BooleanField(default=False)),
                ("access_digest", models.CharField(blank=True, default="", max_length=64)),
                ("quotas_reached", models.JSONField(default=dict)),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="SetupToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("expires_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="WatchSettings",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("mail_host", models.CharField(blank=True, default="", max_length=253, verbose_name="Mail server")),
                ("mail_port", models.PositiveIntegerField(default=587, verbose_name="Port")),
                (
                    "mail_security",
                    models.CharField(
                        choices=[("starttls", "STARTTLS"), ("tls", "TLS"), ("none", "none")],
                        default="starttls",
                        max_length=10,
                        verbose_name="Security",
                    ),
                ),
                ("mail_user", models.CharField(blank=True, default="", max_length=253, verbose_name="User name")),
                ("mail_secret", models.TextField(blank=True, default="")),
                ("mail_sender", models.EmailField(blank=True, default="", max_length=254, verbose_name="Sender")),
                ("quiet_begin", models.TimeField(blank=True, null=True, verbose_name="Quiet from")),
                ("quiet_end", models.TimeField(blank=True, null=True, verbose_name="Quiet until")),
                (
                    "escalate_after_hours",
                    models.PositiveIntegerField(default=4, verbose_name="Repeat unacknowledged alerts after (hours)"),
                ),
                ("digest_at", models.TimeField(default="07:00", verbose_name="Daily summary at")),
                (
                    "console_address",
                    models.URLField(
                        blank=True, default="", verbose_name="Address of this console, for links in messages"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="HomeAssistantSettings",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("is_enabled", models.BooleanField(default=True, verbose_name="Enabled")),
                ("host", models.CharField(default="", max_length=253, verbose_name="Broker")),
                (
                    "port",
                    models.PositiveIntegerField(
                        default=1883,
                        help_text="Usually 1883, and 8883 with TLS.",
                        validators=[django.core.validators.MaxValueValidator(65535)],
                        verbose_name="Port",
                    ),
                ),
                (
                    "has_tls",
                    models.BooleanField(
                        default=False,
                        help_text="Without it, the password passes the network in clear.",
                        verbose_name="Use TLS",
                    ),
                ),
                (
                    "checks_certificate",
                    models.BooleanField(
                        default=True,
                        help_text="Authorities that this machine trusts can vouch for it.",
                        verbose_name="Check the certificate of the broker",
                    ),
                ),
                ("user", models.CharField(blank=True, default="", max_length=253, verbose_name="User name")),
                ("secret", models.TextField(blank=True, default="")),
                (
                    "prefix",
                    models.CharField(
                        default="homeassistant",
                        help_text="As set in the MQTT integration of Home Assistant.",
                        max_length=80,
                        validators=[django.core.validators.RegexValidator("\\A[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*\\Z")],
                        verbose_name="Discovery prefix",
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        choices=[("en", "English"), ("de", "German")],
                        default="en",
                        max_length=5,
                        verbose_name="Language",
                    ),
                ),
                (
                    "may_be_private",
                    models.BooleanField(
                        default=False,
                        help_text="For a broker that you host yourself.",
                        verbose_name="Allow addresses on the console's own network",
                    ),
                ),
                ("published", models.JSONField(default=dict)),
                ("all_sent_at", models.DateTimeField(null=True)),
                ("last_sent_at", models.DateTimeField(null=True)),
                ("last_error", models.TextField(blank=True, default="")),
                ("failures", models.PositiveIntegerField(default=0)),
                ("due_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="AccountNotice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("act", models.CharField(max_length=30)),
                ("by", models.CharField(blank=True, max_length=150)),
                ("address", models.CharField(blank=True, max_length=45)),
                ("mail_to", models.EmailField(blank=True, max_length=254)),
                ("language", models.CharField(max_length=10)),
                ("is_told", models.BooleanField(default=False)),
                ("mailed_at", models.DateTimeField(null=True)),
                ("tries", models.PositiveIntegerField(default=0)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="notices", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["-at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80, verbose_name="Name")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("may_acknowledge", models.BooleanField(default=False, verbose_name="May also acknowledge alerts")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(default=nasadvisor.console.accounts.models.token_end)),
                ("last_used_at", models.DateTimeField(null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_index=True)),
                ("act", models.CharField(max_length=30)),
                ("user_name", models.CharField(blank=True, max_length=150)),
                ("address", models.CharField(blank=True, max_length=45)),
                ("about", models.CharField(blank=True, max_length=255)),
            ],
            options={
                "ordering": ["-at", "-pk"],
                "indexes": [models.Index(fields=["act", "at"], name="audit_act_at")],
            },
        ),
        migrations.CreateModel(
            name="Authenticator",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("secret", models.CharField(max_length=255)),
                ("last_step", models.BigIntegerField()),
                ("added_at", models.DateTimeField()),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="authenticator",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="GivenPassword",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="given_password",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="JoinToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("node_name", models.CharField(max_length=253, unique=True)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["node_name"],
            },
        ),
        migrations.CreateModel(
            name="NodeHealth",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("known_since", models.DateTimeField(default=django.utils.timezone.now)),
                ("sweep_asked_at", models.DateTimeField(null=True)),
                ("sweep_ended_at", models.DateTimeField(null=True)),
                ("error_document", models.JSONField(null=True)),
                ("read", models.PositiveIntegerField(default=0)),
                ("asleep", models.PositiveIntegerField(default=0)),
                ("unsupported", models.PositiveIntegerField(default=0)),
                ("failed", models.PositiveIntegerField(default=0)),
                (
                    "node",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="health", to="console.node"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Passkey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60)),
                ("site", models.CharField(max_length=253)),
                ("credential_id", models.CharField(max_length=1364, unique=True)),
                ("public_key", models.TextField()),
                ("sign_count", models.PositiveBigIntegerField()),
                ("added_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="passkeys",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["added_at", "pk"],
            },
        ),
        migrations.CreateModel(
            name="PlatformAccount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("platform", models.CharField(max_length=100)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="platform_account",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RatedEndurance",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model", models.CharField(max_length=200)),
                ("size_bytes", models.BigIntegerField()),
                ("terabytes", models.FloatField(blank=True, null=True, verbose_name="Terabytes written (TBW)")),
                ("erases", models.PositiveIntegerField(blank=True, null=True, verbose_name="Program/erase cycles")),
                ("write_amplification", models.FloatField(default=2.0, verbose_name="Write amplification")),
                ("price", models.FloatField(blank=True, null=True, verbose_name="Price of one, in your currency")),
                ("entered_by", models.CharField(blank=True, default="", max_length=253)),
                ("entered_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("model", "size_bytes"), name="one_rating_a_model")],
            },
        ),
        migrations.CreateModel(
            name="WrongAnswers",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "about",
                    models.CharField(
                        choices=[("name", "Name"), ("network", "Network"), ("user", "User")], max_length=10
                    ),
                ),
                ("subject", models.CharField(max_length=150)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("last_at", models.DateTimeField(db_index=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("about", "subject"), name="wrong_answers_of_one")],
            },
        ),
        migrations.CreateModel(
            name="SampledPool",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("guid", models.CharField(max_length=20)),
                ("name", models.CharField(max_length=255)),
                ("names", models.JSONField(default=list)),
                ("facts_document", models.JSONField(null=True)),
                ("former", models.JSONField(default=dict)),
                ("log_answer", models.CharField(blank=True, default="", max_length=20)),
                ("cache_answer", models.CharField(blank=True, default="", max_length=20)),
                ("log_rule_document", models.JSONField(null=True)),
                ("cache_rule_document", models.JSONField(null=True)),
                ("log_due_at", models.BigIntegerField(default=0)),
                ("cache_due_at", models.BigIntegerField(default=0)),
                ("waiting_document", models.JSONField(null=True)),
                ("waited_hours", models.JSONField(default=list)),
                ("added_until", models.BigIntegerField(default=0)),
                ("traffic_document", models.JSONField(null=True)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="sampled_pools", to="console.node"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="StoredAlert",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("source", models.CharField(max_length=300)),
                ("code", models.CharField(max_length=60)),
                ("subject", models.CharField(blank=True, max_length=300)),
                (
                    "state",
                    models.CharField(
                        choices=[("new", "new"), ("acknowledged", "acknowledged"), ("recovered", "resolved")],
                        default="new",
                        max_length=12,
                    ),
                ),
                (
                    "level",
                    models.CharField(
                        choices=[("info", "Note"), ("warning", "Warning"), ("critical", "Critical")], max_length=10
                    ),
                ),
                ("measure", models.BigIntegerField(default=0)),
                ("began_at", models.DateTimeField(db_index=True)),
                ("told_at", models.DateTimeField()),
                (
                    "told_level",
                    models.CharField(
                        choices=[("info", "Note"), ("warning", "Warning"), ("critical", "Critical")], max_length=10
                    ),
                ),
                ("told_measure", models.BigIntegerField(default=0)),
                ("away_since", models.DateTimeField(null=True)),
                ("is_escalated", models.BooleanField(default=False)),
                ("finding_document", models.JSONField()),
                ("acknowledged_by", models.CharField(blank=True, default="", max_length=253)),
                ("acknowledged_at", models.DateTimeField(null=True)),
                ("snoozed_until", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="alerts", to="console.node"
                    ),
                ),
            ],
            options={
                "ordering": ["-began_at"],
            },
        ),
        migrations.CreateModel(
            name="AlertEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("new", "new"),
                            ("worse", "worse"),
                            ("again", "still there"),
                            ("escalated", "not acknowledged"),
                            ("recovered", "resolved"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "level",
                    models.CharField(
                        choices=[("info", "Note"), ("warning", "Warning"), ("critical", "Critical")], max_length=10
                    ),
                ),
                ("at", models.DateTimeField(db_index=True)),
                ("finding_document", models.JSONField()),
                (
                    "alert",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="events", to="console.storedalert"
                    ),
                ),
            ],
            options={
                "ordering": ["at"],
            },
        ),
        migrations.CreateModel(
            name="StoredAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("form", models.CharField(max_length=40)),
                ("pool_guid", models.CharField(blank=True, max_length=20)),
                ("asked_at", models.DateTimeField()),
                ("seconds", models.PositiveIntegerField(default=0)),
                ("told_at", models.DateTimeField(null=True)),
                ("document", models.JSONField(null=True)),
                ("error_document", models.JSONField(null=True)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="answers", to="console.node"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="StoredDisk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=300)),
                ("own_serial", models.CharField(blank=True, default="", max_length=200)),
                ("model", models.CharField(blank=True, max_length=200)),
                ("serial", models.CharField(blank=True, max_length=200)),
                ("size_bytes", models.BigIntegerField(default=0)),
                ("is_rotational", models.BooleanField(default=False)),
                ("is_removable", models.BooleanField(default=False)),
                ("role", models.CharField(blank=True, default="", max_length=20)),
                ("pool_name", models.CharField(blank=True, default="", max_length=255)),
                ("vdev_name", models.CharField(blank=True, default="", max_length=255)),
                ("leaf_guids", models.JSONField(blank=True, default=list)),
                ("role_since", models.DateTimeField(default=django.utils.timezone.now)),
                ("is_present", models.BooleanField(default=True)),
                ("first_seen_at", models.DateTimeField()),
                ("last_seen_at", models.DateTimeField()),
                ("asked_at", models.DateTimeField(null=True)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "not checked yet"),
                            ("read", "read"),
                            ("asleep", "asleep"),
                            ("unsupported", "no SMART data"),
                            ("failed", "not responding"),
                        ],
                        default="",
                        max_length=12,
                    ),
                ),
                ("problem_document", models.JSONField(null=True)),
                ("exit_status", models.PositiveSmallIntegerField(default=0)),
                ("read_at", models.DateTimeField(null=True)),
                ("power_on_hours", models.PositiveIntegerField(null=True)),
                ("percent_used", models.FloatField(null=True)),
                ("bytes_written", models.BigIntegerField(null=True)),
                ("bytes_per_day", models.BigIntegerField(null=True)),
                ("temperature_c", models.SmallIntegerField(null=True)),
                ("spare_percent", models.SmallIntegerField(null=True)),
                ("media_errors", models.BigIntegerField(null=True)),
                ("reallocated", models.BigIntegerField(null=True)),
                ("pending", models.BigIntegerField(null=True)),
                ("crc_errors", models.BigIntegerField(null=True)),
                ("worn_out_at", models.DateTimeField(db_index=True, null=True)),
                ("worn_out_earliest_at", models.DateTimeField(null=True)),
                ("worn_out_latest_at", models.DateTimeField(null=True)),
                ("has_forecast", models.BooleanField(default=False)),
                ("worst_level", models.CharField(blank=True, default="", max_length=10)),
                ("is_solid_state", models.BooleanField(null=True)),
                ("power_loss", models.CharField(blank=True, default="", max_length=10)),
                ("reading_document", models.JSONField(null=True)),
                ("forecast_document", models.JSONField(null=True)),
                ("finding_documents", models.JSONField(default=list)),
                ("self_test_problem_document", models.JSONField(null=True)),
                ("self_test_asked_at", models.DateTimeField(null=True)),
                ("is_forgotten", models.BooleanField(default=False)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="disks", to="console.node"
                    ),
                ),
            ],
            options={
                "ordering": ["model", "serial"],
            },
        ),
        migrations.CreateModel(
            name="SmartDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("counts", models.JSONField(default=dict)),
                (
                    "disk",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="smart_days",
                        to="console.storeddisk",
                    ),
                ),
            ],
            options={
                "ordering": ["day"],
            },
        ),
        migrations.CreateModel(
            name="SelfTestResult",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=60)),
                ("status", models.CharField(max_length=120)),
                ("passed", models.BooleanField(null=True)),
                ("hours", models.PositiveIntegerField(default=0)),
                ("seen_at", models.DateTimeField()),
                (
                    "disk",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="self_tests", to="console.storeddisk"
                    ),
                ),
            ],
            options={
                "ordering": ["-hours"],
            },
        ),
        migrations.CreateModel(
            name="ReadingMonth",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("month", models.DateField()),
                ("packed", models.BinaryField()),
                ("is_thinned", models.BooleanField(default=False)),
                (
                    "disk",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reading_months",
                        to="console.storeddisk",
                    ),
                ),
            ],
            options={
                "ordering": ["month"],
            },
        ),
        migrations.CreateModel(
            name="RawAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("taken_at", models.DateTimeField()),
                ("smartctl", models.TextField()),
                ("id_ctrl", models.TextField(blank=True, default="")),
                (
                    "disk",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="raw_answers", to="console.storeddisk"
                    ),
                ),
            ],
            options={
                "ordering": ["-taken_at"],
            },
        ),
        migrations.CreateModel(
            name="StoredDraft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("pool_guid", models.CharField(max_length=20)),
                ("document", models.JSONField()),
                ("asked_at", models.DateTimeField()),
                (
                    "node",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="console.node"),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="StoredMeasurement",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("pool_guid", models.CharField(db_index=True, max_length=20)),
                ("disk_key", models.CharField(blank=True, default="", max_length=255)),
                ("document", models.JSONField(null=True)),
                ("progress_document", models.JSONField(null=True)),
                ("error_document", models.JSONField(null=True)),
                ("requested_by", models.CharField(max_length=253)),
                ("requested_at", models.DateTimeField()),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="measurements", to="console.node"
                    ),
                ),
            ],
            options={
                "ordering": ["-requested_at"],
            },
        ),
        migrations.CreateModel(
            name="StoredPlan",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("document", models.JSONField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="plans", to="console.node"
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="StoredReport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("requested_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("requested_by", models.CharField(blank=True, default="", max_length=253)),
                ("language", models.CharField(default="en", max_length=5)),
                (
                    "state",
                    models.CharField(
                        choices=[("requested", "requested"), ("done", "done"), ("failed", "failed")],
                        default="requested",
                        max_length=10,
                    ),
                ),
                ("pdf", models.BinaryField(default=b"")),
                ("day", models.DateField(null=True)),
            ],
            options={
                "ordering": ["-requested_at"],
                "constraints": [models.UniqueConstraint(fields=("day", "language"), name="one_report_a_day_language")],
            },
        ),
        migrations.CreateModel(
            name="ReportDelivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("sending", "sending"),
                            ("sent", "sent"),
                            ("gave-up", "given up"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("due_at", models.DateTimeField()),
                ("claimed_at", models.DateTimeField(null=True)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("sent_at", models.DateTimeField(null=True)),
                ("error", models.TextField(blank=True, default="")),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="report_deliveries",
                        to="console.channel",
                    ),
                ),
                (
                    "report",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="console.storedreport",
                    ),
                ),
            ],
            options={
                "ordering": ["due_at"],
            },
        ),
        migrations.CreateModel(
            name="StoredRun",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("pool_guid", models.CharField(db_index=True, max_length=20)),
                ("pool_name", models.CharField(max_length=255)),
                ("document", models.JSONField()),
                ("seq", models.PositiveIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("requested", "requested"),
                            ("unanswered", "not picked up"),
                            ("applying", "applying"),
                            ("applied", "applied"),
                            ("refused", "refused"),
                            ("undoing", "undoing"),
                            ("undone", "undone"),
                            ("putting-back", "reverting"),
                            ("put-back", "reverted"),
                            ("interrupted", "interrupted"),
                            ("attention", "needs attention"),
                            ("damaged", "damaged"),
                            ("newer", "from a newer release"),
                        ],
                        default="requested",
                        max_length=20,
                    ),
                ),
                (
                    "pending",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "nothing"),
                            ("apply", "apply"),
                            ("finish", "finish"),
                            ("undo", "undo"),
                            ("keep", "keep"),
                        ],
                        default="",
                        max_length=10,
                    ),
                ),
                ("pending_since", models.DateTimeField(null=True)),
                ("error_document", models.JSONField(null=True)),
                ("requested_by", models.CharField(max_length=253)),
                ("requested_at", models.DateTimeField()),
                ("trial_until", models.DateTimeField(null=True)),
                ("trial_ended_at", models.DateTimeField(null=True)),
                ("trial_verdict_document", models.JSONField(null=True)),
                ("promised_document", models.JSONField(null=True)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="console.node"
                    ),
                ),
            ],
            options={
                "ordering": ["-requested_at"],
            },
        ),
        migrations.CreateModel(
            name="StoredSpells",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("began", models.BigIntegerField()),
                ("until", models.BigIntegerField()),
                ("document", models.JSONField()),
                (
                    "series",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="spells",
                        to="console.sampledpool",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="StoredSample",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "resolution",
                    models.PositiveSmallIntegerField(choices=[(0, "as measured"), (60, "a minute"), (3600, "an hour")]),
                ),
                ("at", models.BigIntegerField()),
                ("seconds", models.FloatField()),
                ("activity", models.BinaryField()),
                ("latency", models.BinaryField()),
                (
                    "series",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="samples",
                        to="console.sampledpool",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="WrittenDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("segment_at", models.DateTimeField()),
                ("day", models.DateField()),
                ("log_bytes", models.BigIntegerField(default=0)),
                ("cache_bytes", models.BigIntegerField(default=0)),
                ("pool_bytes", models.BigIntegerField(default=0)),
                ("drive_bytes", models.BigIntegerField(default=0)),
                ("seconds", models.FloatField(default=0)),
                ("lines", models.JSONField(default=list)),
                (
                    "disk",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="written_days",
                        to="console.storeddisk",
                    ),
                ),
            ],
            options={
                "ordering": ["day"],
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("sending", "sending"),
                            ("sent", "sent"),
                            ("gave-up", "given up"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("due_at", models.DateTimeField()),
                ("claimed_at", models.DateTimeField(null=True)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("sent_at", models.DateTimeField(null=True)),
                ("error", models.TextField(blank=True, default="")),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="deliveries", to="console.channel"
                    ),
                ),
                (
                    "event",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="deliveries", to="console.alertevent"
                    ),
                ),
            ],
            options={
                "ordering": ["due_at"],
                "indexes": [models.Index(fields=["state", "due_at"], name="deliveries_to_send")],
                "constraints": [models.UniqueConstraint(fields=("event", "channel"), name="told_once_a_channel")],
            },
        ),
        migrations.CreateModel(
            name="PoolDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("guid", models.CharField(max_length=20)),
                ("day", models.DateField()),
                ("allocated_bytes", models.BigIntegerField()),
                ("size_bytes", models.BigIntegerField()),
                (
                    "node",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pool_days",
                        to="console.node",
                    ),
                ),
            ],
            options={
                "ordering": ["day"],
                "constraints": [models.UniqueConstraint(fields=("node", "guid", "day"), name="one_pool_day")],
            },
        ),
        migrations.CreateModel(
            name="RecoveryCode",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="recovery_codes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("user", "digest"), name="one_recovery_code")],
            },
        ),
        migrations.AddConstraint(
            model_name="sampledpool",
            constraint=models.UniqueConstraint(fields=("node", "guid"), name="one_series_a_pool"),
        ),
        migrations.AddConstraint(
            model_name="storedalert",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "recovered"), _negated=True),
                fields=("source", "code", "subject"),
                name="one_open_alert_a_finding",
            ),
        ),
        migrations.AddConstraint(
            model_name="storedanswer",
            constraint=models.UniqueConstraint(fields=("node", "form", "pool_guid"), name="newest_answer"),
        ),
        migrations.AddConstraint(
            model_name="storeddisk",
            constraint=models.UniqueConstraint(fields=("key", "own_serial"), name="one_row_a_disk"),
        ),
        migrations.AddConstraint(
            model_name="smartday",
            constraint=models.UniqueConstraint(fields=("disk", "day"), name="one_smart_day"),
        ),
        migrations.AddConstraint(
            model_name="selftestresult",
            constraint=models.UniqueConstraint(fields=("disk", "kind", "hours"), name="one_self_test_an_hour"),
        ),
        migrations.AddConstraint(
            model_name="readingmonth",
            constraint=models.UniqueConstraint(fields=("disk", "month"), name="one_pack_a_disk_and_month"),
        ),
        migrations.AddConstraint(
            model_name="rawanswer",
            constraint=models.UniqueConstraint(fields=("disk", "taken_at"), name="one_answer_a_moment"),
        ),
        migrations.AddConstraint(
            model_name="storeddraft",
            constraint=models.UniqueConstraint(
                fields=("user", "node", "pool_guid"), name="one_draft_of_a_user_and_pool"
            ),
        ),
        migrations.AddConstraint(
            model_name="reportdelivery",
            constraint=models.UniqueConstraint(fields=("report", "channel"), name="one_report_a_channel"),
        ),
        migrations.AddConstraint(
            model_name="storedsample",
            constraint=models.UniqueConstraint(fields=("series", "resolution", "at"), name="one_sample_a_moment"),
        ),
        migrations.AddConstraint(
            model_name="storedspells",
            constraint=models.UniqueConstraint(fields=("series", "began"), name="one_sum_an_hour"),
        ),
        migrations.AddConstraint(
            model_name="writtenday",
            constraint=models.UniqueConstraint(
                fields=("disk", "segment_at", "day"), name="one_sum_a_disk_role_and_day"
            ),
        ),
        migrations.RunPython(create_groups, migrations.RunPython.noop),
    ]
