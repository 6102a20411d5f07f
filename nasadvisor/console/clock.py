"""The clock: `python -m nasadvisor.console.clock`.

It sends tasks by their names, so it loads none of them, nor what they need: a fifth of its memory.
"""

from nasadvisor.console.celery_app import app
from nasadvisor.starting import run_clock

__all__ = ["app"]

app.conf.include = ()

if __name__ == "__main__":
    run_clock(app)
