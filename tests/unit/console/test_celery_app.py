"""The worker of the console and its clock load what they need and no page."""

from importlib import import_module

import pytest

from nasadvisor.console.celery_app import app


def test_a_start_does_not_run_the_checks_that_load_every_page(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.setattr("django.core.checks.run_checks", lambda: ran.append("checks"))
    import_module("celery.fixups.django").DjangoWorkerFixup(app).validate_models()
    assert ran == []
