"""Start a worker of Celery.

Celery's command line is not used: it loads a shell and its editor too, 7 MiB that each of two services would hold.
"""

import sys
from typing import NoReturn

from celery import Celery
from celery.utils.nodenames import host_format


def run_worker(app: Celery, name: str, threads: int, loglevel: str) -> NoReturn:
    """Take messages from the app's queue until the process is told to end, as NAME@HOST in Celery's own words."""
    worker = app.Worker(
        hostname=host_format(f"{name}@%h"),
        pool_cls="threads",
        concurrency=threads,
        loglevel=loglevel,
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    sys.exit(worker.exitcode)
