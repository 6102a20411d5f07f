"""The addresses of disks."""

from django.urls import path

from nasadvisor.console.health.disks import disk_orders, disk_page, disk_table

urlpatterns = [
    path("disks/", disk_table.disks, name="disks"),
    path("wear.csv", disk_orders.wear_csv, name="wear-csv"),
    path("wear/sweep/", disk_orders.sweep_now, name="sweep-now"),
    path("wear/<int:pk>/self-test/", disk_orders.start_self_test, name="drive-self-test"),
    path("wear/<int:pk>/rating/", disk_orders.rate, name="drive-rating"),
    path("wear/<int:pk>/forget/", disk_orders.forget, name="drive-forget"),
    path("disks/<path:key>/", disk_page.disk, name="disk"),
]
