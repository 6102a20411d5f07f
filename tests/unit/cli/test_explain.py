"""`nasadvisor explain`."""

import json

from click.testing import CliRunner, Result

from nasadvisor.cli import main
from nasadvisor.cli.errors import ExitCode
from nasadvisor.explain.codes import codes


def ran(*args: str) -> Result:
    return CliRunner().invoke(main, ["explain", *args])


def test_it_says_what_a_code_means() -> None:
    result = ran("too-small")
    assert result.exit_code == ExitCode.DONE
    assert result.output.startswith("too-small: refusal\n")
    assert "Choose a smaller size, less reserve or another SSD." in " ".join(result.output.split())
    assert "docs/explanation/safety.md" in result.output


def test_a_code_that_is_a_finding_and_a_refusal_is_explained_as_both() -> None:
    lines = ran("pool-checkpoint").output.splitlines()
    assert "pool-checkpoint: refusal" in lines
    assert "pool-checkpoint: finding (info)" in lines


def test_the_steps_are_printed_with_blanks_for_what_is_not_known() -> None:
    assert "nasadvisor explain log-missing --steps" in " ".join(ran("log-missing").output.split())
    lines = [line.strip() for line in ran("log-missing", "--steps").output.splitlines()]
    assert lines[0] == "My log SSD failed"
    assert "zpool remove POOL GUID" in lines
    assert "zpool detach POOL GUID" not in lines, "that is for a side of a mirror"
    assert "zpool detach POOL GUID" in [line.strip() for line in ran("log-one-side", "--steps").output.splitlines()]


def test_a_code_without_steps_says_so() -> None:
    result = ran("too-small", "--steps")
    assert result.exit_code == ExitCode.USAGE
    assert "no steps" in result.output


def test_every_code_can_be_asked_for() -> None:
    for code in codes():
        assert ran(code).exit_code == ExitCode.DONE


def test_without_a_code_it_lists_all() -> None:
    result = ran()
    assert result.exit_code == ExitCode.DONE
    assert len(result.output.splitlines()) == len(codes()) + 1


def test_it_answers_in_json() -> None:
    found = json.loads(ran("same-disk", "--json").output)
    assert found["code"] == "same-disk"
    assert found["meanings"][0]["kind"] == "refusal"
    assert [each["code"] for each in json.loads(ran("--json").output)] == list(codes())


def test_an_unknown_code_is_wrong_use_and_answered_with_the_nearest() -> None:
    result = ran("too-smal")
    assert result.exit_code == ExitCode.USAGE
    assert "Did you mean too-small" in result.output
    assert json.loads(ran("too-smal", "--json").stdout)["error"].startswith("There is no code 'too-smal'")


def test_a_code_that_is_like_no_other_is_answered_with_where_all_are() -> None:
    result = ran("xyzzyxyzzy")
    assert result.exit_code == ExitCode.USAGE
    assert "`nasadvisor explain` lists them all." in result.output
