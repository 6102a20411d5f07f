"""Addresses of earlier releases, which bookmarks and sent messages still have: each leads to today's for good."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.views.generic import RedirectView

from nasadvisor.console.health.models import LARGE_FIELDS, StoredDisk


class Moved(RedirectView):
    """The page is now under another address; what was asked of it is asked of that too."""

    permanent = True
    query_string = True


def drive(request: HttpRequest, pk: int) -> HttpResponse:
    """The page about the wear of a disk, which was called by our number of it."""
    del request
    return redirect("disk", get_object_or_404(StoredDisk.objects.defer(*LARGE_FIELDS), pk=pk).key, permanent=True)


urlpatterns = [
    path("wear/", Moved.as_view(pattern_name="disks")),
    path("wear/<int:pk>/", drive, name="drive"),
    path("pools/", Moved.as_view(pattern_name="pools")),
    path("evidence/", Moved.as_view(pattern_name="pools")),
    path("evidence/<str:guid>/", Moved.as_view(pattern_name="evidence-pool")),
]
