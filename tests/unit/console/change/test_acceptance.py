"""What has to be ticked before a plan is applied, and what a tick stands for."""

import pytest
from django.http import QueryDict

from nasadvisor.console.change.wizard.acceptance import Risk, risks_in
from nasadvisor.console.change.wizard.forms import ApplyForm
from nasadvisor.domain.statements import Finding, Level

SINGLE = Finding("single-log", "If {disk} dies, writes are lost.", {"disk": "A"}, Level.CRITICAL)
WORN = Finding("worn", "{disk} is worn out.", {"disk": "A"}, Level.CRITICAL)
WARNING, INFO = (Finding("hot", "It is hot.", {}, level) for level in (Level.WARNING, Level.INFO))


def test_only_what_is_critical_is_to_be_ticked_in_the_order_in_which_it_is_said() -> None:
    assert risks_in([WARNING, WORN, INFO, SINGLE]) == (Risk(WORN), Risk(SINGLE))
    assert risks_in([WARNING, INFO]) == ()


def test_the_same_sentence_is_ticked_once_and_another_by_itself() -> None:
    """Also one that differs in a value alone: who accepts that disk A dies has not accepted that B does."""
    other = Finding("worn", "{disk} is worn out.", {"disk": "B"}, Level.CRITICAL)
    assert risks_in([WORN, other, WORN]) == (Risk(WORN), Risk(other))
    assert len({Risk(WORN).key, Risk(other).key, Risk(SINGLE).key}) == 3


def test_a_tick_is_bound_to_the_code_and_to_the_sentence() -> None:
    assert Risk(WORN).key != Risk(Finding("tired", "{disk} is worn out.", {"disk": "A"}, Level.CRITICAL)).key
    assert Risk(WORN).key == Risk(Finding("worn", "A is worn out.", {}, Level.CRITICAL)).key
    assert len(Risk(WORN).key) == 16
    assert Risk(WORN).key.isalnum()


def test_what_one_says_by_a_tick_names_the_log_without_a_mirror() -> None:
    assert [str(risk.words) for risk in risks_in([SINGLE, WORN])] == [
        "I accept a log without a mirror",
        "I accept this",
    ]


RISKS = risks_in([SINGLE, WORN])


def form(*accepted: str) -> ApplyForm:
    data = QueryDict(mutable=True)
    data.update({"trial": "0", "password": "x"})
    data.setlist("accept", list(accepted))
    return ApplyForm(data, RISKS)


@pytest.mark.parametrize(
    ("accepted", "missing"),
    [
        ((), ["I accept a log without a mirror", "I accept this"]),
        ((RISKS[0].key,), ["I accept this"]),
        ((RISKS[1].key, "0123456789abcdef"), ["I accept a log without a mirror"]),
        ((RISKS[1].key, RISKS[0].key), []),
    ],
)
def test_each_risk_that_is_not_ticked_is_named(accepted: tuple[str, ...], missing: list[str]) -> None:
    asked = form(*accepted)
    asked.is_valid()
    said = [f"Nothing was changed: “{words}” is not ticked." for words in missing]
    errors = list(asked.non_field_errors())
    assert [any(str(error).startswith(each) for error in errors) for each in said] == [True] * len(said)
    assert len(errors) == len(said)
    assert asked.is_valid() is not bool(missing)
