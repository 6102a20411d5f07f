"""What is proposed by default: the SSDs that fit best, only what helps, and never what we warn of ourselves."""

from dataclasses import replace

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from nasadvisor.domain.change.plan import Plan, PlanRequest, make_plan
from nasadvisor.domain.change.proposal import (
    Proposal,
    ProposalFacts,
    SsdHealth,
    Want,
    Wanted,
    cache_bytes_each,
    is_free_ssd,
    largest_quiet_cache_bytes,
    propose,
    propose_instead,
    propose_side,
    single_log_of,
)
from nasadvisor.domain.change.warnings import warnings_for
from nasadvisor.domain.statements import Finding, Level, Statement
from nasadvisor.domain.storage.inventory import Bus, Disk, Hold, HoldKind, Inventory, Pool
from nasadvisor.domain.storage.logs import broken_log_sides
from nasadvisor.domain.units import GIB, MIB, TIB, align_up
from tests.unit.domain.builders import ids_for, inventories, mirrored_log, tank_of
from tests.unit.machines import (
    NVME1,
    NVME2,
    SATA_SSD,
    USB_STICK,
    home_server,
    leaf_on,
    partition,
    ssd,
    with_broken_log,
    with_dead_log,
    with_disk,
    with_partitions,
    with_pool,
    with_single_log,
)

QUIET = Statement("no-commits", "Hardly anybody waits.")
SLOW = Statement("slow-commits", "Programs wait.")
HELPFUL = Want(True, 2 * GIB, SLOW)
USELESS = Want(False, 75 * GIB, QUIET)
BOTH = Wanted(HELPFUL, Want(True, 75 * GIB, SLOW))
FAILING = SsdHealth(Finding("disk-failing", "{disk} fails.", {"disk": "It"}, Level.CRITICAL))


def known(inventory: Inventory | None = None, wanted: Wanted = BOTH, **health: SsdHealth) -> ProposalFacts:
    inventory = inventory or home_server()
    return ProposalFacts(inventory, tank_of(inventory), wanted, health)


def with_health(inventory: Inventory, health: dict[str, SsdHealth], wanted: Wanted = BOTH) -> ProposalFacts:
    return ProposalFacts(inventory, tank_of(inventory), wanted, health)


def with_disks(*disks: Disk) -> Inventory:
    """The home server without SSDs that are free, but for these."""
    inventory = home_server()
    others = tuple(disk for disk in inventory.disks if disk.key not in (NVME1, NVME2))
    return replace(inventory, disks=(*disks, *others))


def sata(number: int, model: str = "Samsung SSD 860 EVO") -> Disk:
    return ssd(f"0x500253800000000{number}", model, f"A{number}", 500 * GIB, Bus.SATA, f"sdx{number}")


def nvme(number: int, model: str = "Samsung SSD 960 EVO 500GB", serial: str = "") -> Disk:
    return ssd(f"eui.002538500000000{number}", model, serial or f"B{number}", 500 * GIB, kernel=f"nvme{number}n1")


