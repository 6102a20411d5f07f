"""`nasadvisor plan`."""

import json
from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import AddLog, AttachLog, Naming
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.fleet.platforms import PlatformReport, Veto
from nasadvisor.domain.statements import Finding, Level, Refused
from nasadvisor.domain.units import GIB
from nasadvisor.host.simulated.executor import SimulatedExecutor
from nasadvisor.stored.documents import from_document
from tests.unit.cli.conftest import Shell
from tests.unit.machines import (
    CACHE_GUID,
    NVME1,
    NVME1_WWN,
    NVME2,
    NVME2_WWN,
    TANK,
    home_server,
    with_broken_log,
    with_cache,
    with_dead_log,
    with_disk,
    with_single_log,
)

MIRROR = ("--pool", "tank", "--log", "N1", "N2", "--log-size", "4G")
CACHES = ("--cache", "N1", "N2", "--cache-size", "100G")


def planned(shell: Shell, *options: str) -> Plan:
    return from_document(Plan, shell.json("plan", *options)["plan"])


def test_it_plans_a_mirrored_log_and_two_caches_on_two_ssds(shell: Shell) -> None:
    plan = planned(shell, *MIRROR, *CACHES)
    assert plan.request.log_disks == plan.request.cache_disks == (NVME1, NVME2)
    assert plan.request.log_size_bytes == 4 * GIB
    assert plan.request.cache_size_bytes == 100 * GIB
    assert plan.request.reserve_percent == 10


def test_several_ssds_can_follow_one_option_or_repeat_it(shell: Shell) -> None:
    repeated = planned(shell, "--pool", "tank", "--log", "N1", "--log=N2", "--log-size", "4G")
    after_equals = planned(shell, "--pool", "tank", "--log=N1", "N2", "--log-size", "4G")
    assert repeated.request == after_equals.request == planned(shell, *MIRROR).request


@pytest.mark.parametrize(
    "name",
    [
        "N1",
        f"/dev/disk/by-id/nvme-{NVME1_WWN}",
        f"nvme-{NVME1_WWN}",
        "nvme-Samsung_SSD_960_EVO_500GB_N1",
        "/dev/disk/by-id/nvme-Samsung_SSD_960_EVO_500GB_N1",
    ],
)
def test_a_disk_is_named_by_serial_by_id_name_or_path(shell: Shell, name: str) -> None:
    assert planned(shell, "--pool", "tank", "--cache", name).request.cache_disks == (NVME1,)


def test_a_pool_is_named_by_its_guid_too(shell: Shell) -> None:
    assert planned(shell, "--pool", TANK, "--cache", "N1").pool_name == "tank"


@pytest.mark.parametrize("name", ["/dev/nvme0n1", "nvme0n1"])
def test_a_kernel_name_is_refused_and_the_persistent_name_given(shell: Shell, name: str) -> None:
    result = shell.run("plan", "--pool", "tank", "--cache", name)
    assert result.exit_code == 2
    assert f"/dev/disk/by-id/nvme-{NVME1_WWN}" in result.stderr


def test_a_kernel_name_of_no_disk_is_refused_as_well(shell: Shell) -> None:
    result = shell.run("plan", "--pool", "tank", "--cache", "/dev/sdz")
    assert result.exit_code == 2
    assert "after the next boot" in result.stderr


