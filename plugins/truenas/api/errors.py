# ruff: noqa: N818 - an error is named for what happened, as in a sentence: "raise NotReached"
"""What can go wrong when TrueNAS is asked: what happened, in which state the pool is, what to do."""

from typing import Final

from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.errors import MAY_HAVE_CHANGED, ONLY_READS, HostError


class AccessNotSet(HostError):
    """A setting that is needed to reach TrueNAS is missing or of no use."""

    def __init__(self, setting: str, wanted: str | Statement) -> None:
        template = _(
            "TrueNAS cannot be queried: the setting {setting} is missing or unusable ({wanted}). Nothing was changed. "
            "For the setup, see docs/how-to/truenas.md."
        )
        super().__init__(template, setting=setting, wanted=wanted)


class PlainTransport(HostError):
    """The address is not one of TLS; TrueNAS revokes a key that comes over plain text."""

    def __init__(self, url: str) -> None:
        template = _(
            "The address {url} is not encrypted, so the API key was not sent: TrueNAS immediately revokes a key that "
            "arrives over ws://. Nothing was read or changed. Use an address that begins with wss://."
        )
        super().__init__(template, url=url)


class NotReached(HostError):
    """No connection came about."""

    def __init__(self, host: str, problem: str) -> None:
        template = _(
            "TrueNAS at {host} cannot be reached: {problem}. This attempt read nothing and changed nothing. Check the "
            "address, and check that the TrueNAS web interface answers there."
        )
        super().__init__(template, host=host, problem=problem)


class CertificateUnknown(HostError):
    """TLS works, but nobody vouches for the other side."""

    def __init__(self, host: str, problem: str | Statement) -> None:
        template = _(
            "The server at {host} may not be your TrueNAS: {problem}. The API key was not sent, and this attempt read "
            "nothing and changed nothing. If TrueNAS has a new certificate, store it again as described in "
            "docs/how-to/truenas.md."
        )
        super().__init__(template, host=host, problem=problem)


class NoCommonVersion(HostError):
    """The middleware speaks none of the API versions that this program was written for."""

    def __init__(self, host: str, known: tuple[str, ...]) -> None:
        template = _(
            "TrueNAS at {host} supports none of the API versions that NAS Advisor knows ({known}). Nothing was read "
            "or changed. NAS Advisor works with TrueNAS 25.10 and 26."
        )
        super().__init__(template, host=host, known=", ".join(known))


class VersionOutside(HostError):
    """Nothing is added: nobody has looked at how this version treats it. Reading and taking back go on."""

    def __init__(self, version: str) -> None:
        template = _(
            "This TrueNAS is version {version}. NAS Advisor adds devices only to pools of TrueNAS 25.10 and 26, "
            "because other versions have not been checked. It can still read this one and undo its earlier additions. "
            "Nothing was changed."
        )
        super().__init__(template, version=version)


class LoginRefused(HostError):
    """TrueNAS did not let us in; `reason` is one of the statements below. It is never tried again by itself."""

    def __init__(self, user: str, reason: Statement) -> None:
        self.reason = reason
        template = _(
            "TrueNAS did not accept the API key of {user}. {reason} This attempt read nothing and changed nothing."
        )
        super().__init__(template, user=user, reason=reason)


BAD_KEY: Final = Statement(
    "bad-key",
    _("The key or the user is wrong. Create a new key in TrueNAS and store it; too many attempts lock you out."),
)
EXPIRED: Final = Statement(
    "expired", _("The key has expired or was revoked. Create a new one in TrueNAS (Credentials, API Keys).")
)
DENIED: Final = Statement(
    "denied", _("This user may not use the API. Give the user the roles listed in docs/how-to/truenas.md.")
)
SECOND_FACTOR: Final = Statement(
    "second-factor",
    _("It requires a one-time password, which cannot be entered here. Use the API key of a separate user."),
)
OTHER_NODE: Final = Statement(
    "other-node",
    _("It is the standby controller of a pair. Enter the address of the pair, not of a single controller."),
)
MECHANISM: Final = Statement(
    "mechanism",
    _(
        "It does not currently allow logins with an API key, or there were too many attempts. Wait ten minutes and "
        "try again."
    ),
)


class NoAnswer(HostError):
    """A call was sent and not answered in its time."""

    def __init__(self, method: str, seconds: float, *, changes: bool) -> None:
        template = _("TrueNAS did not answer {method} within {seconds} s. {state}")
        super().__init__(template, method=method, seconds=f"{seconds:g}", state=_state(changes))


class ConnectionLost(HostError):
    """The connection ended while an answer was awaited."""

    def __init__(self, method: str, problem: str, *, changes: bool) -> None:
        template = _("The connection to TrueNAS was lost during {method}: {problem}. {state}")
        super().__init__(template, method=method, problem=problem, state=_state(changes))


class CallRefused(HostError):
    """TrueNAS answered that it will not or cannot do it; `number` is the JSON-RPC error number."""

    def __init__(self, method: str, number: int, reason: str, *, changes: bool) -> None:
        self.number = number
        template = _("TrueNAS refused {method}: {reason}. {state}")
        super().__init__(template, method=method, reason=reason.rstrip("."), state=_state(changes))


class JobFailed(HostError):
    """A job of TrueNAS ended without success."""

    def __init__(self, job: int, method: str, ending: str, error: str | Statement) -> None:
        template = _(
            "TrueNAS job {job} ({method}) ended as {ending}: {error}. It may have changed something before that. "
            "Check the pool in TrueNAS before you try again."
        )
        said = error.rstrip(".") if isinstance(error, str) else error
        super().__init__(template, job=str(job), method=method, ending=ending, error=said)


class JobOutOfSight(HostError):
    """A job runs on, but it cannot be followed to its end."""

    def __init__(self, job: int, method: str, problem: HostError) -> None:
        template = _(
            "TrueNAS job {job} ({method}) may still be running, but its progress can no longer be followed. {problem} "
            "Check the job under Jobs in TrueNAS, then check the pool. Do not start it again before it has ended."
        )
        super().__init__(template, job=str(job), method=method, problem=problem.statement)


class EndNotSeen(HostError):
    """A job ended, but what came of it cannot be read off the pool, or not be recorded."""

    def __init__(self, job: int, method: str, problem: Statement) -> None:
        template = _(
            "TrueNAS job {job} ({method}) has ended, but its result could not be verified and recorded. {problem} "
            "Check the pool in TrueNAS before you continue."
        )
        super().__init__(template, job=str(job), method=method, problem=problem)


class TakenBackInPart(HostError):
    """Some devices were taken out before something stood in the way."""

    def __init__(self, count: int, problem: HostError) -> None:
        template = _(
            "{count} device(s) were removed from the pool, but the change is not recorded as undone. After that: "
            "{problem}"
        )
        super().__init__(template, count=str(count), problem=problem.statement)


class MailNotSent(HostError):
    """The job of a message ended as it should, without a message having gone out."""

    def __init__(self, job: int) -> None:
        template = _(
            "TrueNAS ended its job {job} (mail.send) without sending the message. This happens if e-mail is not "
            "allowed under Network, Global Configuration, Outbound Network. Allow it, or choose another channel for "
            "alerts."
        )
        super().__init__(template, job=str(job))


def _state(changes: bool) -> Statement:
    return MAY_HAVE_CHANGED if changes else ONLY_READS
