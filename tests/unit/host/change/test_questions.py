"""The catalogue and the host: each question has its reader, and each answer a form with a number."""

import pytest

from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.fleet.questions import ASKER, QUESTIONS, Asker, Question
from nasadvisor.host.config import config_from
from nasadvisor.host.console_link import celery_app
from nasadvisor.host.tasks import HostTasks
from nasadvisor.stored.kinds import name_of
from tests.unit.host.change.conftest import Bench
from tests.unit.host.change.test_tasks import health, refuse, untraced


def test_every_question_has_a_reader_and_nothing_else_has(bench: Bench) -> None:
    app = celery_app(config_from({"NASADVISOR_NODE": "nas"}))
    tasks = HostTasks(app, "nas", bench.executor.inventory, bench.host, Reading, refuse, health(bench), untraced)
    assert set(tasks.readers) == set(QUESTIONS)
    assert len({question.verb for question in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.verb)
def test_every_answer_has_a_name_of_its_own_form(question: Question) -> None:
    assert all(name_of(form) for form in question.answers)


@pytest.mark.parametrize("question", [each for each in QUESTIONS if each.groups], ids=lambda each: each.verb)
def test_what_does_more_than_look_is_asked_by_operators_only_and_tells_of_its_errors(question: Question) -> None:
    assert question.may_ask is Asker.OPERATOR
    assert question.about is not None


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.verb)
def test_who_asks_is_said_last_if_at_all(question: Question) -> None:
    """The console fills it in behind what was given."""
    assert ASKER not in question.arguments[:-1]
