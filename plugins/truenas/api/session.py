"""A connection on which we are logged in, and the version of the TrueNAS behind it."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Final

from nasadvisor.domain.change.refusals import PlatformUntested, said_with_undo
from nasadvisor.domain.statements import Finding
from nasadvisor.host.errors import OutputUnreadable
from plugins.truenas import PLATFORM_NAME, SUPPORTS
from plugins.truenas.api.access import TrueNasAccess
from plugins.truenas.api.connection import CALL_TIMEOUT_S, Connection, connection_to
from plugins.truenas.api.errors import (
    BAD_KEY,
    DENIED,
    EXPIRED,
    MECHANISM,
    OTHER_NODE,
    SECOND_FACTOR,
    CallRefused,
    LoginRefused,
    VersionOutside,
)

REFUSALS: Final = {
    "AUTH_ERR": BAD_KEY,
    "EXPIRED": EXPIRED,
    "DENIED": DENIED,
    "OTP_REQUIRED": SECOND_FACTOR,
    "REDIRECT": OTHER_NODE,
}
"""The answers of auth.login_ex other than SUCCESS (api/v26_0_0/auth.py, AuthLoginExResult)."""

_NUMBERS: Final = re.compile(r"\d+\.\d+[\w.-]*")


@dataclass(frozen=True)
class Session:
    """Logged in. `host` is its address, `version` that of TrueNAS, e.g. "25.10.1"."""

    connection: Connection
    host: str
    version: str

    def call(self, method: str, *params: object) -> Any:
        """As `Connection.call`."""
        return self.connection.call(method, *params)

    def must_allow_adding(self) -> None:
        """Raises VersionOutside where nothing is added. Taking back is possible there, with a warning."""
        if not SUPPORTS.holds(self.version):
            raise VersionOutside(self.version)

    @property
    def warning_with_undo(self) -> Finding | None:
        """What is said with an undo on a version that this release was not made for."""
        if SUPPORTS.holds(self.version):
            return None
        return said_with_undo(PlatformUntested(PLATFORM_NAME, self.version, SUPPORTS.first, SUPPORTS.before))


Sessions = Callable[[], AbstractContextManager[Session]]
"""Opens a session; called again when one was lost."""


@contextmanager
def session_with(access: TrueNasAccess, timeout_s: float = CALL_TIMEOUT_S) -> Iterator[Session]:
    """Connect and log in.

    Raises:
        HostError: one of those in `errors`; nothing was changed.
    """
    with connection_to(access, timeout_s) as connection:
        _log_in(connection, access)
        version = connection.call("system.version_short")
        if not isinstance(version, str) or not _NUMBERS.fullmatch(version):
            raise OutputUnreadable("TrueNAS (system.version_short)", "it is not a version")
        yield Session(connection, access.host, version)


def _log_in(connection: Connection, access: TrueNasAccess) -> None:
    login = {
        "mechanism": "API_KEY_PLAIN",
        "username": access.user,
        "api_key": access.key,
        "login_options": {"user_info": False},
    }
    try:
        answer = connection.call("auth.login_ex", login)
    except CallRefused as error:
        raise LoginRefused(access.user, MECHANISM) from error
    kind = answer.get("response_type") if isinstance(answer, dict) else None
    if kind == "SUCCESS":
        return
    if kind not in REFUSALS:
        raise OutputUnreadable("TrueNAS (auth.login_ex)", "it says neither that the key is right nor that it is wrong")
    raise LoginRefused(access.user, REFUSALS[kind])