def test_a_serial_that_two_disks_have_is_ambiguous(shell: Shell) -> None:
    disk = shell.inventory.disk(NVME2)
    assert disk
    shell.executor.state = with_disk(home_server(), NVME2, identity=replace(disk.identity, serial="N1"))
    result = shell.run("plan", "--pool", "tank", "--cache", "N1")
    assert result.exit_code == 2
    assert "more than one disk" in result.stderr
    assert f"nvme-{NVME1_WWN}" in result.stderr
    assert f"nvme-{NVME2_WWN}" in result.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--pool", "tank"), "Say which SSDs to use"),
        (("--pool", "tank", "--log", "N1"), "Set the size of each log slice"),
        (("--pool", "tank", "--log-size", "4G", "--cache", "N1"), "--log-size needs --log"),
        (("--pool", "tank", "--log", "N1", "--log-size", "big"), "'big' is not a size"),
        (("--pool", "tank", "--cache", "N1", "--reserve", "95%"), "'95%' is not a share"),
        (("--pool", "tank", "--cache", "N1", "--naming", "sdX"), "'sdX' is not one of"),
        (("--pool", "tank", "--log", "N1", "N2", "--mirror-existing-log", "auto"), "needs exactly one SSD"),
        (("--cache", "N1"), "Say which pool, with --pool"),
        (("--pool", "tank", "extra"), "unexpected extra argument"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(shell: Shell, options: tuple[str, ...], sentence: str) -> None:
    result = shell.run("plan", *options)
    assert result.exit_code == 2, result.output
    assert sentence in result.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--pool", "tank", "--cache", "nonesuch"), "There is no disk nonesuch"),
        (("--pool", "nonesuch", "--cache", "N1"), "no imported pool nonesuch. Imported are: tank, archive."),
        (("--pool", "tank", "--log", "N1", "--mirror-existing-log", "auto"), "has no log that could become a mirror"),
        (
            ("--pool", "tank", "--log", "N1", "--replace-log-side", "auto"),
            "no mirrored log with one failed side",
        ),
    ],
)
def test_what_the_host_does_not_have_now_is_refused(shell: Shell, options: tuple[str, ...], sentence: str) -> None:
    result = shell.run("plan", *options)
    assert result.exit_code == 3, result.output
    assert sentence in result.stderr


def test_a_partition_is_no_disk(shell: Shell) -> None:
    disk = next(disk for disk in shell.inventory.disks if disk.partitions)
    result = shell.run("plan", "--pool", "tank", "--cache", f"{disk.path}-part1")
    assert result.exit_code == 2
    assert f"name the disk, {disk.path}" in result.stderr


def test_a_refusal_is_a_sentence_and_exit_code_3(shell: Shell) -> None:
    result = shell.run("plan", "--pool", "tank", "--cache", "S1")
    assert result.exit_code == 3
    assert "pool backup" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("role", ["log", "cache"])
def test_one_ssd_by_two_of_its_names_is_no_mirror_and_no_stripe(shell: Shell, role: str) -> None:
    size = ("--log-size", "4G") if role == "log" else ()
    result = shell.run("plan", "--pool", "tank", f"--{role}", "N1", f"/dev/disk/by-id/nvme-{NVME1_WWN}", *size)
    assert result.exit_code == 3
    assert f"is specified more than once for the {role}" in result.stderr


def test_with_json_a_refusal_is_on_standard_output_too(shell: Shell) -> None:
    result = shell.run("plan", "--pool", "tank", "--cache", "S1", "--json")
    assert result.exit_code == 3
    assert "backup" in json.loads(result.stdout)["error"]


def test_the_preview_begins_with_what_is_added_erased_and_undone(shell: Shell) -> None:
    lines = [line.split() for line in shell.run("plan", *MIRROR, *CACHES).stdout.splitlines()]
    labels = [label for key in (NVME1, NVME2) if (disk := shell.inventory.disk(key)) for label in disk.label.split()]
    text = " ".join(word for line in lines[1:7] for word in line)
    assert "Log 2 x 4 GiB mirrored on" in text
    assert "Cache 2 x 100 GiB on" in text
    assert set(labels) <= {word.rstrip(",") for line in lines[1:7] for word in line}
    assert "Erases nothing; the SSDs are blank" in text
    assert "Undo restores everything but" in text


def test_the_preview_tells_commands_and_warnings_and_the_rest_where_asked(shell: Shell) -> None:
    text = shell.run("plan", *MIRROR, *CACHES).stdout
    assert "zpool add -o ashift=12 tank log mirror /dev/disk/by-partuuid/" in text
    assert "log-and-cache-share" not in text
    assert "Log and cache share an SSD" in text
    assert "Nothing was changed." in text
    assert "If a device dies" not in text
    whole = shell.run("plan", *MIRROR, *CACHES, "--verbose").stdout
    assert "zpool remove tank" in whole
    assert "keeps an empty entry" in " ".join(whole.split())
    assert "If a device dies" in whole
    assert whole.index("Steps") < whole.index("Nothing was changed.")


def test_the_plan_file_holds_the_plan_and_nothing_is_changed(shell: Shell) -> None:
    before = shell.inventory
    path = shell.plan_file(MIRROR)
    assert from_document(Plan, json.loads(path.read_text())).pool_name == "tank"
    assert shell.inventory == before
    assert not (shell.root / "runs").exists()


