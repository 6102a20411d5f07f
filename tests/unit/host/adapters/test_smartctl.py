"""Asking a disk for its health: which calls, and what their exit codes and messages mean."""

import json

import pytest

from nasadvisor.domain.health.sweep import ExitBit, SelfTest, SweepOutcome, exit_words
from nasadvisor.domain.storage.inventory import Bus, Disk
from nasadvisor.domain.units import GIB
from nasadvisor.host.adapters.process import Output, Tool
from nasadvisor.host.adapters.smartctl import ask, ask_id_ctrl, ask_ocp, start_self_test
from nasadvisor.host.errors import CommandTimedOut, SelfTestRefused, ToolMissing
from tests.unit.fakes import FakeRunner
from tests.unit.machines import ssd

ANSWER = '{"smartctl": {"exit_status": 0}, "model_name": "A"}'


def disk(bus: Bus) -> Disk:
    return ssd("0x1", "A", "S1", 100 * GIB, bus, "sdx")


def call(bus: Bus, device_type: str = "") -> str:
    option = f" -d {device_type}" if device_type else ""
    return f"smartctl -x -j -n standby,127{option} {disk(bus).path}"


def said(code: int, *messages: str) -> Output:
    document = {"smartctl": {"messages": [{"string": text, "severity": "error"} for text in messages]}}
    return Output(json.dumps(document), "", code, 0.1)


@pytest.mark.parametrize(("bus", "device_type"), [(Bus.SATA, "sat"), (Bus.SAS, "scsi"), (Bus.NVME, "nvme")])
def test_the_type_is_named_where_it_is_known_so_that_no_disk_wakes_up(bus: Bus, device_type: str) -> None:
    runner = FakeRunner({call(bus, device_type): ANSWER})
    reply = ask(runner, disk(bus))
    assert (reply.outcome, reply.device_type, reply.text) == (SweepOutcome.READ, device_type, ANSWER)
    assert not any(command.mutates for command in runner.ran)


def test_a_sleeping_disk_is_left_asleep_and_is_no_failure() -> None:
    runner = FakeRunner({call(Bus.SATA, "sat"): Output("{}", "", 127, 0.1)})
    assert ask(runner, disk(Bus.SATA)).outcome is SweepOutcome.ASLEEP
    assert len(runner.ran) == 1


def test_a_disk_that_warns_of_itself_has_answered() -> None:
    code = ExitBit.DISK_FAILING | ExitBit.ERROR_LOG | ExitBit.COMMAND_FAILED
    reply = ask(FakeRunner({call(Bus.SATA, "sat"): Output(ANSWER, "", int(code), 0.1)}), disk(Bus.SATA))
    assert (reply.outcome, reply.exit_status) == (SweepOutcome.READ, code)


def test_another_type_is_tried_where_the_first_does_not_open_the_disk() -> None:
    runner = FakeRunner({call(Bus.SATA, "sat"): said(2, "open failed"), call(Bus.SATA): ANSWER})
    assert ask(runner, disk(Bus.SATA)).outcome is SweepOutcome.READ


def test_a_bridge_that_nobody_knows_is_asked_in_the_common_way() -> None:
    unknown = said(1, "Unknown USB bridge [0x1234:0x5678 (0x100)]", "Please specify device type with the -d option.")
    runner = FakeRunner({call(Bus.USB): unknown, call(Bus.USB, "sat"): ANSWER})
    reply = ask(runner, disk(Bus.USB))
    assert (reply.outcome, reply.device_type) == (SweepOutcome.READ, "sat")


def test_a_stick_without_health_is_no_failure() -> None:
    runner = FakeRunner({call(Bus.USB): said(1, "Unknown USB bridge"), call(Bus.USB, "sat"): said(2, "no ATA")})
    assert ask(runner, disk(Bus.USB)).outcome is SweepOutcome.UNSUPPORTED


def test_a_disk_behind_a_raid_controller_hides_itself() -> None:
    hidden = said(2, "DELL or MegaRaid controller, please try adding '-d megaraid,N'")
    runner = FakeRunner({call(Bus.SAS, "scsi"): hidden, call(Bus.SAS): hidden, call(Bus.SAS, "sat"): said(2, "no ATA")})
    assert ask(runner, disk(Bus.SAS)).outcome is SweepOutcome.UNSUPPORTED


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        ({}, SweepOutcome.UNSUPPORTED),
        ({"scsi_grown_defect_list": 0}, SweepOutcome.READ),  # it cannot predict a failure, but counts
        ({"temperature": {"current": 31}}, SweepOutcome.READ),
        ({"temperature": {"current": 0, "drive_trip": 0}}, SweepOutcome.UNSUPPORTED),
    ],
)
@pytest.mark.parametrize("code", [0, 4])
def test_a_raid_volume_answers_and_has_no_health(told: dict[str, object], outcome: SweepOutcome, code: int) -> None:
    runner = FakeRunner(
        {
            call(Bus.SAS, "scsi"): Output(json.dumps(VOLUME | told), "", code, 0.1),
            call(Bus.SAS): said(2, "DELL or MegaRaid controller, please try adding '-d megaraid,N'"),
            call(Bus.SAS, "sat"): said(2, "no ATA"),
        }
    )
    assert ask(runner, disk(Bus.SAS)).outcome is outcome


