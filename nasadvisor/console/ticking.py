"""The clock's schedule, which says at each tick that the clock still goes. Apart from `clock`: it needs the models."""

from typing import Any

from django_celery_beat.schedulers import DatabaseScheduler

from nasadvisor.alive import say_alive


class TickingScheduler(DatabaseScheduler):  # type: ignore[misc]  # it has no types
    """django-celery-beat's own schedule."""

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send what is due; how many seconds to wait until the next tick, five at most."""
        say_alive()
        seconds: float = super().tick(*args, **kwargs)
        return seconds
