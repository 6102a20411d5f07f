"""The worker of the console and its clock load what they need and no page; the clock not even the tasks."""

from importlib import import_module, reload
from typing import NoReturn

import pytest

from nasadvisor.console import tasks
from nasadvisor.console.celery_app import app
from tests.fixtures.machines.build import typical
from tests.unit.console.test_pages import load


def test_a_start_does_not_run_the_checks_that_load_every_page(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.setattr("django.core.checks.run_checks", lambda: ran.append("checks"))
    import_module("celery.fixups.django").DjangoWorkerFixup(app).validate_models()
    assert ran == []


def test_the_worker_loads_the_tasks_and_the_clock_does_not() -> None:
    loaded = app.conf.include
    assert loaded == ["nasadvisor.console.tasks"]
    try:
        assert reload(import_module("nasadvisor.console.clock")).app is app
        assert not app.conf.include
    finally:
        app.conf.include = loaded


def test_what_the_worker_does_by_itself_looks_for_no_address_of_a_page(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proves: looking over the hosts, where the first steps are not done, does not load the pages."""

    def looked(*_: object) -> NoReturn:
        raise AssertionError

    load(typical())
    monkeypatch.setattr("django.urls.base.get_resolver", looked)
    tasks.watch_over()
