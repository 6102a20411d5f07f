"""Telling the web console, where there is one, of a run on the command line."""

from pathlib import Path
from typing import Final

from nasadvisor.domain.fleet.joining import host_queue
from nasadvisor.host.config import HostConfig

SOCKET_SCHEME: Final = "redis+socket://"
EXPIRES_S: Final = 600


def report_run(config: HostConfig, run_id: str) -> None:
    """Ask this host's worker to report a run to the console. Nothing happens where nobody can be reached.

    The console then follows the run by itself; the worker also reports every run whenever it starts.
    """
    is_here = config.access is None and config.redis_url.startswith(SOCKET_SCHEME)
    if is_here and not _socket_of(config.redis_url).exists():
        return
    from nasadvisor.domain.fleet.questions import REPORT_RUN  # noqa: PLC0415 - slow to load, and seldom needed
    from nasadvisor.host.console_link import UNREACHABLE, celery_app  # noqa: PLC0415

    app = celery_app(config)
    try:
        app.send_task(REPORT_RUN.task, [run_id], queue=host_queue(config.node), expires=EXPIRES_S, retry=False)
    except UNREACHABLE:
        return


def _socket_of(url: str) -> Path:
    return Path(url.removeprefix(SOCKET_SCHEME).partition("?")[0])
