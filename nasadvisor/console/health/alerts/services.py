"""Services that have a form of their own: what they call an address and a token, as the address that Apprise knows."""

from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from django.utils.translation import gettext as _

from nasadvisor.console.health.alerts.models import ChannelKind
from nasadvisor.domain.statements import Level

TYPES: Final = {Level.INFO: "info", Level.WARNING: "warning", Level.CRITICAL: "failure"}
"""How Apprise calls our levels; it stands as `type` in what a webhook gets."""

PRIORITIES: Final = {
    ChannelKind.NTFY: {Level.INFO: "low", Level.WARNING: "default", Level.CRITICAL: "high"},
    ChannelKind.GOTIFY: {Level.INFO: "low", Level.WARNING: "normal", Level.CRITICAL: "high"},
}
SCHEMES: Final = {ChannelKind.NTFY: "ntfy", ChannelKind.GOTIFY: "gotify", ChannelKind.WEBHOOK: "json"}
"""Of Apprise, with an s where the service is reached by https."""


class NoServiceAddress(ValueError):  # noqa: N818 - named for what it is
    """What was typed does not say where a service is; `str(error)` says what is missing."""


def service_address(kind: str, typed: str, level: Level = Level.INFO) -> str:
    """The address for Apprise of a service whose own address, and its token if it has one, were typed.

    Raises:
        NoServiceAddress: it is no address of the web, or the token is missing.
    """
    if kind not in SCHEMES:
        return typed
    service = ChannelKind(kind)
    address, *token = typed.split() or [""]
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or len(token) > 1:
        raise NoServiceAddress(_("Enter an address that begins with https://, and a token after a space if needed."))
    secret = quote(token[0], safe="") if token else ""
    scheme, place, options = SCHEMES[service] + parts.scheme[4:], parts.netloc, dict[str, str]()
    path = parts.path.strip("/")
    if service in PRIORITIES:
        options["priority"] = PRIORITIES[service][level]
    if service is ChannelKind.NTFY:
        if not path or "/" in path:
            raise NoServiceAddress(_("The address must end with the topic, such as https://ntfy.sh/my-topic."))
        place = f"{secret}@{place}" if secret else place
    elif service is ChannelKind.GOTIFY:
        if not secret:
            raise NoServiceAddress(_("The token of an application is missing. Gotify shows it under Apps."))
        path = f"{path}/{secret}".lstrip("/")
    else:
        path = parts.path.lstrip("/")
        options |= {f"-{name}": value for name, value in parse_qsl(parts.query, keep_blank_values=True)}
        options |= {"+Authorization": f"Bearer {token[0]}"} if token else {}
    return f"{scheme}://{place}/{path}" + (f"?{urlencode(options, quote_via=quote)}" if options else "")
