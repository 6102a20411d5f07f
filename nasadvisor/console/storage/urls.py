"""Addresses of disks; the pages of pools show what all rooms know."""

from django.urls import path

from nasadvisor.console.storage import disks

urlpatterns = [
    path("disks/", disks.disks, name="disks"),
    path("disks/<path:key>/", disks.disk, name="disk"),
]
