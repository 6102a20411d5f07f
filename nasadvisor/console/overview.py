"""The first page: is everything all right?"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def overview(request: HttpRequest) -> HttpResponse:
    """Pools, findings and recent runs of the node."""
    return render(request, "console/overview.html", {})
