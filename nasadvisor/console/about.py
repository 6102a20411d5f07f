"""The settings page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def settings_page(request: HttpRequest) -> HttpResponse:
    """Versions, nodes, users."""
    return render(request, "console/overview.html", {"section": "settings"})
