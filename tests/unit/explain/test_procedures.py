"""Procedures: complete, found by codes that there are, and with values that stay one word for the shell."""

import re
from itertools import chain

import pytest

from nasadvisor.explain.codes import codes
from nasadvisor.explain.procedures import BY_CODE, PROCEDURES, Procedure, ProcedureStep, command_for, filled
from tests.unit.explain.gather import FOLDER, procedure_page

ALL = list(PROCEDURES.values())
STEPS = [(each.name, step) for each in ALL for step in each.steps]


def texts(step: ProcedureStep) -> tuple[str, ...]:
    return (step.do, step.stake, step.done, step.otherwise)


@pytest.mark.parametrize("procedure", ALL, ids=lambda each: each.name)
def test_the_page_of_the_documentation_is_made_of_it(procedure: Procedure) -> None:
    assert (FOLDER / f"{procedure.name}.md").read_text(encoding="utf-8") == procedure_page(procedure), "`make codes`"


def test_no_page_is_left_of_one_that_is_gone() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(PROCEDURES)


def test_each_code_leads_to_one_procedure_and_is_a_code() -> None:
    led = list(chain.from_iterable(each.codes for each in ALL))
    assert len(led) == len(set(led)) == len(BY_CODE)
    assert set(led) <= set(codes())


@pytest.mark.parametrize("procedure", ALL, ids=lambda each: each.name)
def test_for_every_code_there_are_steps_and_no_step_is_for_a_code_of_another(procedure: Procedure) -> None:
    for code in procedure.codes:
        assert len(procedure.steps_for(code)) >= 3
    assert all(step.codes <= procedure.codes for step in procedure.steps)
    assert procedure.steps_for("") == procedure.steps


@pytest.mark.parametrize(("name", "step"), STEPS)
def test_each_step_says_what_is_at_stake_and_how_it_ends(name: str, step: ProcedureStep) -> None:
    del name
    assert all(texts(step))


@pytest.mark.parametrize(("name", "step"), STEPS)
def test_no_sentence_is_longer_than_forty_words(name: str, step: ProcedureStep) -> None:
    del name
    for text in texts(step):
        assert all(len(sentence.split()) <= 40 for sentence in re.split(r"(?<=[.:?]) ", text)), text


def test_force_stands_only_where_it_is_explained() -> None:
    """`zpool offline -f` marks a log as failed, `zpool import -f` is for a pool of a host that is off."""
    forced = {command for _name, step in STEPS for command in step.commands if re.search(r" -f\b", command)}
    assert forced == {"zpool offline -f {pool} {guids}", "zpool import -f {guid}"}


def test_no_command_names_a_disk_by_the_kernels_name() -> None:
    assert not [command for _name, step in STEPS for command in step.commands if re.search(r"/dev/(sd|nvme)", command)]


def test_values_are_one_word_each_and_what_is_missing_is_a_blank() -> None:
    command = "zpool offline {pool} {guids}"
    assert command_for(command, {"pool": "my pool", "guids": "1 2"}) == "zpool offline 'my pool' 1 2"
    assert command_for(command, {"pool": "$(reboot)", "guids": "1;reboot"}) == "zpool offline '$(reboot)' '1;reboot'"
    assert command_for(command, {"pool": "", "disk": "x"}) == "zpool offline POOL GUIDS"
    assert filled("Run `zpool clear {pool}`.", {"pool": "a b"}) == "Run `zpool clear 'a b'`."
