"""Each command that a sentence names has its place in tests/tried.py, and nothing else has one."""

import re
from collections import Counter

import pytest
from django.core.management import get_commands

from tests.tried import NOT_TRIED, SPOKEN_OF, TRIED
from tests.unit.explain.gather import ROOT
from tests.unit.explain.named_commands import commands_in, named_commands

NAMED = {" ".join(str(named).split()) for named in named_commands()}


def lines(text: str) -> list[str]:
    """One a line."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def places() -> Counter[str]:
    return Counter(line for text in (*TRIED.values(), *NOT_TRIED, SPOKEN_OF) for line in lines(text))


def test_each_command_that_is_named_has_a_place() -> None:
    """A new one is followed by a test, on the real thing, in the state in which its sentence is said."""
    assert NAMED - set(places()) == set()


def test_what_is_named_no_more_has_none() -> None:
    assert set(places()) - NAMED == set()
    assert [line for line, times in places().items() if times > 1] == []


@pytest.mark.parametrize("test", TRIED)
def test_the_test_that_is_said_to_follow_it_is_there(test: str) -> None:
    path, _, name = test.partition("::")
    assert re.search(rf"^ *def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("line", lines(SPOKEN_OF))
def test_what_is_only_spoken_of_has_nothing_to_act_on(line: str) -> None:
    """No pool, vdev or device stands in it: followed word for word it prints how it is used."""
    assert "{" not in line


UNITS = {name for line in NAMED for name in re.findall(r"nasadvisor-[a-z-]+(?:\.\w+)?", line)}


@pytest.mark.parametrize("unit", sorted(UNITS))
def test_each_unit_that_is_named_is_one_of_ours(unit: str) -> None:
    if unit != "nasadvisor-truenas":
        assert (ROOT / "packaging/systemd" / (unit if "." in unit else f"{unit}.service")).is_file()


def test_each_command_of_manage_that_is_named_is_one() -> None:
    found = {name for line in NAMED for name in re.findall(r"manage(?:\.py)? ([a-z]\w+)", line)}
    assert found | {"changepassword"} <= set(get_commands())
    assert {"listen", "prepare"} <= found


def test_commands_are_found_however_they_are_marked() -> None:
    assert list(commands_in("Run `zpool clear {pool}` first.")) == ["zpool clear {pool}"]
    assert list(commands_in("To undo it: nasadvisor undo {id}.")) == ["nasadvisor undo {id}"]
    assert list(commands_in("systemctl restart nasadvisor-host")) == ["systemctl restart nasadvisor-host"]
    assert list(commands_in("zdb had not read all of it.")) == []
