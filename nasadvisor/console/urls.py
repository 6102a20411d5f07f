"""The addresses of pages; those of the wizard, runs and history are in `wizard_urls`."""

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LogoutView
from django.urls import include, path
from django.views.i18n import set_language

from nasadvisor.console import about, explain, overview
from nasadvisor.console.evidence import views as evidence
from nasadvisor.console.evidence.measuring import measure, measured
from nasadvisor.console.evidence.report import report
from nasadvisor.console.evidence.tracing import trace, waiting
from nasadvisor.console.fleet import accounts, nodes, users
from nasadvisor.console.fleet.remote import pages as remote
from nasadvisor.console.storage import disks, pools

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("pools/", pools.pools, name="pools"),
    path("pools/<str:guid>/", pools.pool, name="pool"),
    path("evidence/", evidence.evidence, name="evidence"),
    path("evidence/<str:guid>/", evidence.pool, name="evidence-pool"),
    path("evidence/<str:guid>/heat/", evidence.heat, name="evidence-heat"),
    path("evidence/<str:guid>/measure/", measure, name="evidence-measure"),
    path("evidence/<str:guid>/measured/", measured, name="evidence-measured"),
    path("evidence/<str:guid>/trace/", trace, name="evidence-trace"),
    path("evidence/<str:guid>/waiting/", waiting, name="evidence-waiting"),
    path("evidence/<str:guid>/report/<uuid:run_id>/", report, name="evidence-report"),
    path("disks/", disks.disks, name="disks"),
    path("disks/<path:key>/", disks.disk, name="disk"),
    path("explain/", explain.explain_all, name="explain"),
    path("explain/<slug:code>/", explain.explain, name="explain-code"),
    path("settings/", about.settings_page, name="settings"),
    path("settings/users/", users.users, name="users"),
    path("settings/users/<int:user_id>/role/", users.change_role, name="user-role"),
    path("settings/users/<int:user_id>/active/", users.toggle_active, name="user-active"),
    path("settings/users/<int:user_id>/password/", users.reset_password, name="user-password"),
    path("settings/hosts/add/", remote.add_host, name="add-host"),
    path("settings/hosts/tokens/<int:pk>/take-back/", remote.take_back, name="take-back-token"),
    path("settings/hosts/<str:name>/forget/", nodes.forget, name="forget-node"),
    path("node/", nodes.choose_node, name="choose-node"),
    path("refresh/", nodes.refresh, name="refresh"),
    path("login/", accounts.SignIn.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("password/", accounts.ChangePassword.as_view(), name="password_change"),
    path("setup/<str:token>/", accounts.setup, name="setup"),
    path("language/", login_not_required(set_language), name="set_language"),
    path("", include("nasadvisor.console.health.urls")),
    path("", include("nasadvisor.console.change.urls")),
]
