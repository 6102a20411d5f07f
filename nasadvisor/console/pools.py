"""The pages about pools."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def pools(request: HttpRequest) -> HttpResponse:
    """All pools of the node."""
    return render(request, "console/overview.html", {"section": "pools"})