VOLUME: dict[str, object] = {
    "smartctl": {"exit_status": 4},
    "scsi_vendor": "DELL",
    "smart_support": {"available": False},
}


def test_a_sata_disk_that_its_controller_shows_as_another_is_asked_as_one_in_the_end() -> None:
    nothing = Output(json.dumps(VOLUME), "", 4, 0.1)
    runner = FakeRunner({call(Bus.SAS, "scsi"): nothing, call(Bus.SAS): nothing, call(Bus.SAS, "sat"): ANSWER})
    reply = ask(runner, disk(Bus.SAS))
    assert (reply.outcome, reply.device_type) == (SweepOutcome.READ, "sat")


def test_a_disk_that_should_answer_and_does_not_has_failed() -> None:
    runner = FakeRunner({call(Bus.SATA, "sat"): said(2, "open: I/O error"), call(Bus.SATA): said(2, "open: I/O error")})
    reply = ask(runner, disk(Bus.SATA))
    assert reply.outcome is SweepOutcome.FAILED
    assert str(reply.problem) == "smartctl reported “open: I/O error”."


def test_a_disk_that_hangs_is_asked_once() -> None:
    hangs = CommandTimedOut("smartctl", 60, mutates=False, still_running=True)
    runner = FakeRunner({call(Bus.NVME, "nvme"): hangs})
    reply = ask(runner, disk(Bus.NVME))
    assert reply.outcome is SweepOutcome.FAILED
    assert "did not finish within 60 s" in str(reply.problem)


@pytest.mark.parametrize("text", ["", "null", "[]", "{broken", "[" * 100_000])
def test_what_cannot_be_read_has_failed(text: str) -> None:
    runner = FakeRunner({call(Bus.SATA, "sat"): text, call(Bus.SATA): text})
    assert ask(runner, disk(Bus.SATA)).outcome is SweepOutcome.FAILED


def test_a_virtual_disk_is_not_asked() -> None:
    runner = FakeRunner()
    assert ask(runner, disk(Bus.VIRTIO)).outcome is SweepOutcome.UNSUPPORTED
    assert runner.ran == []


def test_a_missing_smartctl_is_said() -> None:
    with pytest.raises(ToolMissing):
        ask(FakeRunner(missing=frozenset({Tool.SMARTCTL})), disk(Bus.SATA))


def test_only_nvme_controllers_are_asked_about_themselves() -> None:
    id_ctrl = f"nvme id-ctrl -o json {disk(Bus.NVME).path}"
    assert ask_id_ctrl(FakeRunner({id_ctrl: '{"vwc": 0}'}), disk(Bus.NVME)) == '{"vwc": 0}'
    assert ask_id_ctrl(FakeRunner({id_ctrl: Output("", "no", 1, 0.1)}), disk(Bus.NVME)) == ""
    assert ask_id_ctrl(FakeRunner({id_ctrl: "not JSON"}), disk(Bus.NVME)) == ""
    assert ask_id_ctrl(FakeRunner(missing=frozenset({Tool.NVME})), disk(Bus.NVME)) == ""
    assert ask_id_ctrl(FakeRunner(), disk(Bus.SATA)) == ""


def test_the_log_of_data_centre_drives_is_asked_for_where_there_is_one() -> None:
    ocp = f"nvme ocp smart-add-log -o json {disk(Bus.NVME).path}"
    assert ask_ocp(FakeRunner({ocp: '{"Capacitor health": 99}'}), disk(Bus.NVME)) == '{"Capacitor health": 99}'
    assert ask_ocp(FakeRunner({ocp: Output("", "Invalid C0 Log Page", 255, 0.1)}), disk(Bus.NVME)) == ""
    assert ask_ocp(FakeRunner(), disk(Bus.SATA)) == ""


def test_a_self_test_names_the_disk_by_its_persistent_path() -> None:
    command = f"smartctl -t long -j -d sat {disk(Bus.SATA).path}"
    runner = FakeRunner({command: ANSWER})
    start_self_test(runner, disk(Bus.SATA), SelfTest.LONG, "sat")
    assert [str(each) for each in runner.ran] == [command]
    assert runner.ran[0].mutates


def test_a_self_test_that_is_refused_says_why() -> None:
    command = f"smartctl -t short -j {disk(Bus.NVME).path}"
    with pytest.raises(SelfTestRefused, match="Self-tests not supported"):
        start_self_test(FakeRunner({command: said(4, "Self-tests not supported")}), disk(Bus.NVME), SelfTest.SHORT, "")


def test_every_bit_of_an_exit_code_has_words() -> None:
    assert len(exit_words(255)) == 8
    assert exit_words(0) == ()
