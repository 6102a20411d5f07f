"""Addresses of earlier releases, which bookmarks and sent messages still have: each leads to today's for good.

Names that templates and code use stay with today's pages; what is here is only ever asked for from outside.
"""

from django.urls import path
from django.views.generic import RedirectView


class Moved(RedirectView):
    """The page is now under another address; what was asked of it is asked of that too."""

    permanent = True
    query_string = True


urlpatterns = [
    path("pools/", Moved.as_view(pattern_name="pools")),
    path("evidence/", Moved.as_view(pattern_name="pools")),
    path("evidence/<str:guid>/", Moved.as_view(pattern_name="evidence-pool")),
]
