"""The addresses of pages that show what all rooms know, and of schedules; each other room has its own in its `urls`."""

from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from django.views.i18n import set_language

from nasadvisor.console.fleet import nodes
from nasadvisor.console.home import frame, overview, pool_page, scrubs, support
from nasadvisor.console.web import documentation
from nasadvisor.console.wording import explain
from nasadvisor.console.worker import schedules

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("first-hour/close/", overview.close_first_hour, name="first-hour-close"),
    path("storage/", pool_page.pools, name="pools"),
    path("pools/<str:guid>/", pool_page.pool, name="pool"),
    path("pools/<str:guid>/scrub/", scrubs.start_scrub, name="pool-scrub"),
    path("pools/<str:guid>/history/", pool_page.history, name="pool-history"),
    path("explain/", explain.explain_all, name="explain"),
    path("explain/<slug:code>/", explain.explain, name="explain-code"),
    path("settings/", nodes.settings_page, name="settings"),
    path("settings/support/", support.support_bundle, name="support-bundle"),
    path("settings/schedules/", schedules.schedules, name="schedules"),
    path("settings/schedules/<int:pk>/", schedules.edit, name="schedule"),
    path("documentation/<path:name>", documentation.documentation, name="documentation"),
    path("preview/", frame.progress, name="preview"),
    path("language/", login_not_required(set_language), name="set_language"),
    path("", include("nasadvisor.console.evidence.urls")),
    path("", include("nasadvisor.console.health.urls")),
    path("", include("nasadvisor.console.change.urls")),
    path("", include("nasadvisor.console.fleet.urls")),
    path("", include("nasadvisor.console.accounts.urls")),
]
