"""The worker of the console loads what it needs and no page."""

from importlib import import_module
from typing import NoReturn

import pytest

from nasadvisor.console.celery_app import app
from nasadvisor.console.worker import tasks
from tests.fixtures.machines.build import typical
from tests.unit.console.test_pages import load


def test_a_start_does_not_run_the_checks_that_load_every_page(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.setattr("django.core.checks.run_checks", lambda: ran.append("checks"))
    import_module("celery.fixups.django").DjangoWorkerFixup(app).validate_models()
    assert ran == []


def test_the_worker_loads_the_tasks() -> None:
    assert app.conf.include == ["nasadvisor.console.worker.tasks"]


def test_what_the_worker_does_by_itself_looks_for_no_address_of_a_page(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proves: looking over the hosts, where the first steps are not done, does not load the pages."""

    def looked(*_: object) -> NoReturn:
        raise AssertionError

    load(typical())
    monkeypatch.setattr("django.urls.base.get_resolver", looked)
    tasks.watch_over()
