"""The addresses of disks, of alerts and their channels, of reports, and those for other programs."""

from django.urls import path

from nasadvisor.console.health.alerts import alert_pages, channel_pages, home_assistant_page, procedure_pages
from nasadvisor.console.health.api import api, metrics, token_pages
from nasadvisor.console.health.disks import disk_page, disk_table, replace_page
from nasadvisor.console.health.reports import reports

urlpatterns = [
    path("disks/", disk_table.disks, name="disks"),
    path("wear.csv", disk_table.wear_csv, name="wear-csv"),
    path("wear/sweep/", disk_table.sweep_now, name="sweep-now"),
    path("wear/<int:pk>/self-test/", disk_table.start_self_test, name="drive-self-test"),
    path("wear/<int:pk>/rating/", disk_table.rate, name="drive-rating"),
    path("wear/<int:pk>/forget/", disk_table.forget, name="drive-forget"),
    path("disks/<path:key>/", disk_page.disk, name="disk"),
    path("replace/<str:guid>/", replace_page.replace, name="replace"),
    path("alerts/", alert_pages.alerts, name="alerts"),
    path("alerts/acknowledge/", alert_pages.acknowledge_several, name="alerts-acknowledge"),
    path("alerts/<int:pk>/acknowledge/", alert_pages.acknowledge, name="alert-acknowledge"),
    path("steps/<slug:name>/", procedure_pages.procedure, name="procedure"),
    path("settings/alerts/", channel_pages.channels, name="channels"),
    path("settings/alerts/add/", channel_pages.add, name="channel-add"),
    path("settings/alerts/delivery/", channel_pages.delivery, name="alert-delivery"),
    path("settings/alerts/home-assistant/", home_assistant_page.home_assistant, name="home-assistant"),
    path("settings/alerts/<int:pk>/", channel_pages.edit, name="channel"),
    path("settings/alerts/<int:pk>/test/", channel_pages.test, name="channel-test"),
    path("settings/alerts/<int:pk>/delete/", channel_pages.delete, name="channel-delete"),
    path("reports/", reports.reports, name="reports"),
    path("reports/now/", reports.report_page, name="report-now"),
    path("reports/make/", reports.order_report, name="report-make"),
    path("reports/<int:pk>.pdf", reports.download, name="report"),
    path("settings/tokens/", token_pages.tokens, name="tokens"),
    path("settings/tokens/add/", token_pages.add_token, name="token-add"),
    path("settings/tokens/<int:pk>/delete/", token_pages.delete_token, name="token-delete"),
    path("metrics", metrics.metrics, name="metrics"),
    path(api.ROOT, api.patterns()),
]
