"""A console with a database of its own, for benchmarks of pages."""

import atexit
import os
import shutil
import statistics
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any, Final

TIMES: Final = 40
OK: Final = 200


@cache
def console_folder() -> Path:
    """Set Django up once in this process; the folder goes with it."""
    folder = Path(tempfile.mkdtemp(prefix="nasadvisor-bench-"))
    atexit.register(shutil.rmtree, folder)
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "nasadvisor.settings",
        "NASADVISOR_CONSOLE_STATE": str(folder),
        "NASADVISOR_ALLOWED_HOSTS": "testserver",  # what Django's client calls it
    }
    import django  # noqa: PLC0415 - the settings above must come first

    django.setup()
    from django.conf import settings  # noqa: PLC0415
    from django.core.management import call_command  # noqa: PLC0415

    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    call_command("migrate", interactive=False, verbosity=0)
    return folder


def signed_in(**headers: str) -> Any:
    """A test client of somebody who may see everything."""
    from django.contrib.auth.models import User  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415

    user, _ = User.objects.get_or_create(username="bench", is_superuser=True)
    client = Client(headers=headers)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def p95_ms(client: Any, path: str) -> tuple[float, float]:
    """Milliseconds in the server after the first request, by the clock and by the processor.

    The two differ where something else keeps the machine busy.
    """
    took, cpu = [], []
    for _ in range(TIMES + 1):
        began, cpu_began = time.perf_counter(), time.process_time()
        response = client.get(path)
        took.append((time.perf_counter() - began) * 1000)
        cpu.append((time.process_time() - cpu_began) * 1000)
        if response.status_code != OK:
            raise RuntimeError(f"{path}: {response.status_code}")
    return statistics.quantiles(took[1:], n=20)[-1], statistics.quantiles(cpu[1:], n=20)[-1]
