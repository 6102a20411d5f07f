"""Addresses of the wizard, runs and history."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
