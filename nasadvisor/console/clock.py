"""The clock: `celery --app nasadvisor.console.clock beat`.

It sends tasks by their names, so it loads none of them, nor what they need: a fifth of its memory.
"""

from nasadvisor.console.celery_app import app

__all__ = ["app"]

app.conf.include = ()
