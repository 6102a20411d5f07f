"""The console's addresses."""

from django.urls import include, path

urlpatterns = [path("", include("nasadvisor.console.urls"))]

handler400 = "nasadvisor.console.web.errors.bad_request"
handler403 = "nasadvisor.console.web.errors.permission_denied"
handler404 = "nasadvisor.console.web.errors.page_not_found"
handler500 = "nasadvisor.console.web.errors.server_error"
