"""The console as an ASGI application: `uvicorn nasadvisor.asgi:application`."""

import gc
import os
import warnings

from django.core.asgi import get_asgi_application
from django.db import connections
from django.urls import get_resolver

from nasadvisor.console.web.connections import BoundedRequests, InTurn

# WhiteNoise reads files in the classic way, which Django adapts; the files are small, so that costs nothing.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nasadvisor.settings")
application = BoundedRequests(InTurn(get_asgi_application()))

# Each request has a thread, and with it a connection, of its own: one that is kept is used by nobody again (Django's
# "Databases", persistent connections), and PostgreSQL has it until somebody collects the garbage.
connections.settings["default"]["CONN_MAX_AGE"] = 0

# All that is loaded now stays. The garbage collector need not look at it again and again: that took 60 ms each time, in
# the middle of whatever page was being made.
list(get_resolver().url_patterns)  # loads the pages
gc.collect()
gc.freeze()