def with_room(disk: Disk, room_bytes: int) -> Disk:
    """The disk as large as it must be to have so much room for slices beside the usual reserve of a tenth."""
    size_bytes = align_up((room_bytes + 2 * MIB) * 10 // 9, 4096)
    return replace(disk, identity=replace(disk.identity, size_bytes=size_bytes), usable_end_bytes=size_bytes - MIB)


def beside(inventory: Inventory, *disks: Disk) -> Inventory:
    """The machine with these SSDs in front of the others."""
    return replace(inventory, disks=(*disks, *inventory.disks))


def request_of(proposal: Proposal) -> PlanRequest:
    assert proposal.request
    return proposal.request


def code(reason: Statement | None) -> str:
    return reason.code if reason else ""


def text(reason: Statement | None) -> str:
    return str(reason)


def inner(reason: Statement) -> str:
    """The code of what stands behind "not proposed"."""
    return code(reason.values["reason"] if isinstance(reason.values["reason"], Statement) else None)


class TestFreeSsds:
    def test_a_blank_ssd_inside_the_machine_is_free(self) -> None:
        assert is_free_ssd(nvme(1))
        assert is_free_ssd(sata(1))

    @pytest.mark.parametrize(
        "disk",
        [
            replace(nvme(1), removable=True),
            replace(nvme(1), bus=Bus.USB),
            replace(nvme(1), bus=Bus.MMC),
            replace(nvme(1), rotational=True),
            replace(nvme(1), holds=(Hold(HoldKind.MOUNT, "/srv"),)),
            with_partitions(nvme(1), partition(nvme(1), 1, MIB, GIB)),
            replace(nvme(1), unrecognised_at=0),
        ],
        ids=["removable", "by USB", "a card", "turning", "in use", "partitioned", "unrecognised data"],
    )
    def test_any_other_disk_is_not(self, disk: Disk) -> None:
        assert not is_free_ssd(disk)


class TestPairs:
    def test_two_identical_nvme_ssds_are_paired_and_not_one_with_a_sata_ssd(self) -> None:
        inventory = with_disks(sata(1), nvme(1), nvme(2))
        assert request_of(propose(known(inventory))).log_disks == (nvme(1).key, nvme(2).key)

    def test_of_two_pairs_the_one_with_power_loss_protection_is_taken(self) -> None:
        inventory = with_disks(sata(1), sata(2), nvme(1), nvme(2))
        health = {disk.key: SsdHealth(power_loss="confirmed", percent_used=20) for disk in (nvme(1), nvme(2))}
        health |= {disk.key: SsdHealth(power_loss="unlikely", percent_used=1) for disk in (sata(1), sata(2))}
        assert request_of(propose(with_health(inventory, health))).log_disks == (nvme(1).key, nvme(2).key)

    def test_two_that_are_not_alike_but_protected_go_before_a_pair_without_protection(self) -> None:
        inventory = with_disks(sata(1), sata(2), nvme(1), nvme(2, "WD_BLACK SN770"))
        health = {disk.key: SsdHealth(power_loss="unlikely") for disk in (sata(1), sata(2))}
        protected = (nvme(1), nvme(2, "WD_BLACK SN770"))
        health |= {disk.key: SsdHealth(power_loss="confirmed") for disk in protected}
        assert set(request_of(propose(with_health(inventory, health))).log_disks) == {disk.key for disk in protected}

    def test_a_log_without_protection_is_not_proposed_and_it_says_why(self) -> None:
        inventory = with_disks(nvme(1), nvme(2))
        health = {disk.key: SsdHealth(power_loss="unlikely") for disk in (nvme(1), nvme(2))}
        proposal = propose(with_health(inventory, health))
        assert code(proposal.no_log) == "power-loss-protection-unlikely"

    def test_of_two_pairs_the_one_is_taken_whose_worse_side_is_better(self) -> None:
        inventory = with_disks(nvme(1), nvme(2), sata(1), sata(2))
        health = {nvme(1).key: SsdHealth(power_loss="confirmed", percent_used=1)}
        health |= {nvme(2).key: SsdHealth(power_loss="likely", percent_used=1)}
        health |= {disk.key: SsdHealth(power_loss="confirmed", percent_used=30) for disk in (sata(1), sata(2))}
        assert request_of(propose(with_health(inventory, health))).log_disks == (sata(1).key, sata(2).key)

    def test_protection_goes_before_wear_and_the_surer_before_the_less_sure(self) -> None:
        sure = {4: ("confirmed", 70), 3: ("likely", 60), 2: ("", 50), 1: ("unlikely", 0)}
        inventory = with_disks(*map(nvme, (1, 2, 3, 4)))
        health = {nvme(number).key: SsdHealth(None, worn, word) for number, (word, worn) in sure.items()}
        request = request_of(propose(with_health(inventory, health)))
        assert (request.log_disks, request.cache_disks) == (
            (nvme(4).key, nvme(3).key),
            (nvme(2).key, nvme(1).key),
        )

    @pytest.mark.parametrize("word", ["confirmed", "likely", "", "unlikely"])
    def test_of_two_that_are_as_sure_the_less_worn_goes_first(self, word: str) -> None:
        inventory = with_disks(nvme(1), nvme(2))
        health = {nvme(1).key: SsdHealth(None, 2, word), nvme(2).key: SsdHealth(None, 1, word)}
        wanted = Wanted(USELESS, BOTH.cache)
        assert request_of(propose(with_health(inventory, health, wanted))).cache_disks == (nvme(2).key, nvme(1).key)

    def test_two_of_one_model_go_before_a_better_one_of_another_on_the_same_bus(self) -> None:
        inventory = with_disks(nvme(1), nvme(2, "WD_BLACK SN770"), nvme(3))
        health = {nvme(number).key: SsdHealth(percent_used=number) for number in (1, 3)}
        health |= {nvme(2, "WD_BLACK SN770").key: SsdHealth(percent_used=2)}
        assert request_of(propose(with_health(inventory, health))).log_disks == (nvme(1).key, nvme(3).key)

    def test_of_three_alike_the_two_least_worn_are_taken(self) -> None:
        inventory = with_disks(nvme(1), nvme(2), nvme(3))
        health = {nvme(number).key: SsdHealth(percent_used=percent) for number, percent in ((1, 40), (2, 3), (3, 5))}
        assert request_of(propose(with_health(inventory, health))).log_disks == (nvme(2).key, nvme(3).key)

    def test_two_models_on_one_bus_go_before_two_buses(self) -> None:
        inventory = with_disks(sata(1), nvme(1), nvme(2, "WD_BLACK SN770"))
        assert set(request_of(propose(known(inventory))).log_disks) == {nvme(1).key, nvme(2, "WD_BLACK SN770").key}

    def test_two_buses_are_better_than_no_mirror(self) -> None:
        assert len(request_of(propose(known(with_disks(sata(1), nvme(1))))).log_disks) == 2

    def test_two_namespaces_of_one_ssd_are_no_pair_however_their_serial_is_written(self) -> None:
        inventory = with_disks(nvme(1, serial="B9"), nvme(2, serial=" b9 "))
        proposal = propose(known(inventory, Wanted(HELPFUL, USELESS)))
        assert proposal.request is None
        assert "needs two suitable free SSDs; found: 1." in text(proposal.no_log)

    def test_ssds_with_just_the_room_for_the_log_are_paired_and_smaller_ones_are_not(self) -> None:
        just, less = (
            with_disks(*(with_room(nvme(number), room_bytes) for number in (1, 2)))
            for room_bytes in (2 * GIB, 2 * GIB - MIB)
        )
        wanted = Wanted(HELPFUL, USELESS)
        assert request_of(propose(known(just, wanted))).log_disks == (nvme(1).key, nvme(2).key)
        assert code(propose(known(less, wanted)).no_log) == "no-pair-for-log"

    def test_one_ssd_alone_gets_no_log(self) -> None:
        proposal = propose(known(with_disks(nvme(1)), Wanted(HELPFUL, USELESS)))
        assert proposal.request is None
        assert code(proposal.no_log) == "no-pair-for-log"


class TestWhoIsLeftOut:
    def test_an_ssd_that_failed_smart_is_never_proposed_and_says_so(self) -> None:
        proposal = propose(with_health(with_disks(nvme(1), nvme(2), nvme(3)), {nvme(1).key: FAILING}))
        assert nvme(1).key not in request_of(proposal).disks
        assert text(proposal.left_out[nvme(1).key]) == "Not proposed: It fails."

    def test_an_ssd_at_92_percent_with_media_errors_is_never_proposed(self) -> None:
        errors = Finding("media-errors", "{disk} lost 3.", {"disk": "It"}, Level.WARNING)
        health = {nvme(2).key: SsdHealth(errors, 92.0)}
        proposal = propose(with_health(with_disks(nvme(1), nvme(2), nvme(3)), health))
        assert nvme(2).key not in request_of(proposal).disks
        assert text(proposal.left_out[nvme(2).key]) == "Not proposed: It lost 3."

    def test_an_ssd_is_worn_from_80_percent_on(self) -> None:
        health = {nvme(1).key: SsdHealth(percent_used=80), nvme(2).key: SsdHealth(percent_used=79.9)}
        proposal = propose(with_health(with_disks(nvme(1), nvme(2), nvme(3)), health))
        assert set(request_of(proposal).log_disks) == {nvme(2).key, nvme(3).key}
        assert "has used 80 % of its rated endurance" in text(proposal.left_out[nvme(1).key])
        assert "SSDs at 80 % or more are not proposed" in text(proposal.left_out[nvme(1).key])
        assert inner(proposal.left_out[nvme(1).key]) == "worn-for-proposal"

    def test_a_stick_a_disk_in_use_and_a_hard_disk_are_never_proposed(self) -> None:
        proposal = propose(known())
        assert request_of(proposal).disks == (NVME1, NVME2)
        assert text(proposal.left_out[USB_STICK]).startswith("Not proposed: Ultra Fit (U3) is connected by USB.")
        assert SATA_SSD not in proposal.left_out, "why it cannot be used at all is said already"

    def test_an_ssd_with_data_that_nobody_recognises_is_left_out(self) -> None:
        proposal = propose(known(with_disks(replace(nvme(1), unrecognised_at=0), nvme(2), nvme(3))))
        assert nvme(1).key not in request_of(proposal).disks
        assert inner(proposal.left_out[nvme(1).key]) == "unrecognised-data"

    def test_an_ssd_whose_units_are_larger_than_the_pools_is_left_out(self) -> None:
        coarse = replace(nvme(1), identity=replace(nvme(1).identity, physical_sector_bytes=8192))
        proposal = propose(known(with_disks(coarse, nvme(2), nvme(3))))
        assert coarse.key not in request_of(proposal).disks
        assert "works in units of 8192 bytes" in text(proposal.left_out[coarse.key])

    def test_a_disk_that_a_platform_forbids_says_why(self) -> None:
        mine = replace(known(), vetoes={NVME1: Statement("x", "The platform uses it.")})
        proposal = propose(mine)
        assert NVME1 not in request_of(proposal).disks
        assert text(proposal.left_out[NVME1]) == "Not proposed: The platform uses it."

    def test_a_platform_is_named_before_the_disk_itself_and_failing_before_worn(self) -> None:
        coarse = replace(nvme(1), identity=replace(nvme(1).identity, physical_sector_bytes=8192))
        inventory, worn = with_disks(coarse, nvme(2), nvme(3)), SsdHealth(percent_used=90)
        failing = replace(FAILING, percent_used=90)

        def reason(health: SsdHealth, **vetoes: Statement) -> str:
            mine = replace(with_health(inventory, {coarse.key: health}), vetoes=vetoes)
            return inner(propose(mine).left_out[coarse.key])

        assert reason(failing, **{coarse.key: Statement("x", "The platform uses it.")}) == "x"
        assert reason(failing) == "disk-failing"
        assert reason(worn) == "worn-for-proposal"
        assert reason(SsdHealth()) not in ("x", "disk-failing", "worn-for-proposal")

    def test_an_ssd_that_is_not_needed_says_so(self) -> None:
        proposal = propose(known(with_disks(nvme(1), nvme(2), nvme(3)), Wanted(HELPFUL, USELESS)))
        assert code(proposal.left_out[nvme(3).key]) == "not-needed"
        assert inner(proposal.left_out[nvme(3).key]) == "others-fit-better"

    def test_where_nothing_is_proposed_nothing_is_held_against_a_good_ssd(self) -> None:
        assert NVME1 not in propose(known(wanted=Wanted(USELESS, USELESS))).left_out


class TestWhatHelps:
    def test_where_log_and_cache_are_proposed_nothing_speaks_against_them(self) -> None:
        proposal = propose(known())
        assert request_of(proposal).log_disks == request_of(proposal).cache_disks == (NVME1, NVME2)
        assert (proposal.no_log, proposal.no_cache) == (None, None)

    def test_a_cache_that_would_help_without_any_ssd_for_it_says_so(self) -> None:
        assert code(propose(known(with_disks())).no_cache) == "no-ssd-for-cache"

    def test_nothing_is_proposed_where_nothing_helps_and_the_evidence_says_why(self) -> None:
        proposal = propose(known(wanted=Wanted(USELESS, replace(USELESS, because=SLOW))))
        assert proposal.request is None
        assert (proposal.no_log, proposal.no_cache) == (QUIET, SLOW)

    def test_a_log_alone_has_the_recommended_size(self) -> None:
        request = request_of(propose(known(wanted=Wanted(HELPFUL, USELESS))))
        assert (request.log_size_bytes, request.cache_disks) == (2 * GIB, ())

    def test_a_cache_alone_has_the_recommended_size_and_not_all_that_fits(self) -> None:
        request = request_of(propose(known(wanted=Wanted(USELESS, BOTH.cache))))
        assert request.log_disks == ()
        assert request.cache_size_bytes == 37 * GIB
        assert len(request.cache_disks) == 2

    def test_the_cache_keeps_off_the_ssds_of_the_log_where_others_are_free(self) -> None:
        request = request_of(propose(known(with_disks(nvme(1), nvme(2), sata(1)))))
        assert request.cache_disks == (sata(1).key,)
        assert request.cache_size_bytes == 75 * GIB

    def test_a_cache_has_no_more_than_fits_beside_log_and_reserve(self) -> None:
        small = [replace(nvme(number), usable_end_bytes=20 * GIB - MIB) for number in (1, 2)]
        small = [replace(disk, identity=replace(disk.identity, size_bytes=20 * GIB)) for disk in small]
        request = request_of(propose(known(with_disks(*small))))
        assert request.cache_disks == request.log_disks
        assert request.cache_size_bytes is None, "as much as fits is less than half of 75 GiB"

    def test_a_cache_is_cut_to_what_its_headers_may_take(self) -> None:
        inventory = home_server()
        tight = replace(inventory, host=replace(inventory.host, memory_bytes=GIB // 2))
        request = PlanRequest(tank_of(tight).guid, cache_disks=(NVME1,))
        cut = cache_bytes_each(tight, request, 400 * GIB)
        assert cut == 34 * GIB
        assert cache_bytes_each(inventory, request, 400 * GIB) == 400 * GIB

    def test_a_cache_is_on_two_of_many_ssds_that_are_alike(self) -> None:
        wanted = Wanted(USELESS, BOTH.cache)
        request = request_of(propose(known(with_disks(*map(nvme, (1, 2, 3))), wanted)))
        assert request.cache_disks == (nvme(1).key, nvme(2).key)

    def test_beside_a_log_a_cache_has_what_the_log_leaves(self) -> None:
        inventory = with_disks(with_room(nvme(1), 20 * GIB), with_room(nvme(2), 20 * GIB))
        guid, both = tank_of(inventory).guid, (nvme(1).key, nvme(2).key)
        alone = PlanRequest(guid, cache_disks=both[:1], reserve_percent=10)
        beside_log = replace(alone, log_disks=both, log_size_bytes=4 * GIB)
        assert cache_bytes_each(inventory, beside_log, 15 * GIB) == 15 * GIB
        assert cache_bytes_each(inventory, beside_log, 16 * GIB) is None, "it is all that fits"
        assert cache_bytes_each(inventory, replace(beside_log, log_disks=both[1:]), 19 * GIB) == 19 * GIB
        assert cache_bytes_each(inventory, alone, 20 * GIB) is None
        assert cache_bytes_each(inventory, alone, 20 * GIB - 1) == 19 * GIB
        assert cache_bytes_each(inventory, PlanRequest(guid), 0) is None

    def test_a_cache_beside_a_new_side_has_what_that_side_leaves(self) -> None:
        single = beside(with_single_log(), with_room(nvme(3), 20 * GIB))
        keys = (nvme(3).key,)
        request = PlanRequest(tank_of(single).guid, keys, cache_disks=keys, reserve_percent=10, attach_to="31")
        assert cache_bytes_each(single, request, 15 * GIB) == 15 * GIB
        assert cache_bytes_each(single, request, 16 * GIB) is None, "a side of 4 GiB stands beside it"
        short = with_partitions(sata(1), partition(sata(1), 1, MIB, 2 * GIB, Hold(HoldKind.POOL, "tank")))
        broken = beside(with_broken_log(), with_room(nvme(3), 20 * GIB), short)
        (mirror,) = tank_of(broken).logs
        sides = (mirror.children[0], replace(leaf_on(short, "32"), state="FAULTED"))
        broken = with_pool(broken, logs=(replace(mirror, children=sides),))
        assert cache_bytes_each(broken, replace(request, replaces="32"), 16 * GIB) is None
        assert cache_bytes_each(broken, request, 16 * GIB) == 16 * GIB, "beside the short one it is as short"

    def test_caches_are_of_whole_gib_and_small_ones_of_whole_mib(self) -> None:
        inventory = with_disks(nvme(1), nvme(2))
        request = PlanRequest(tank_of(inventory).guid, cache_disks=(nvme(1).key, nvme(2).key))
        for total, each in ((5 * GIB, 2 * GIB), (2 * GIB + 1, GIB), (600 * MIB + 3, 300 * MIB)):
            found = cache_bytes_each(inventory, request, total)
            assert (found, type(found)) == (each, int)
        quiet = largest_quiet_cache_bytes(replace(inventory.host, memory_bytes=GIB + 77))
        assert type(quiet) is int

    def test_what_stands_against_the_pool_is_the_reason(self) -> None:
        assert code(propose(known(with_pool(home_server(), checkpoint="1G"))).no_log) == "pool-checkpoint"
        assert code(propose(known(with_pool(home_server(), scan="scrub"))).no_cache) == "scan-running"
        proposal = propose(known(with_pool(home_server(), locked_datasets=("tank/secret",))))
        assert code(proposal.no_log) == "keys-not-loaded"
        assert request_of(proposal).cache_disks, "keys matter to a log only"


class TestInsteadOfADeadLog:
    def test_two_ssds_for_a_mirror_are_proposed_whatever_the_evidence_says(self) -> None:
        proposal = propose_instead(known(with_dead_log("FAULTED"), Wanted(USELESS, BOTH.cache)), "61")
        request = request_of(proposal)
        assert (request.dead_log, request.reserve_percent, request.cache_disks) == ("61", 10, ())
        assert len(request.log_disks) == 2
        assert (proposal.no_log, proposal.no_cache) == (None, None)

    def test_where_there_are_no_two_it_says_how_many_and_what_is_against_the_others(self) -> None:
        inventory = with_dead_log("FAULTED")
        free = propose_instead(known(inventory), "61").request
        assert free
        gone, kept = free.log_disks
        proposal = propose_instead(with_health(inventory, {gone: FAILING}), "61")
        assert (proposal.request, proposal.no_cache) == (None, None)
        assert code(proposal.no_log) == "no-pair-instead"
        assert text(proposal.no_log) == "The new log needs two suitable free SSDs for a mirror; found: 1."
        assert text(proposal.left_out[gone]) == "Not proposed: It fails."
        assert kept not in proposal.left_out

    def test_ssds_that_are_not_needed_say_so(self) -> None:
        proposal = propose_instead(known(beside(with_dead_log("FAULTED"), sata(1), sata(2), sata(3))), "61")
        left = {sata(number).key for number in (1, 2, 3)} - set(request_of(proposal).disks)
        assert left
        assert {code(proposal.left_out[key]) for key in left} == {"not-needed"}


class TestLogsThatAreThere:
    def test_that_there_is_one_is_said_before_that_none_helps(self) -> None:
        inventory, _ = mirrored_log()
        cached = with_pool(inventory, caches=(replace(tank_of(inventory).data[0].children[0], guid="77"),))
        proposal = propose(known(cached, Wanted(USELESS, USELESS)))
        assert (code(proposal.no_log), code(proposal.no_cache)) == ("has-log", "has-cache")

    def test_a_pool_with_a_mirrored_log_is_proposed_none_and_no_stripe(self) -> None:
        inventory, _ = mirrored_log()
        inventory = replace(inventory, disks=(*inventory.disks, nvme(3), nvme(4)))
        proposal = propose(known(inventory, Wanted(HELPFUL, USELESS)))
        assert proposal.request is None
        assert text(proposal.no_log) == "Pool tank already has a log."
        assert code(proposal.no_log) == "has-log"

    def test_a_single_log_is_proposed_a_second_side(self) -> None:
        inventory = with_single_log()
        request = request_of(propose(known(inventory, Wanted(HELPFUL, USELESS))))
        assert (request.attach_to, request.replaces, request.log_disks) == ("31", "", (NVME2,))

    def test_a_single_log_is_proposed_no_second_side_where_no_log_helps(self) -> None:
        proposal = propose(known(with_single_log(), Wanted(USELESS, USELESS)))
        assert (proposal.request, proposal.no_log) == (None, QUIET)

    def test_another_namespace_of_an_ssd_of_the_log_is_no_side_for_it(self) -> None:
        single = beside(with_single_log(), nvme(3, serial="N1"))
        assert request_of(propose_side(known(single), "31")).log_disks == (NVME2,)
        mirror = beside(mirrored_log()[0], nvme(3, serial="N2"), nvme(4))
        assert request_of(propose_side(known(mirror), "31")).log_disks == (nvme(4).key,)

    def test_an_ssd_with_just_the_room_for_a_side_becomes_one_and_a_smaller_one_does_not(self) -> None:
        for room_bytes, keys in ((4 * GIB, (nvme(3).key,)), (4 * GIB - MIB, (NVME2,))):
            inventory = beside(with_single_log(), with_room(nvme(3), room_bytes))
            assert request_of(propose_side(known(inventory), "31")).log_disks == keys

    def test_a_side_instead_of_a_shorter_one_is_as_long_as_those_that_stay(self) -> None:
        short = with_partitions(sata(1), partition(sata(1), 1, MIB, 2 * GIB, Hold(HoldKind.POOL, "tank")))
        inventory = beside(with_broken_log(), with_room(nvme(3), 3 * GIB), short)
        (mirror,) = tank_of(inventory).logs
        broken = replace(leaf_on(short, "32"), state="FAULTED")
        inventory = with_pool(inventory, logs=(replace(mirror, children=(mirror.children[0], broken)),))
        assert request_of(propose_side(known(inventory), "31", "32")).log_disks == (NVME2,)

    def test_of_a_side_that_is_not_there_nothing_is_proposed(self) -> None:
        proposal = propose_side(known(wanted=Wanted(USELESS, USELESS)), "99")
        assert proposal.request is None
        assert code(proposal.no_log) == "log-side-gone"

    def test_where_nothing_can_replace_a_broken_side_it_is_said_and_why_each_ssd_cannot(self) -> None:
        inventory = with_disk(with_broken_log(), NVME2, removable=True)
        proposal = propose_side(with_health(beside(inventory, nvme(3)), {nvme(3).key: FAILING}), "31", "32")
        assert (proposal.request, code(proposal.no_log)) == (None, "no-side-for-log")
        assert text(proposal.left_out[nvme(3).key]) == "Not proposed: It fails."

    def test_where_a_broken_side_can_be_replaced_the_other_ssds_are_said_not_to_be_needed(self) -> None:
        proposal = propose_side(known(beside(with_broken_log(), sata(1))), "31", "32")
        assert proposal.no_log is None
        assert code(proposal.left_out[sata(1).key]) == "not-needed"

    def test_the_new_side_is_like_the_one_that_is_there(self) -> None:
        inventory = with_single_log()
        inventory = replace(inventory, disks=(sata(1), *inventory.disks))
        protected = {sata(1).key: SsdHealth(power_loss="confirmed")}
        assert request_of(propose(with_health(inventory, protected))).log_disks == (NVME2,)

    def test_a_side_without_protection_is_left_to_whoever_wants_it(self) -> None:
        unprotected = {NVME2: SsdHealth(power_loss="unlikely")}
        proposal = propose(with_health(with_single_log(), unprotected))
        assert code(proposal.no_log) == "power-loss-protection-unlikely"

    def test_a_side_that_somebody_asked_for_needs_no_evidence(self) -> None:
        proposal = propose_side(known(with_single_log(), Wanted(USELESS, USELESS)), "31")
        assert request_of(proposal).log_disks == (NVME2,)
        assert proposal.no_cache == QUIET

    def test_the_broken_side_is_replaced_and_nothing_else_added(self) -> None:
        request = request_of(propose_side(known(with_broken_log()), "31", "32"))
        assert (request.replaces, request.log_disks, request.cache_disks) == ("32", (NVME2,), ())

    def test_a_log_on_the_only_free_ssd_gets_no_side(self) -> None:
        inventory = with_disk(with_single_log(), NVME2, removable=True)
        assert code(propose(known(inventory, Wanted(HELPFUL, USELESS))).no_log) == "no-side-for-log"

    def test_a_cache_that_is_there_gets_no_other(self) -> None:
        inventory = home_server()
        cache = replace(tank_of(inventory).data[0].children[0], guid="77")
        proposal = propose(known(with_pool(inventory, caches=(cache,))))
        assert text(proposal.no_cache) == "Pool tank already has a cache."
        assert code(proposal.no_cache) == "has-cache"
        assert not request_of(proposal).cache_disks


@st.composite
def answers(draw: st.DrawFn, inventory: Inventory, pool: Pool) -> ProposalFacts:
    """What evidence, SMART and a platform may say."""
    sizes = st.sampled_from((0, MIB, GIB, 75 * GIB, 4 * TIB))
    wants = [Want(draw(st.sampled_from((True, True, False))), draw(sizes), SLOW) for _ in range(2)]
    healths = st.builds(
        SsdHealth,
        st.sampled_from((None, None, None, FAILING.problem)),
        st.none() | st.floats(0, 255),
        st.sampled_from(("", "confirmed", "likely", "unlikely", "unknown")),
    )
    keys = [disk.key for disk in inventory.disks]
    health = {key: draw(healths) for key in keys if draw(st.booleans())}
    vetoes = {key: QUIET for key in keys if draw(st.sampled_from((False,) * 9 + (True,)))}
    return ProposalFacts(inventory, pool, Wanted(*wants), health, vetoes)


@st.composite
def hardware(draw: st.DrawFn, inventory: Inventory) -> Inventory:
    """The machine with disks of several sorts, mostly inside and on two buses."""

    def other(disk: Disk) -> Disk:
        bus = draw(st.sampled_from((Bus.NVME, Bus.NVME, Bus.SATA, Bus.SATA, Bus.USB)))
        physical = draw(st.sampled_from((disk.identity.physical_sector_bytes,) * 5 + (16384,)))
        identity = replace(disk.identity, model=draw(st.sampled_from("AB")), physical_sector_bytes=physical)
        few = st.sampled_from((False,) * 9 + (True,))
        return replace(disk, bus=bus, identity=identity, rotational=draw(few), removable=draw(few))

    memory = draw(st.sampled_from((GIB, 32 * GIB)))
    host = replace(inventory.host, memory_bytes=memory)
    return replace(inventory, disks=tuple(map(other, inventory.disks)), host=host)


def every_default(mine: ProposalFacts) -> list[Proposal]:
    """What is proposed for a pool by itself, and what once somebody wants its log to be whole."""
    single = single_log_of(mine.pool)
    sides = [propose_side(mine, single.guid)] if single else []
    broken = [propose_side(mine, each.partner.guid, each.side.guid) for each in broken_log_sides(mine.pool)]
    return [propose(mine), *sides, *broken]


@given(st.data())
def test_no_default_is_ever_refused_or_warned_of_by_ourselves(data: st.DataObject) -> None:
    inventory = data.draw(hardware(data.draw(inventories())))
    mine = data.draw(answers(inventory, data.draw(st.sampled_from(inventory.pools))))
    for proposal in every_default(mine):
        request = proposal.request
        if request is None:
            assert proposal.no_log
            continue
        plan = make_plan(request, inventory, ids_for(request))
        assert isinstance(plan, Plan), str(plan)
        protection = {key: each.power_loss for key, each in mine.health.items()}
        told = {each.code for each in warnings_for(plan, inventory, protection) if each.level is not Level.INFO}
        assert told <= ({"attach-resilvers"} if request.attach_to else set())
        assert not set(request.disks) & mine.vetoes.keys()
        for key in request.disks:
            health = mine.health.get(key, SsdHealth())
            assert health.problem is None
            assert health.percent_used is None or health.percent_used < 80


def sort_of(proposal: Proposal) -> str:
    request = proposal.request
    if request is None:
        return "nothing"
    sorts = {"side": request.attach_to, "log": request.log_disks, "cache": request.cache_disks}
    return "replacement" if request.replaces else next(name for name, is_there in sorts.items() if is_there)


def test_the_made_up_machines_bring_forth_every_sort_of_proposal() -> None:
    """So that the property above says something."""
    seen: set[str] = set()

    @settings(max_examples=150, phases=[Phase.generate], database=None, derandomize=True)
    @given(st.data())
    def look(data: st.DataObject) -> None:
        inventory = data.draw(hardware(data.draw(inventories())))
        mine = data.draw(answers(inventory, data.draw(st.sampled_from(inventory.pools))))
        seen.update(map(sort_of, every_default(mine)))

    look()
    assert seen >= {"nothing", "log", "side", "cache"}, "a replacement is rare; it has a test of its own"
