"""The Celery app of the console, for its worker and its pages.

Documents only, as JSON. No result backend: hosts publish what they have to say to the queue `console`.
"""

import os

from celery import Celery
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nasadvisor.settings")
# Django's checks would load every page into the worker, which needs none (13 MiB).
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

QUEUE = "console"

app = Celery(
    "console",
    broker=settings.BROKER_URL,
    include=["nasadvisor.console.worker.tasks"],
    task_cls="nasadvisor.console.web.sanitise:SanitisedTask",
    set_as_current=True,
)
app.conf.update(
    task_default_queue=QUEUE,
    task_serializer="json",
    accept_content=["json"],
    task_ignore_result=True,
    task_acks_late=False,
    task_time_limit=60,
    timezone="UTC",
    enable_utc=True,
    beat_scheduler="nasadvisor.console.worker.beat_scheduler:WatchedScheduler",
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    # A page that cannot reach Redis says so at once instead of trying for long.
    broker_transport_options={
        "socket_connect_timeout": 3,
        "socket_timeout": 10,
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0.2,
    },
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
)
