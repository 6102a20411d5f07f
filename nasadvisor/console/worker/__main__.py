"""The worker of the console, and its clock: `python -m nasadvisor.console.worker`."""

from nasadvisor.console.celery_app import app
from nasadvisor.console.worker.clock import Clock
from nasadvisor.runtime.starting import run_worker

THREADS = 2

app.steps["worker"].add(Clock)

if __name__ == "__main__":
    run_worker(app, "console", THREADS, "WARNING")
