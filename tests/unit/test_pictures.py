"""docs/explanation/pictures.md shows every service, every state of a run and every message between console and host."""

import re
from pathlib import Path

from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.fleet.questions import QUESTIONS

ROOT = Path(__file__).parents[2]
PROCESSES, STATES, MESSAGES = re.findall(
    r"```mermaid\n(.*?)```", (ROOT / "docs" / "explanation" / "pictures.md").read_text(encoding="utf-8"), re.DOTALL
)


def test_every_service_is_in_the_picture_of_the_processes() -> None:
    services = {path.stem for path in (ROOT / "packaging" / "systemd").glob("*.service")}
    assert services <= set(re.findall(r"nasadvisor(?:-[a-z]+)+", PROCESSES))


def test_every_state_of_a_run_is_in_the_picture_of_the_states_and_no_other() -> None:
    groups = set(re.findall(r'^ *state ".*" as (\w+)', STATES, re.MULTILINE))
    arrows = re.findall(r"^ *(\S+) --> ([^\s:]+)", STATES, re.MULTILINE)
    ends = {end for arrow in arrows for end in arrow} - groups - {"[*]"}
    assert {end.replace("_", "-") for end in ends} == {state.value for state in RunState}


def test_every_message_is_in_the_picture_of_what_travels_and_no_other() -> None:
    verbs = {question.verb for question in QUESTIONS}
    forms = {form.__name__ for question in QUESTIONS for form in question.answers}
    arrows = [line.partition("->>")[2] for line in MESSAGES.splitlines() if "->>" in line]
    to_host = {
        word for arrow in arrows if arrow.startswith("H:") for word in re.findall(r"\w+", arrow.partition(":")[2])
    }
    to_console = {word for arrow in arrows if arrow.startswith("C:") for word in re.findall(r"\b[A-Z]\w+", arrow)}
    assert verbs <= to_host
    assert {word for word in to_host if "_" in word} <= verbs
    assert to_console == forms
