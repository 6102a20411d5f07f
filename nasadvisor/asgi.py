"""The console as an ASGI application: `uvicorn nasadvisor.asgi:application`."""

import gc
import os
import warnings

from django.core.asgi import get_asgi_application
from django.urls import get_resolver

from nasadvisor.console.bounded import BoundedRequests

# WhiteNoise reads files in the classic way, which Django adapts; the files are small, so that costs nothing.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nasadvisor.settings")
application = BoundedRequests(get_asgi_application())

# All that is loaded now stays. The garbage collector need not look at it again and again: that took 60 ms each time, in
# the middle of whatever page was being made.
list(get_resolver().url_patterns)  # loads the pages
gc.collect()
gc.freeze()
