"""Addresses of hosts."""

from django.urls import path

from nasadvisor.console.fleet import nodes
from nasadvisor.console.fleet import nodes as remote

urlpatterns = [
    path("settings/hosts/add/", remote.add_host, name="add-host"),
    path("settings/hosts/tokens/<int:pk>/take-back/", remote.take_back, name="take-back-token"),
    path("settings/hosts/<str:name>/forget/", nodes.forget, name="forget-node"),
    path("node/", nodes.choose_node, name="choose-node"),
    path("refresh/", nodes.refresh, name="refresh"),
]
