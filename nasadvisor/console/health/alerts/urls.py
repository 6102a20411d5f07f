"""The addresses of alerts and of the channels by which they are told."""

from django.urls import path

from nasadvisor.console.health.alerts import alert_pages, channel_pages

urlpatterns = [
    path("alerts/", alert_pages.alerts, name="alerts"),
    path("alerts/<int:pk>/acknowledge/", alert_pages.acknowledge, name="alert-acknowledge"),
    path("settings/alerts/", channel_pages.channels, name="channels"),
    path("settings/alerts/add/", channel_pages.add, name="channel-add"),
    path("settings/alerts/delivery/", channel_pages.delivery, name="alert-delivery"),
    path("settings/alerts/<int:pk>/", channel_pages.edit, name="channel"),
    path("settings/alerts/<int:pk>/test/", channel_pages.test, name="channel-test"),
    path("settings/alerts/<int:pk>/delete/", channel_pages.delete, name="channel-delete"),
]
