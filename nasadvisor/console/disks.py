"""The pages about disks."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def disks(request: HttpRequest) -> HttpResponse:
    """All disks of the node."""
    return render(request, "console/overview.html", {"section": "disks"})
