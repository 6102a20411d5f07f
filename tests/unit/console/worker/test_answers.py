"""The catalogue and the console: every answer and error is stored by somebody, and nobody asks beyond their role."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from nasadvisor.console.accounts.roles import UserRole, set_role
from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.worker import inbox
from nasadvisor.console.worker.answers import BY_NAME, BY_VERB, ERRORS, KEPT, take_answer, take_error
from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.fleet.messages import Message, NotAccepted
from nasadvisor.domain.fleet.questions import ANSWER_TASK, ERROR_TASK, QUESTIONS, Asker, Question
from nasadvisor.domain.statements import Statement
from nasadvisor.stored.documents import DocumentError, to_document
from nasadvisor.stored.kinds import own_schema_versions
from tests.unit.console.conftest import Sent
from tests.unit.console.test_records import run_at
from tests.unit.machines import home_server

WHY = to_document(Statement("silent", "zpool did not answer."))


def test_what_hosts_answer_is_stored_and_nothing_else_is() -> None:
    assert {kept.form for kept in KEPT} == {form for question in QUESTIONS for form in question.answers}
    assert len(BY_NAME) == len(KEPT)
    assert set(ERRORS) == {question for question in QUESTIONS if question.about}


@pytest.mark.parametrize("name", ["plan", "nothing", ""])
def test_an_answer_to_no_question_is_refused(name: str) -> None:
    with pytest.raises(DocumentError, match="no answer is called"):
        take_answer("nas", name, {})


@pytest.mark.parametrize("verb", ["sample", "stop_curve", "nothing", ""])
def test_an_error_of_no_question_is_refused(verb: str) -> None:
    with pytest.raises(DocumentError, match="no question is called"):
        take_error("nas", verb, "", WHY)


@pytest.mark.django_db
@pytest.mark.parametrize("verb", sorted(BY_VERB))
def test_an_error_that_says_nothing_or_is_about_no_text_is_refused(verb: str) -> None:
    with pytest.raises(DocumentError):
        take_error("nas", verb, "", {"code": "x"})
    about: Any = ["x"]
    with pytest.raises(DocumentError):
        take_error("nas", verb, about, WHY)
    assert not Node.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("inventory", home_server()),
        ("run", run_at(1, RunState.APPLYING)),
        ("schema-versions", own_schema_versions("nas")),
    ],
)
def test_no_host_answers_for_another(name: str, answer: Any) -> None:
    with pytest.raises(ValueError, match=f"The {name} of nas came from other"):
        take_answer("other", name, to_document(answer))
    assert not Node.objects.exists()


MESSAGES = [
    (ANSWER_TASK, ("nas",)),
    (ANSWER_TASK, ("nas", ["run"], {})),
    (ANSWER_TASK, ("nas", "plan", {})),
    (ERROR_TASK, ("nas", "sample", "", WHY)),
    (ERROR_TASK, ("nas", {}, "", WHY)),
    ("console.prune", ("nas", "run", {})),
]


@pytest.mark.parametrize(("task", "arguments"), MESSAGES)
def test_a_message_of_anything_else_is_dropped(
    task: str, arguments: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "read_message", lambda _raw: Message(task, arguments, {}))
    with pytest.raises(NotAccepted, match="hosts do not send"):
        inbox.message_of("nas", b"")


@pytest.mark.django_db
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.verb)
@pytest.mark.parametrize("role", UserRole)
def test_nobody_asks_beyond_their_role(role: UserRole, question: Question, sent: list[Sent]) -> None:
    """Whatever page it is asked from. The catalogue says who may; the console itself may ask everything."""
    node, user = Node.objects.create(name="nas"), User.objects.create(username="anna")
    set_role(user, role)
    may = {Asker.VIEWER: True, Asker.OPERATOR: role is not UserRole.VIEWER, Asker.NOBODY: False}[question.may_ask]
    if may:
        hosts.ask(node, question, by=user)
        assert sent[-1].args in ([], ["anna"])
    else:
        with pytest.raises(PermissionDenied):
            hosts.ask(node, question, by=user)
        assert sent == []
    hosts.ask(node, question, by=None)
    assert (sent[-1].task, sent[-1].expires) == (question.task, question.wanted_s)
    assert sent[-1].args in ([], ["schedule"])


def test_viewers_may_ask_a_host_to_read_itself_and_nothing_more() -> None:
    """Nothing is opened to them by a slip of the catalogue."""
    assert [question.verb for question in QUESTIONS if question.may_ask is Asker.VIEWER] == ["read_inventory"]
