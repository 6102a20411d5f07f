"""What the services that Celery runs hold in memory when they begin: no shell, no page, no library before its time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PLACES = ("NASADVISOR_CONSOLE_STATE", "NASADVISOR_HOST_STATE", "NASADVISOR_RUN_DIR", "NASADVISOR_HOST_RUN_DIR")
NOT_NEEDED = ("celery.bin.celery", "cryptography.hazmat.bindings._rust", "ninja", "prompt_toolkit", "uvicorn")
BEGAN = 3
PROGRAM = f"""
import runpy, sys
from celery.apps import worker

def begin(self):
    print(*sorted(set(sys.modules) & set(sys.argv[2:])))
    sys.exit({BEGAN})

worker.Worker.start = begin
runpy.run_module(sys.argv[1], run_name="__main__")
"""


@pytest.fixture(autouse=True)
def no_commands() -> None:
    """Overrides the one for all other unit tests: a process of its own is what is looked at."""


@pytest.mark.parametrize("service", ["nasadvisor.console.worker.__main__", "nasadvisor.host.worker"])
def test_a_service_begins_without_what_it_may_never_need(service: str, tmp_path: Path) -> None:
    environment = {**os.environ, **dict.fromkeys(PLACES, str(tmp_path))}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, "-c", PROGRAM, service, *NOT_NEEDED]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (BEGAN, []), done.stderr
