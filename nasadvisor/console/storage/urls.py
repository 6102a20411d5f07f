"""Addresses of pools and disks, but for the page of one pool, which shows what all rooms know."""

from django.urls import path

from nasadvisor.console.storage import disks, pools

urlpatterns = [
    path("pools/", pools.pools, name="pools"),
    path("disks/", disks.disks, name="disks"),
    path("disks/<path:key>/", disks.disk, name="disk"),
]
