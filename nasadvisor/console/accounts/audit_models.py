"""The audit log: who did what, from where and when. Entries are added and read; nothing here changes or drops one."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Final

from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Act(models.TextChoices):
    """What somebody did: `AuditEntry.act`.

    The values stand in the journal and in tables for other programs, and never change.
    """

    SIGN_IN = "sign-in", _("signed in")
    SIGN_IN_FAILED = "sign-in-failed", _("could not sign in")
    SIGN_OUT = "sign-out", _("signed out")
    REFUSED = "refused", _("had a request refused")
    RE_ENTRY_FAILED = "re-entry-failed", _("entered a wrong password, code or passkey before a change")
    PASSWORD_CHANGED = "password-changed", _("changed their password")
    FACTOR_ADDED = "factor-added", _("set up a second factor")
    FACTOR_REMOVED = "factor-removed", _("removed their second factor")
    PASSKEY_ADDED = "passkey-added", _("added a passkey")
    PASSKEY_REMOVED = "passkey-removed", _("removed a passkey")
    PASSKEY_COPIED = "passkey-copied", _("used a passkey whose counter went backwards, as a copy would; it was refused")
    RECOVERY_CODES_MADE = "recovery-codes-made", _("created new recovery codes")
    RECOVERY_CODE_USED = "recovery-code-used", _("used a recovery code")
    FACTORS_RESET = "factors-reset", _("removed a second factor on the console's host")
    ADDRESS_CHANGED = "address-changed", _("changed their notification address")
    SESSION_ENDED = "session-ended", _("signed out another of their browsers")
    SESSION_IDLE = "session-idle", _("was signed out after too long without activity")
    ALL_SESSIONS_ENDED = "all-sessions-ended", _("signed out everywhere")
    SET_UP = "set-up", _("became the first administrator")
    USER_ADDED = "user-added", _("added a user")
    ROLE_CHANGED = "role-changed", _("changed a role")
    USER_LOCKED = "user-locked", _("locked a user out")
    USER_LET_IN = "user-let-in", _("unlocked a user")
    PASSWORD_RESET = "password-reset", _("set a new password for a user")
    HOST_TOKEN_MADE = "host-token-made", _("created a token for a host")
    HOST_TOKEN_DROPPED = "host-token-dropped", _("revoked a token for a host")
    HOST_JOINED = "host-joined", _("joined this console")
    HOST_FORGOTTEN = "host-forgotten", _("forgot a host")
    TOKEN_MADE = "token-made", _("created a token")
    TOKEN_DELETED = "token-deleted", _("deleted a token")
    CHANNEL_SAVED = "channel-saved", _("saved a notification channel")
    CHANNEL_DELETED = "channel-deleted", _("deleted a notification channel")
    DELIVERY_CHANGED = "delivery-changed", _("changed the mail server or quiet hours")
    HOME_ASSISTANT_CHANGED = "home-assistant-changed", _("changed what Home Assistant is shown")
    SCHEDULE_CHANGED = "schedule-changed", _("changed a schedule")
    PLAN_MADE = "plan-made", _("created a plan")
    APPLY = "apply", _("asked to apply a plan")
    FINISH = "finish", _("asked to finish a run")
    UNDO = "undo", _("asked to undo a run")
    KEEP = "keep", _("asked to keep a run")
    RUN_ENDED = "run-ended", _("ended a run")
    SWITCH = "switch", _("requested a randomised cache test")
    SWITCH_STOP = "switch-stop", _("asked to stop a randomised cache test")
    MEASURE = "measure", _("requested a write benchmark")
    LOOK_CLOSER = "look-closer", _("requested a trace or a count on a host")
    SELF_TEST = "self-test", _("requested a disk self-test")
    SCRUB = "scrub", _("requested a scrub")
    DISK_RATED = "disk-rated", _("entered the ratings of a disk")
    DISK_FORGOTTEN = "disk-forgotten", _("marked a disk as permanently removed")
    ALERT_TAKEN_UP = "alert-taken-up", _("acknowledged an alert")
    SUPPORT_BUNDLE = "support-bundle", _("downloaded a support bundle")


_ENDS: Final[Mapping[str, str | Promise]] = {
    "applied": _("applied"),
    "refused": _("refused"),
    "undone": _("undone"),
    "put-back": _("reverted"),
    "interrupted": _("interrupted"),
    "attention": _("needs attention"),
}
"""How a run comes to rest, in the words that its own page has for it; what is stored is for programs."""


class AppendOnly(TypeError):  # noqa: N818 - named for what it is
    """Somebody tried to change or drop an entry."""

    def __init__(self) -> None:
        super().__init__("The audit log is only added to.")


class AuditEntries(models.QuerySet["AuditEntry"]):
    """Entries, to be read."""

    def update(self, **_changes: Any) -> int:
        """Nobody does.

        Raises:
            AppendOnly: always.
        """
        raise AppendOnly

    def delete(self) -> tuple[int, dict[str, int]]:
        """Nobody does; what is old is dropped by `AuditEntry.forget`.

        Raises:
            AppendOnly: always.
        """
        raise AppendOnly


class AuditEntry(models.Model):
    """One act. `user_name` is as it was typed or as it was then, so that an entry outlives its user; `address` is where
    the request came from, "" for what no browser asked for; `about` is what was acted on, in names.
    """

    at = models.DateTimeField(db_index=True)
    act = models.CharField(max_length=30)
    user_name = models.CharField(max_length=150, blank=True)
    address = models.CharField(max_length=45, blank=True)
    about = models.CharField(max_length=255, blank=True)

    objects = AuditEntries.as_manager()

    class Meta:
        ordering: ClassVar = ["-at", "-pk"]
        indexes: ClassVar = [models.Index(fields=["act", "at"], name="audit_act_at")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.act} {self.user_name}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Add it.

        Raises:
            AppendOnly: it was added before.
        """
        if not self._state.adding:
            raise AppendOnly
        super().save(*args, **kwargs)

    def delete(self, *_args: Any, **_kwargs: Any) -> tuple[int, dict[str, int]]:
        """Nobody does.

        Raises:
            AppendOnly: always.
        """
        raise AppendOnly

    @property
    def words(self) -> str:
        """What was done, for people; as it is stored where another release wrote it."""
        return str(Act(self.act).label) if self.act in Act.values else self.act

    @property
    def is_of_host(self) -> bool:
        """Whether a host did it, and nobody with a name."""
        return not self.user_name and self.act in (Act.RUN_ENDED, Act.HOST_JOINED)

    @property
    def about_words(self) -> str:
        """What was acted on, for people: how a run ended is a word of its state."""
        head, colon, state = self.about.rpartition(": ")
        if self.act != Act.RUN_ENDED or state not in _ENDS:
            return self.about
        return f"{head}{colon}{_ENDS[state]}"

    @classmethod
    def forget(cls, before: datetime) -> None:
        """Drop what is older than it is kept."""
        models.QuerySet(cls).filter(at__lt=before).delete()
