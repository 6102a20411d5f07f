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
            "TrueNAS cannot be asked: the setting {setting} is missing or of no use ({wanted}). Nothing was changed. "
            "docs/truenas.md says how to set it up."
        )
        super().__init__(template, setting=setting, wanted=wanted)


class PlainTransport(HostError):
    """The address is not one of TLS; TrueNAS revokes a key that comes over plain text."""

    def __init__(self, url: str) -> None:
        template = _(
            "The address {url} is not encrypted, so the API key was not sent: TrueNAS revokes a key at once that "
            "reaches it over ws://. Nothing was read or changed. Use an address that begins with wss://."
        )
        super().__init__(template, url=url)


class NotReached(HostError):
    """No connection came about."""

    def __init__(self, host: str, problem: str) -> None:
        template = _(
            "TrueNAS at {host} cannot be reached: {problem}. Nothing was read or changed. Check the address, and that "
            "its web interface answers there."
        )
        super().__init__(template, host=host, problem=problem)


class CertificateUnknown(HostError):
    """TLS works, but nobody vouches for the other side."""

    def __init__(self, host: str, problem: str | Statement) -> None:
        template = _(
            "What answers at {host} may not be your TrueNAS: {problem}. The API key was not sent, and nothing was read "
            "or changed. If TrueNAS has a new certificate, store it again as docs/truenas.md says."
        )
        super().__init__(template, host=host, problem=problem)


class NoCommonVersion(HostError):
    """The middleware speaks none of the API versions that this program was written for."""

    def __init__(self, host: str, known: tuple[str, ...]) -> None:
        template = _(
            "TrueNAS at {host} speaks none of the API versions that NAS Advisor knows ({known}). Nothing was read or "
            "changed. NAS Advisor works with TrueNAS 25.10 and 26."
        )
        super().__init__(template, host=host, known=", ".join(known))


class VersionOutside(HostError):
    """Reading goes on, changes do not: nobody has looked at how this version treats them."""

    def __init__(self, version: str) -> None:
        template = _(
            "This TrueNAS is version {version}. NAS Advisor changes pools of TrueNAS 25.10 and 26 only, because nobody "
            "has checked what others do with them; it can still read this one. Nothing was changed."
        )
        super().__init__(template, version=version)


class LoginRefused(HostError):
    """TrueNAS did not let us in; `reason` is one of the statements below. It is never tried again by itself."""

    def __init__(self, user: str, reason: Statement) -> None:
        self.reason = reason
        template = _("TrueNAS did not accept the API key of {user}. {reason} Nothing was read or changed.")
        super().__init__(template, user=user, reason=reason)


BAD_KEY: Final = Statement(
    "bad-key", _("The key or the user is wrong. Make a new key in TrueNAS and store it; many attempts lock you out.")
)
EXPIRED: Final = Statement(
    "expired", _("The key has expired or was revoked. Make a new one in TrueNAS (Credentials, API Keys).")
)
DENIED: Final = Statement("denied", _("This user may not use the API. Give the user the roles in docs/truenas.md."))
SECOND_FACTOR: Final = Statement(
    "second-factor",
    _("It asks for a one-time password, which nobody is there to enter. Use an API key of a user of its own."),
)
OTHER_NODE: Final = Statement(
    "other-node", _("It is the standby half of a pair. Enter the address of the pair, not that of one half.")
)
MECHANISM: Final = Statement(
    "mechanism",
    _("It does not allow logins by API key now, or there were too many attempts. Wait ten minutes and try again."),
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

    def __init__(self, job: int, method: str, ending: str, error: str) -> None:
        template = _(
            "TrueNAS's job {job} ({method}) ended as {ending}: {error}. It may have changed something before that: "
            "look at the pool in TrueNAS before you try again."
        )
        super().__init__(template, job=str(job), method=method, ending=ending, error=error.rstrip("."))


class JobOutOfSight(HostError):
    """A job runs on, but it cannot be followed to its end."""

    def __init__(self, job: int, method: str, problem: HostError) -> None:
        template = _(
            "TrueNAS's job {job} ({method}) may still be running, but it cannot be followed any more. {problem} Look "
            "it up under Jobs in TrueNAS, and then at the pool. Do not start it again before it has ended."
        )
        super().__init__(template, job=str(job), method=method, problem=problem.statement)


def _state(changes: bool) -> Statement:
    return MAY_HAVE_CHANGED if changes else ONLY_READS
