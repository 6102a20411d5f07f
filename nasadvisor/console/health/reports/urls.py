"""The addresses of reports."""

from django.urls import path

from nasadvisor.console.health.reports import report_pages

urlpatterns = [
    path("reports/", report_pages.reports, name="reports"),
    path("reports/now/", report_pages.report_page, name="report-now"),
    path("reports/make/", report_pages.make_report, name="report-make"),
    path("reports/<int:pk>.pdf", report_pages.download, name="report"),
]
