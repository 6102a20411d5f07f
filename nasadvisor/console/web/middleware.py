"""By which names the pages may be asked for: this host's own, its addresses, and those that a setting names; and that
nobody keeps them.

A page of somebody else can make a browser ask for ours by a name of theirs that leads here ("DNS rebinding"), and
would read the answer as its own. An address cannot be made to lead elsewhere, so each is taken; a name must be known.
What was shown to somebody who is signed in stays with them: no browser and no proxy keeps it.
"""

from collections.abc import Callable
from ipaddress import ip_address
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port, validate_host
from django.shortcuts import render
from django.utils import translation
from django.utils.cache import patch_cache_control

MISDIRECTED: Final = 421
"""RFC 9110, 15.5.20: this server does not answer for that name."""


class KnownNames:
    """Middleware: answers to another name with a page that says which setting lets it in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        name, _port = split_domain_port(request.get_host())
        # Where tests are run Django puts their name into the second.
        known = [*settings.HOST_NAMES, *(each for each in settings.ALLOWED_HOSTS if each != "*")]
        if is_address(name) or validate_host(name, known):
            return self.get_response(request)
        with translation.override(translation.get_language_from_request(request)):
            return render(request, "registration/other_name.html", {"name": name}, status=MISDIRECTED)


def is_address(name: str) -> bool:
    """Whether what stands for a host in an address of a page is an IP address."""
    try:
        ip_address(name.strip("[]").partition("%")[0])
    except ValueError:
        return False
    return True


class PrivatePages:
    """Middleware: says so of every answer but files, which WhiteNoise has answered before it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        patch_cache_control(response, no_store=True, private=True)
        return response
