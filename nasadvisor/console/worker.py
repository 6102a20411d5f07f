"""The worker of the console: `python -m nasadvisor.console.worker`."""

from nasadvisor.console.celery_app import app
from nasadvisor.starting import run_worker

THREADS = 2

if __name__ == "__main__":
    run_worker(app, "console", THREADS, "WARNING")
