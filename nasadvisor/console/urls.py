"""The addresses of pages."""

from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from django.views.i18n import set_language

from nasadvisor.console import about, disks, nodes, overview, pools

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("pools/", pools.pools, name="pools"),
    path("disks/", disks.disks, name="disks"),
    path("settings/", about.settings_page, name="settings"),
    path("node/", nodes.choose_node, name="choose-node"),
    path("refresh/", nodes.refresh, name="refresh"),
    path("login/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("password/", auth.PasswordChangeView.as_view(success_url="/"), name="password_change"),
    path("language/", login_not_required(set_language), name="set_language"),
    path("", include("nasadvisor.console.wizard_urls")),
]
