"""The console as an ASGI application: `uvicorn nasadvisor.asgi:application`."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nasadvisor.settings")
application = get_asgi_application()
