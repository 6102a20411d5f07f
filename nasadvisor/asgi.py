"""The console as an ASGI application: `uvicorn nasadvisor.asgi:application`."""

import os
import warnings

from django.core.asgi import get_asgi_application

# WhiteNoise reads files in the classic way, which Django adapts; the files are small, so that costs nothing.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nasadvisor.settings")
application = get_asgi_application()
