"""`nasadvisor-truenas` against a stand-in."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nasadvisor.domain.storage.inventory import Disk, Hold, HoldKind
from plugins.truenas import cli
from plugins.truenas.api.records import RecordState
from tests.unit.machines import home_server
from tests.unit.truenas.conftest import Office
from tests.unit.truenas.standin import StandIn, stats


@pytest.fixture(autouse=True)
def own_socket(middleware: StandIn) -> StandIn:
    """The stand-in is asked at 127.0.0.1, so it is this host, and what its guests have is asked over its own socket."""
    return middleware


@pytest.fixture
def office(office: Office, local_root: Path) -> Office:
    office.root = local_root
    return office


def run(office: Office, *args: str, answer: str = "") -> Result:
    desk = office.desk
    context = cli.Office(lambda: desk.sessions, lambda: desk.records, lambda: office.disks, desk.wait, office.root)
    return CliRunner().invoke(cli.main, args, obj=context, input=answer, catch_exceptions=False)


ADD = ("add", "--pool", "tank", "--log", "SSD1", "--log", "SSD2", "--cache", "SSD3")


def test_status_shows_version_pools_and_free_disks(truenas: StandIn, office: Office) -> None:
    result = run(office, "status")
    assert result.exit_code == 0
    assert "TrueNAS 25.10.1, API v25.10.0" in result.stdout
    assert "tank  ONLINE  0 log, 0 cache" in result.stdout
    assert "SSD1  SAMSUNG MZ7L3480 (SSD1)  447 GiB" in result.stdout
    assert "HDD1" not in result.stdout


def test_status_of_a_version_outside_the_range_says_that_it_can_only_be_read(truenas: StandIn, office: Office) -> None:
    truenas.version = "27.0.0"
    result = run(office, "status")
    assert result.exit_code == 0
    assert "This TrueNAS is version 27.0.0" in result.stdout


def test_add_shows_the_call_asks_and_tells_the_progress(truenas: StandIn, office: Office) -> None:
    result = run(office, *ADD, answer="y\n")
    assert result.exit_code == 0, result.output
    assert "everything on the SSDs is erased" in result.stderr
    assert "midclt call --job pool.update 3" in result.stderr
    assert "66 %  Formatting disks" in result.stderr
    assert "nasadvisor-truenas undo" in result.stdout


def test_an_ssd_that_a_guest_was_given_is_refused(truenas: StandIn, own_socket: StandIn, office: Office) -> None:
    """TrueNAS itself would take it (disk_/availability.py, check_disks_availability)."""
    device = {"id": 1, "vm": 4, "order": 1, "attributes": {"dtype": "DISK", "path": "/dev/sdb"}}
    own_socket.guests = {"vm.query": [{"id": 4, "name": "mail"}], "vm.device.query": [device]}
    result = run(office, *ADD, "--yes")
    assert result.exit_code == 3
    assert "(SSD1) is assigned to VM mail" in result.stderr
    assert truenas.called("pool.update") == []


PARTITION = next(part for disk in home_server().disks for part in disk.partitions)


def sdb(**changes: Any) -> Disk:
    """SSD1 as the host itself reads it."""
    disk = replace(home_server().disks[-1], kernel_name="sdb", partitions=(), holds=())
    return replace(disk, **changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"holds": (Hold(HoldKind.SIGNATURE, "LVM2_member"),)}, "LVM2_member"),
        ({"partitions": (replace(PARTITION, holds=(Hold(HoldKind.SIGNATURE, "ext4"),)),)}, "ext4"),
        ({"partitions": (replace(PARTITION, holds=()),)}, "is not blank"),
        ({"unrecognised_at": 4096}, "first at byte 4096.\nNothing was changed. If it is not needed, add --erase-"),
    ],
)
def test_what_the_host_itself_finds_on_an_ssd_is_not_erased(
    truenas: StandIn, office: Office, changes: dict[str, Any], said: str
) -> None:
    """TrueNAS counts it as unused all the same."""
    office.disks = (sdb(**changes),)
    result = run(office, *ADD, "--yes")
    assert result.exit_code == 3
    assert said in result.stderr
    assert truenas.called("pool.update") == []
    assert office.desk.records.all() == ()


def test_unrecognised_data_are_erased_only_by_who_agreed_to_it(truenas: StandIn, office: Office) -> None:
    office.disks = (sdb(unrecognised_at=4096),)
    assert run(office, *ADD, answer="n\ny\n").exit_code == 3
    assert truenas.called("pool.update") == []
    assert run(office, *ADD, answer="y\ny\n").exit_code == 0


def test_agreed_is_the_place_that_was_shown_and_no_other(truenas: StandIn, office: Office) -> None:
    """Somebody wrote to the SSD between the question and the call."""
    shown = [(sdb(unrecognised_at=8192),), (sdb(unrecognised_at=4096),)]
    context = cli.Office(
        lambda: office.desk.sessions, lambda: office.desk.records, lambda: shown.pop(0), office.desk.wait, office.root
    )
    args = [*ADD, "--yes", "--erase-unrecognised"]
    result = CliRunner().invoke(cli.main, args, obj=context, catch_exceptions=False)
    assert result.exit_code == 3
    assert "first at byte 4096" in result.stderr
    assert truenas.called("pool.update") == []


def test_a_truenas_elsewhere_is_not_judged_by_the_disks_of_this_host(
    truenas: StandIn, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "LOOPBACK", frozenset())
    office.disks = (sdb(unrecognised_at=4096),)
    assert run(office, *ADD, "--yes").exit_code == 0


def test_where_nobody_says_what_guests_have_nothing_is_added(
    truenas: StandIn, own_socket: StandIn, office: Office
) -> None:
    own_socket.garbled["vm.device.query"] = "{"
    result = run(office, *ADD, "--yes")
    assert result.exit_code == 3
    assert truenas.called("pool.update") == []
    assert office.desk.records.all() == ()


def test_without_a_yes_nothing_is_asked_of_truenas(truenas: StandIn, office: Office) -> None:
    assert run(office, *ADD, answer="n\n").exit_code == 3
    assert truenas.called("pool.update") == []


def test_undo_takes_it_back(truenas: StandIn, office: Office) -> None:
    run(office, *ADD, "--yes")
    record = office.desk.records.all()[0]
    result = run(office, "undo", record.id, "--yes")
    assert (result.exit_code, result.stdout) == (0, "Undone.\n")
    assert office.desk.records.all()[0].state is RecordState.TAKEN_BACK


def test_status_says_of_every_record_what_is_so_whatever_is_written_there(truenas: StandIn, office: Office) -> None:
    """Also of one that was closed too early, and of one that is damaged."""
    run(office, *ADD, "--yes")
    record = office.desk.records.all()[0]
    office.desk.records.write(replace(record, state=RecordState.TAKEN_BACK))
    (office.desk.records.directory / "r0.whole-disks.json").write_text("{")
    result = run(office, "status")
    assert f"{record.id}  {record.at}  tank  in the pool" in result.stdout
    assert "There is no usable record r0" in result.stdout
    truenas.take_offline()
    assert "tank  not known: Pool tank is OFFLINE in TrueNAS" in run(office, "status").stdout


def test_status_after_somebody_took_it_out_and_after_the_undo(truenas: StandIn, office: Office) -> None:
    run(office, "add", "--pool", "tank", "--log", "SSD1", "--yes")
    truenas._remove(3, {"label": "201"})
    assert "tank  no longer in the pool; undo closes it" in run(office, "status").stdout
    assert run(office, "undo", office.desk.records.all()[0].id, "--yes").exit_code == 0
    assert "tank  undone" in run(office, "status").stdout


def test_undo_of_a_pool_that_is_offline_is_refused_and_stays_open(truenas: StandIn, office: Office) -> None:
    run(office, *ADD, "--yes")
    truenas.take_offline()
    result = run(office, "undo", office.desk.records.all()[0].id, "--yes")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "Import the pool" in result.stderr
    assert office.desk.records.all()[0].state is RecordState.ADDED


def test_undo_that_stopped_half_way_needs_attention(truenas: StandIn, office: Office) -> None:
    """Exit code 3 would say that nothing was changed."""
    run(office, *ADD, "--yes")
    truenas.pools[0]["topology"]["log"][0]["stats"] = stats(write_errors=1)
    result = run(office, "undo", office.desk.records.all()[0].id, "--yes")
    assert (result.exit_code, result.stdout) == (5, "")
    assert "1 device(s) were removed from the pool" in result.stderr


def test_undo_on_a_version_outside_the_range_warns_and_adding_is_refused(truenas: StandIn, office: Office) -> None:
    run(office, *ADD, "--yes")
    truenas.version = "27.0.0"
    before = run(office, "undo", office.desk.records.all()[0].id, answer="n\n")
    assert "Warning: This undo is on TrueNAS 27.0.0" in before.stderr, "it is said before it is asked"
    assert (before.exit_code, truenas.called("pool.remove")) == (3, [])
    result = run(office, "undo", office.desk.records.all()[0].id, "--yes")
    assert result.exit_code == 0
    assert "Warning: This undo is on TrueNAS 27.0.0" in result.stdout
    assert "Undone." in result.stdout
    assert run(office, *ADD, "--yes").exit_code == 3


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("add", "--pool", "tank", "--log", "NOBODY"), 2, "No disk(s) here have the serial NOBODY"),
        (("add", "--pool", "tank", "--log", "HDD1"), 3, "it is part of pool tank"),
        (("undo", "nothing", "--yes"), 3, "There is no usable record nothing"),
    ],
)
def test_refusals_are_sentences_with_the_usual_codes(
    truenas: StandIn, office: Office, args: tuple[str, ...], code: int, said: str
) -> None:
    result = run(office, *args)
    assert result.exit_code == code
    assert said in result.stderr


def test_a_failure_half_way_needs_attention_and_names_the_way_back(truenas: StandIn, office: Office) -> None:
    truenas.job_error = "[EFAULT] sdb: cannot be formatted"
    result = run(office, *ADD, "--yes")
    assert result.exit_code == 5
    assert "cannot be formatted" in result.stderr
    assert f"nasadvisor-truenas undo {office.desk.records.all()[0].id}" in result.stderr


def test_a_test_message_can_be_sent(truenas: StandIn, office: Office) -> None:
    truenas.polls_of_a_job = 1
    assert run(office, "mail").exit_code == 0
    assert truenas.called("mail.send")[0][0]["subject"] == "NAS Advisor: test message"
