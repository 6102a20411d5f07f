"""The addresses of schedules."""

from django.urls import path

from nasadvisor.console.worker import schedule_pages

urlpatterns = [
    path("settings/schedules/", schedule_pages.schedules, name="schedules"),
    path("settings/schedules/<int:pk>/", schedule_pages.edit, name="schedule"),
]