def test_a_plan_file_that_cannot_be_written_is_said_in_a_sentence(shell: Shell) -> None:
    result = shell.run("plan", *MIRROR, "--output", shell.root / "nowhere" / "plan.json")
    assert result.exit_code == 3
    assert "cannot be written" in result.stderr


def test_slices_can_be_named_by_the_disk(shell: Shell) -> None:
    plan = planned(shell, *MIRROR, "--naming", "by-id")
    assert plan.request.naming is Naming.DISK_ID


def test_a_used_ssd_is_taken_only_if_its_free_space_is_asked_for(shell: Shell) -> None:
    options = ("--pool", "tank", "--cache", "C2", "--cache-size", "50G")
    assert shell.run("plan", *options).exit_code == 3
    assert planned(shell, *options, "--use-free-space").request.use_free_extents


def test_without_a_cache_size_it_takes_what_fits(shell: Shell) -> None:
    assert planned(shell, "--pool", "tank", "--cache", "N1").request.cache_size_bytes is None


class TestMirroringAnExistingLog:
    @pytest.fixture
    def shell(self, shell: Shell) -> Shell:
        shell.executor = SimulatedExecutor(with_single_log())
        return shell

    @pytest.mark.parametrize("which", ["auto", "31"])
    def test_it_attaches_to_the_log_that_is_there(self, shell: Shell, which: str) -> None:
        plan = planned(shell, "--pool", "tank", "--log", "N2", "--mirror-existing-log", which)
        assert plan.request.attach_to == "31"
        assert any(isinstance(action, AttachLog) for action in plan.actions)
        assert not any(isinstance(action, AddLog) for action in plan.actions)

    def test_its_size_cannot_be_chosen(self, shell: Shell) -> None:
        options = ("--pool", "tank", "--log", "N2", "--mirror-existing-log", "auto", "--log-size", "4G")
        result = shell.run("plan", *options)
        assert result.exit_code == 2
        assert "both sides have one size" in result.stderr

    def test_a_guid_that_is_no_log_is_refused_with_those_that_are(self, shell: Shell) -> None:
        result = shell.run("plan", "--pool", "tank", "--log", "N2", "--mirror-existing-log", "32")
        assert result.exit_code == 3
        assert "31 (/dev/disk/by-partuuid/" in result.stderr


class TestReplacingABrokenSide:
    @pytest.fixture
    def shell(self, shell: Shell) -> Shell:
        shell.executor = SimulatedExecutor(with_broken_log())
        return shell

    @pytest.mark.parametrize("which", ["auto", "32"])
    def test_it_takes_the_broken_side_out_and_attaches_to_the_other(self, shell: Shell, which: str) -> None:
        plan = planned(shell, "--pool", "tank", "--log", "N2", "--replace-log-side", which)
        assert (plan.request.attach_to, plan.request.replaces) == ("31", "32")
        assert [action.action for action in plan.actions][-2:] == ["drop-log-side", "attach-log"]

    def test_a_side_that_works_is_refused_with_those_that_are_broken(self, shell: Shell) -> None:
        result = shell.run("plan", "--pool", "tank", "--log", "N2", "--replace-log-side", "31")
        assert result.exit_code == 3
        assert "32 (/dev/disk/by-partuuid/" in result.stderr

    def test_it_does_not_go_with_mirroring(self, shell: Shell) -> None:
        options = ("--pool", "tank", "--log", "N2", "--replace-log-side", "auto", "--mirror-existing-log", "auto")
        assert "do not go together" in shell.run("plan", *options).stderr


def test_what_a_platform_wants_read_comes_first(shell: Shell) -> None:
    caution = Finding("not-supported", "The vendor does not support this.", {}, Level.WARNING)
    shell.platforms = PlatformReport("nas", "", cautions=(caution,))
    assert "Warning: The vendor does not support this." in shell.run("plan", *MIRROR).stdout
    assert shell.json("plan", *MIRROR)["warnings"][0]["code"] == "not-supported"


