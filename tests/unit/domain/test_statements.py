"""Statements: templates with named fields and nothing else, whoever wrote them."""

import pytest

from nasadvisor.domain.statements import Finding, Statement


@pytest.mark.parametrize(
    "template",
    ["{a!q}", "{a!r}", "{a:>200000000}", "{a.__class__}", "{a[0]}", "{a:{b}}", "{}", "{0}", "{a", "{ a}"],
)
def test_a_template_that_asks_for_more_than_named_values_is_no_statement(template: str) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        Statement("code", template, {"a": "x", "b": "y", "": "z", "0": "z", " a": "z"})


def test_an_explanation_is_held_to_the_same() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        Finding("code", "{a}", {"a": "x"}, explanation="{a:>200000000}")
    with pytest.raises(ValueError, match="does not fit"):
        Finding("code", "{a}", {"a": "x"}, explanation="{b}")


def test_braces_can_be_said() -> None:
    assert str(Statement("code", "{{{a}}}", {"a": "x"})) == "{x}"
