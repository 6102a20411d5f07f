"""The addresses for other programs, and those of their tokens."""

from django.urls import path

from nasadvisor.console.health.api import api, metrics, token_pages

urlpatterns = [
    path("settings/tokens/", token_pages.tokens, name="tokens"),
    path("settings/tokens/add/", token_pages.add_token, name="token-add"),
    path("settings/tokens/<int:pk>/delete/", token_pages.delete_token, name="token-delete"),
    path("metrics", metrics.metrics, name="metrics"),
    path(api.ROOT, api.patterns()),
]
