"""The platforms that the console is on, and whom they know. The only place where the console asks an integration.

What a platform says of somebody is believed for a minute, by a keyed digest of their cookies: the cookies themselves
are kept nowhere.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from django.core.cache import cache as memory
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from nasadvisor.domain.fleet.platforms import PlatformReport
from nasadvisor.domain.statements import Statement
from plugins.contract.console import ConsolePlatform, Visitor
from plugins.registry import find

log = logging.getLogger(__name__)

BELIEVED_S: Final = 60
"""Pages ask every second while a run goes on; nobody keeps an access that was withdrawn for longer than this."""


@dataclass(frozen=True)
class Recognised:
    """Somebody whom a platform knows."""

    platform: ConsolePlatform
    visitor: Visitor


@cache
def detected() -> tuple[ConsolePlatform, ...]:
    """The platforms that this console is on; that does not change while a process lives."""
    found = find("console")
    for each in found:
        if each.platform is None:
            log.error("the platform integration %s cannot be used: %s", each.package, each.problem)
    return tuple(each.platform for each in found if each.platform is not None and each.platform.detect())


@cache
def known() -> Mapping[str, ConsolePlatform]:
    """Each platform that can be known here by its name, also where the console is not on it."""
    return {each.platform.name: each.platform for each in find("console") if each.platform is not None}


def said_during_runs(report: PlatformReport) -> tuple[Statement, ...]:
    """What the platforms of a host want known while a run is on there."""
    return tuple(filter(None, (each.during_runs for each in _known_on(report))))


def scrub_advice(report: PlatformReport) -> Statement | None:
    """Who plans scrubs on a host's platform, if that is another than OpenZFS's own timer."""
    return next(filter(None, (each.scrub_advice for each in _known_on(report))), None)


def _known_on(report: PlatformReport) -> Iterator[ConsolePlatform]:
    return (known()[each.name] for each in report.platforms if each.name in known())


def named(name: str) -> ConsolePlatform | None:
    """The platform with this name, if the console is on it."""
    return next((platform for platform in detected() if platform.name == name), None)


def recognise(request: HttpRequest) -> Recognised | None:
    """Whom a platform knows by the cookies of a request; asked at most once a minute.

    Raises:
        PlatformSilent: a platform whose cookie is there did not answer.
    """
    for platform in detected():
        cookies = cookies_for(platform, request)
        if not cookies:
            continue
        said = json.dumps(cookies, sort_keys=True)
        key = salted_hmac(f"platform {platform.name}", said, algorithm="sha256").hexdigest()
        found: tuple[Visitor | None] | None = memory.get(key)
        if found is None:
            found = (platform.authenticate(cookies),)
            memory.set(key, found, BELIEVED_S)
        if found[0]:
            return Recognised(platform, found[0])
    return None


def cookies_for(platform: ConsolePlatform, request: HttpRequest) -> dict[str, str]:
    """Those cookies of a request that are the platform's."""
    return {name: request.COOKIES[name] for name in platform.cookies if name in request.COOKIES}
