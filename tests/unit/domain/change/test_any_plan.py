"""What holds for every plan, whatever the machine and the wish: tried on hundreds of made-up ones."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.change.actions import (
    AddCache,
    AddLog,
    Argv,
    AttachLog,
    CreateTable,
    Role,
    SaveTable,
    Slice,
)
from nasadvisor.domain.change.checks import can
from nasadvisor.domain.change.consequences import losses_of
from nasadvisor.domain.change.plan import Plan, PlanIds, PlanRefused, make_plan
from nasadvisor.domain.change.undo import undo_preview
from nasadvisor.domain.change.warnings import warnings_for
from nasadvisor.domain.statements import Allowed
from nasadvisor.domain.storage.gaps import MIN_SLICE_BYTES, free_extents
from nasadvisor.domain.storage.inventory import Inventory, Pool
from nasadvisor.domain.units import MIB
from tests.unit.domain.builders import Example, ids_for, inventories, requests, wild_requests

FORBIDDEN_WORDS = {"-f", "--force", "-F", "-Z", "--zap-all", "sh", "-c"}
KERNEL_NAME = re.compile(r"^(/dev/)?(sd[a-z]+|nvme\d+n\d+|vd[a-z]+|hd[a-z]+|xvd[a-z]+)p?\d*$")


def test_the_examples_are_many_and_of_every_sort(examples: tuple[Example, ...]) -> None:
    wishes = [plan.request for _, plan in examples]
    assert len(wishes) > 80
    assert any(wish.attach_to for wish in wishes)
    assert any(len(wish.log_disks) > 1 for wish in wishes)
    assert any(set(wish.log_disks) & set(wish.cache_disks) for wish in wishes)
    assert any(isinstance(action, SaveTable) and action.places for _, plan in examples for action in plan.actions)


def slices_by_disk(plan: Plan) -> Iterator[tuple[Slice, ...]]:
    for key in plan.request.disks:
        yield tuple(piece for piece in plan.slices if piece.disk_key == key)


def pool_of(plan: Plan, inventory: Inventory) -> Pool:
    pool = inventory.pool(plan.request.pool_guid)
    assert pool is not None
    return pool


def every_command(plan: Plan) -> list[Argv]:
    adds = [action for action in plan.actions if isinstance(action, AddLog | AddCache)]
    forwards = [argv for action in plan.actions for argv in action.commands()]
    return [*forwards, *(add.dry_run() for add in adds), *undo_preview(plan)]


def test_slices_are_aligned_lie_in_free_space_and_never_overlap(examples: tuple[Example, ...]) -> None:
    for inventory, plan in examples:
        for pieces in slices_by_disk(plan):
            disk = inventory.disk(pieces[0].disk_key)
            assert disk
            taken = [(part.start_bytes, part.end_bytes) for part in disk.partitions]
            for piece in pieces:
                start, end = piece.start_bytes, piece.start_bytes + piece.size_bytes
                assert start % MIB == end % MIB == 0
                assert piece.size_bytes >= MIN_SLICE_BYTES
                assert start >= MIB
                assert disk.usable_start_bytes <= start < end <= disk.usable_end_bytes
                assert all(end <= other_start or other_end <= start for other_start, other_end in taken)
                taken.append((start, end))


def test_the_log_comes_first_the_cache_next_and_the_reserve_last(examples: tuple[Example, ...]) -> None:
    for inventory, plan in examples:
        for pieces in slices_by_disk(plan):
            disk = inventory.disk(pieces[0].disk_key)
            assert disk
            assert [piece.role for piece in pieces] in ([Role.LOG], [Role.CACHE], [Role.LOG, Role.CACHE])
            assert all(left.start_bytes + left.size_bytes <= right.start_bytes for left, right in pairwise(pieces))
            reserve = max(disk.identity.size_bytes * plan.request.reserve_percent // 100, inventory.host.tail_bytes)
            end = max(piece.start_bytes + piece.size_bytes for piece in pieces)
            assert disk.usable_end_bytes - end >= reserve


def test_a_plan_makes_what_was_asked_for_and_nothing_else(examples: tuple[Example, ...]) -> None:
    for inventory, plan in examples:
        request = plan.request
        logs = [piece for piece in plan.slices if piece.role is Role.LOG]
        caches = [piece for piece in plan.slices if piece.role is Role.CACHE]
        assert tuple(piece.disk_key for piece in logs) == request.log_disks
        assert {piece.disk_key for piece in caches} == set(request.cache_disks)
        assert len(caches) == len(request.cache_disks)
        if not request.attach_to:
            assert {piece.size_bytes for piece in logs} <= {-(-request.log_size_bytes // MIB) * MIB}
        if request.cache_size_bytes is not None:
            assert {piece.size_bytes for piece in caches} <= {-(-request.cache_size_bytes // MIB) * MIB}
        assert {piece.naming for piece in plan.slices} <= {request.naming}
        pool, after = pool_of(plan, inventory), pool_of(plan, plan.after(inventory))
        assert len(after.caches) == len(pool.caches) + len(caches)
        new_logs = 0 if request.attach_to or not logs else 1
        assert len(after.logs) == len(pool.logs) + new_logs
        assert sum(len(list(top.leaves())) for top in after.logs) == len(pool.logs) + len(logs)


def test_numbers_and_partuuids_are_new_and_distinct(examples: tuple[Example, ...]) -> None:
    for inventory, plan in examples:
        known = {part.partuuid for disk in inventory.disks for part in disk.partitions}
        new = [piece.partuuid for piece in plan.slices]
        tables = [action.table_uuid for action in plan.actions if isinstance(action, CreateTable)]
        assert len(set(new + tables)) == len(new + tables)
        assert known.isdisjoint(new)
        for pieces in slices_by_disk(plan):
            disk = inventory.disk(pieces[0].disk_key)
            assert disk
            numbers = [part.number for part in disk.partitions] + [piece.number for piece in pieces]
            assert len(set(numbers)) == len(numbers)
            assert all(1 <= piece.number <= 128 for piece in pieces)


def test_no_partition_that_was_there_is_touched(examples: tuple[Example, ...]) -> None:
    for inventory, plan in examples:
        after = plan.after(inventory)
        for before_disk, after_disk in zip(inventory.disks, after.disks, strict=True):
            kept = [part for part in after_disk.partitions if part in before_disk.partitions]
            assert kept == list(before_disk.partitions)
            if before_disk.key not in plan.request.disks:
                assert after_disk == before_disk
            if before_disk.partitions:
                assert plan.request.use_free_extents or before_disk.key not in plan.request.disks
        made_tables = {action.disk_key for action in plan.actions if isinstance(action, CreateTable)}
        assert all(not disk.partitions and not disk.table_uuid for disk in inventory.disks if disk.key in made_tables)
        other_pools = [pool for pool in inventory.pools if pool.guid != plan.request.pool_guid]
        assert all(pool in after.pools for pool in other_pools)


def test_the_sides_of_a_mirror_are_of_one_size_on_different_ssds(examples: tuple[Example, ...]) -> None:
    for inventory, plan in examples:
        for action in plan.actions:
            if not isinstance(action, AddLog | AttachLog):
                continue
            pieces = list(action.sides) if isinstance(action, AddLog) else [action.side]
            disks = [inventory.disk(piece.disk_key) for piece in pieces]
            if isinstance(action, AttachLog):
                partner = inventory.partition_at(action.existing_path)
                assert partner
                disks.append(partner[0])
                assert 0 <= pieces[0].size_bytes - partner[1].size_bytes < MIB
            serials = [disk.identity.serial.strip().upper() or disk.key for disk in disks if disk]
            assert len(set(serials)) == len(serials)
            assert len({piece.size_bytes for piece in pieces}) == 1


def test_no_command_uses_force_a_kernel_name_or_a_shell(examples: tuple[Example, ...]) -> None:
    for inventory, plan in examples:
        for argv in every_command(plan):
            assert isinstance(argv, tuple)
            assert argv[0] in {"zpool", "sgdisk", "blkdiscard"}
            assert FORBIDDEN_WORDS.isdisjoint(argv)
            assert not any(word.startswith("--allow") for word in argv)
            assert not any(KERNEL_NAME.match(word) for word in argv)
            paths = [word for word in argv if word.startswith("/")]
            assert all(re.match(r"/dev/disk/by-(id|partuuid)/", path) for path in paths)
            # A name full of what a shell would act on stays one word, and no name can pass for an option.
            names = [disk.path for disk in inventory.disks]
            assert all(any(path.startswith(name) for name in names) for path in paths if "by-id" in path)
            assert not any(word.startswith("-") and "\\" in word for word in argv)


def test_zpool_add_always_has_a_class_and_the_ashift_of_the_pool(examples: tuple[Example, ...]) -> None:
    for inventory, plan in examples:
        for argv in every_command(plan):
            pool = pool_of(plan, inventory)
            if argv[:2] in {("zpool", "add"), ("zpool", "attach")}:
                words = [word for word in argv[2:] if word != "-n"]
                assert words[:3] == ["-o", f"ashift={pool.ashift}", pool.name]
            if argv[:2] == ("zpool", "add"):
                assert words[3] in {"log", "cache"}
                assert all(word.startswith("/dev/disk/") or word in {"log", "cache", "mirror"} for word in words[3:])


@given(st.data())
def test_a_plan_depends_on_nothing_but_its_wish_the_machine_and_the_identifiers(data: st.DataObject) -> None:
    inventory = data.draw(inventories())
    request = data.draw(requests(inventory))
    first = make_plan(request, inventory, ids_for(request))
    assert make_plan(request, inventory, ids_for(request)) == first
    shuffled = replace(
        inventory,
        disks=tuple(data.draw(st.permutations(inventory.disks))),
        pools=tuple(data.draw(st.permutations(inventory.pools))),
        read_at="2030-01-01T00:00:00+00:00",
    )
    second = make_plan(request, shuffled, ids_for(request))
    if isinstance(first, Plan):
        assert second == first
    else:
        assert isinstance(second, PlanRefused)
        assert {refusal.code for refusal in second.refusals} == {refusal.code for refusal in first.refusals}


def test_every_step_is_allowed_when_its_turn_comes_and_not_before(examples: tuple[Example, ...]) -> None:
    for inventory, plan in examples:
        now = inventory
        for action in plan.actions:
            assert can(action, now) == Allowed()
            assert action.landed(now) is None
            now = action.forwards(now)
            if not isinstance(action, SaveTable):
                assert action.landed(now) is not None
                assert can(action, now) != Allowed()


@given(st.data())
def test_make_plan_answers_whatever_it_is_asked(data: st.DataObject) -> None:
    inventory = data.draw(inventories())
    request = data.draw(wild_requests(inventory))
    ids = data.draw(st.sampled_from((ids_for(request), PlanIds("p", "", ()))))
    answer = make_plan(request, inventory, ids)
    assert isinstance(answer, Plan) or all(map(str, answer.refusals))
    if isinstance(answer, Plan):
        warnings_for(answer, inventory)
        losses_of(answer, inventory)


@given(inventories())
def test_free_space_never_touches_a_partition_or_the_tables(inventory: Inventory) -> None:
    for disk in inventory.disks:
        for extent in free_extents(disk):
            assert extent.start_bytes % MIB == extent.end_bytes % MIB == 0
            assert MIB <= extent.start_bytes < extent.end_bytes <= disk.identity.size_bytes
            assert all(
                extent.end_bytes <= part.start_bytes or part.end_bytes <= extent.start_bytes for part in disk.partitions
            )
