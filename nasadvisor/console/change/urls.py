"""Addresses of the wizard, runs and history."""

from django.urls import path

from nasadvisor.console.change.runs import history
from nasadvisor.console.change.runs import views as runs
from nasadvisor.console.change.wizard import apply, without_choice
from nasadvisor.console.change.wizard import views as wizard

urlpatterns = [
    path("wizard/", wizard.pools, name="wizard"),
    path("wizard/<str:pool_guid>/", wizard.start, name="wizard-start"),
    path("wizard/<str:pool_guid>/devices/", wizard.devices, name="wizard-devices"),
    path("wizard/<str:pool_guid>/devices/answer/", wizard.devices_answer, name="wizard-answer"),
    path("logs/<str:pool_guid>/<str:log_guid>/take-out/", without_choice.take_log_out, name="log-take-out"),
    path("caches/<str:pool_guid>/<str:cache_guid>/take-out/", without_choice.take_cache_out, name="cache-take-out"),
    path("plans/<uuid:plan_id>/", apply.review, name="wizard-review"),
    path("runs/", history.history, name="history"),
    path("runs/<uuid:run_id>/", runs.detail, name="run-detail"),
    path("runs/<uuid:run_id>/fragment/", runs.fragment, name="run-fragment"),
    path("runs/<uuid:run_id>/undo/", runs.undo, name="run-undo"),
    path("runs/<uuid:run_id>/finish/", runs.finish, name="run-finish"),
    path("runs/<uuid:run_id>/keep/", runs.keep, name="run-keep"),
    path("runs/<uuid:plan_id>/proof/", apply.proof, name="wizard-proof"),
]
