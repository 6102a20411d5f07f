"""Addresses of the evidence: verdicts, the heat map, measurements, traces, reports of before and after."""

from django.urls import path

from nasadvisor.console.evidence import views
from nasadvisor.console.evidence.commits import commits, start_commits, stop_commits
from nasadvisor.console.evidence.curves import curve, start_curve, stop_curve
from nasadvisor.console.evidence.measuring import measure, measured
from nasadvisor.console.evidence.metadata import metadata, start_count
from nasadvisor.console.evidence.report import report
from nasadvisor.console.evidence.switching import start, stop, switching
from nasadvisor.console.evidence.tracing import trace, waiting

urlpatterns = [
    path("pools/<str:guid>/evidence/", views.pool, name="evidence-pool"),
    path("evidence/<str:guid>/heat/", views.heat, name="evidence-heat"),
    path("evidence/<str:guid>/measure/", measure, name="evidence-measure"),
    path("evidence/<str:guid>/measured/", measured, name="evidence-measured"),
    path("evidence/<str:guid>/trace/", trace, name="evidence-trace"),
    path("evidence/<str:guid>/waiting/", waiting, name="evidence-waiting"),
    path("evidence/<str:guid>/commits/", commits, name="evidence-commits"),
    path("evidence/<str:guid>/commits/start/", start_commits, name="evidence-commits-start"),
    path("evidence/<str:guid>/commits/stop/", stop_commits, name="evidence-commits-stop"),
    path("evidence/<str:guid>/curve/", curve, name="evidence-curve"),
    path("evidence/<str:guid>/curve/start/", start_curve, name="evidence-curve-start"),
    path("evidence/<str:guid>/curve/stop/", stop_curve, name="evidence-curve-stop"),
    path("evidence/<str:guid>/metadata/", metadata, name="evidence-metadata"),
    path("evidence/<str:guid>/metadata/count/", start_count, name="evidence-metadata-count"),
    path("evidence/<str:guid>/switching/", switching, name="evidence-switching"),
    path("evidence/<str:guid>/switching/start/", start, name="evidence-switching-start"),
    path("evidence/<str:guid>/switching/stop/", stop, name="evidence-switching-stop"),
    path("evidence/<str:guid>/report/<uuid:run_id>/", report, name="evidence-report"),
]