def test_what_a_platform_forbids_is_refused_before_it_is_planned(shell: Shell) -> None:
    reason = Refused("version-untested", "Nobody has tried this version.")
    shell.platforms = PlatformReport("nas", "", vetoes=(Veto(reason),))
    result = shell.run("plan", *MIRROR)
    assert (result.exit_code, result.stderr) == (3, "Nobody has tried this version.\n")
    shell.platforms = PlatformReport("nas", "", vetoes=(Veto(reason, "another disk"),))
    assert shell.run("plan", *MIRROR).exit_code == 0


def test_a_cache_is_taken_out_of_service_by_its_guid_or_as_the_only_one(shell: Shell) -> None:
    shell.executor = SimulatedExecutor(with_cache())
    for text in ("auto", CACHE_GUID):
        plan = planned(shell, "--pool", "tank", "--offline-cache", text)
        assert plan.request.offline_cache == CACHE_GUID
        assert [action.action for action in plan.actions] == ["offline-cache"]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--offline-cache", "7"), 3, "no cache with the guid 7. It has: 41"),
        (("--offline-cache", "auto", "--cache", "N2"), 2, "cannot be combined with another SSD"),
    ],
)
def test_which_cache_is_taken_out_of_service_must_be_clear(
    shell: Shell, options: tuple[str, ...], code: int, said: str
) -> None:
    shell.executor = SimulatedExecutor(with_cache())
    result = shell.run("plan", "--pool", "tank", *options)
    assert result.exit_code == code
    assert said in result.output


def test_a_pool_without_a_cache_has_none_to_take_out_of_service(shell: Shell) -> None:
    result = shell.run("plan", "--pool", "tank", "--offline-cache", "auto")
    assert result.exit_code == 3
    assert "Pool tank has no cache." in result.output


def test_a_dead_log_is_taken_out_by_its_guid_or_as_the_only_one(shell: Shell) -> None:
    shell.executor = SimulatedExecutor(with_dead_log())
    for text in ("auto", "61"):
        plan = planned(shell, "--pool", "tank", "--remove-dead-log", text)
        assert plan.request.dead_log == "61"
        assert [action.action for action in plan.actions] == ["drop-log"]


def test_a_dead_log_is_replaced_by_a_new_one_on_the_named_ssds(shell: Shell) -> None:
    shell.executor = SimulatedExecutor(with_dead_log("UNAVAIL", "FAULTED"))
    options = ("--pool", "tank", "--replace-dead-log", "auto", "--log", "N1", "--log", "N2", "--log-size", "4G")
    plan = planned(shell, *options)
    assert (plan.request.dead_log, len(plan.request.log_disks)) == ("60", 2)
    assert [action.action for action in plan.actions][-2:] == ["drop-log", "add-log"]
    assert "zpool remove tank 60" in shell.run("plan", *options).stdout


@pytest.mark.parametrize("option", ["--remove-dead-log", "--replace-dead-log"])
def test_a_log_that_is_not_dead_is_refused_with_its_way_out(shell: Shell, option: str) -> None:
    shell.executor = SimulatedExecutor(with_dead_log("OFFLINE"))
    more = ("--log", "N1", "--log-size", "4G") if option == "--replace-dead-log" else ()
    result = shell.run("plan", "--pool", "tank", option, "auto", *more)
    assert result.exit_code == 3
    assert "zpool online tank 61" in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--remove-dead-log", "7"), "Say which log of pool tank. It has: 61"),
        (("--remove-dead-log", "auto", "--log", "N2"), "cannot be combined with another SSD"),
        (
            ("--remove-dead-log", "auto", "--replace-dead-log", "auto"),
            "--remove-dead-log cannot be combined with another SSD",
        ),
        (("--replace-dead-log", "auto", "--cache", "N2"), "needs an SSD for the new log"),
        (("--replace-dead-log", "auto", "--log", "N2"), "size of each log slice"),
    ],
)
def test_what_becomes_of_a_dead_log_must_be_clear(shell: Shell, options: tuple[str, ...], said: str) -> None:
    shell.executor = SimulatedExecutor(with_dead_log())
    result = shell.run("plan", "--pool", "tank", *options)
    assert result.exit_code == 2
    assert said in result.output


def test_a_pool_without_a_log_has_no_dead_one(shell: Shell) -> None:
    assert "has no log" in shell.run("plan", "--pool", "tank", "--remove-dead-log", "auto").output
