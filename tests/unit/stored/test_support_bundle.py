"""A support bundle: no name of the machine is in it, the same disk is the same disk, and its forms are read back."""

import io
import json
import re
import tarfile
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from nasadvisor.domain.fleet.known_names import FIELD_KINDS, KnownName, NameKind, names_in
from nasadvisor.domain.health.smart.report import read_report
from nasadvisor.domain.health.sweep import DiskAnswer, SweepOutcome
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.simulated.smart import simulated_answer, simulated_smartctl
from nasadvisor.stored.documents import from_document, pack, to_document
from nasadvisor.stored.support_bundle import SupportFile, of_answer, own_words, shown_settings, write_bundle
from tests.fixtures.machines.build import large, typical
from tests.unit.machines import MIRROR_AND_CACHES, home_server, plan_for, with_single_log
from tests.unit.stored.bundles import documents, leaks, unpacked

NOW = datetime(2026, 11, 27, 20, 15, tzinfo=UTC)


def bundle_of(*contents: SupportFile, known: tuple[KnownName, ...] = ()) -> dict[str, str]:
    file = io.BytesIO()
    write_bundle(file, contents, known, NOW)
    return unpacked(file.getvalue())


def files_of(inventory: Inventory) -> tuple[SupportFile, ...]:
    """The machine, what its disks answer, and a line of a log that names all of it."""
    names = {name.text for name in names_in(inventory)}
    answers = [
        SupportFile(f"disks/{disk.key}.json", of_answer(simulated_answer(disk, NOW, 0))) for disk in inventory.disks
    ]
    return (SupportFile("inventory.json", inventory), *answers, SupportFile("log/web.txt", "\n".join(sorted(names))))


@pytest.mark.parametrize("machine", [typical, large, home_server, with_single_log])
def test_no_name_of_a_recorded_machine_is_in_its_bundle(machine: object) -> None:
    inventory: Inventory = machine()  # type: ignore[operator]
    files = bundle_of(*files_of(inventory))
    assert leaks(files, names_in(inventory)) == []


@pytest.mark.parametrize("machine", [typical, large, home_server])
def test_a_recorded_machine_is_read_back_and_everything_in_it_refers_to_what_it_did(machine: object) -> None:
    inventory: Inventory = machine()  # type: ignore[operator]
    told = from_document(Inventory, documents(bundle_of(*files_of(inventory)))["inventory.json"])
    assert (len(told.disks), len(told.pools)) == (len(inventory.disks), len(inventory.pools))
    for before, after in zip(inventory.disks, told.disks, strict=True):
        assert (after.is_blank, len(after.links)) == (before.is_blank, len(before.links))
        assert after.identity.serial in after.key
    of_links = {
        link for disk in told.disks for link in (*disk.links, *(each for p in disk.partitions for each in p.links))
    }
    leaves = [leaf.path for pool in told.pools for vdev in pool.data for leaf in vdev.leaves()]
    assert {path for path in leaves if path.startswith("/dev/disk/by-id")} <= of_links
    same = {before.key: after.key for before, after in zip(inventory.disks, told.disks, strict=True)}
    assert len(set(same.values())) == len(same), "two disks are still two"


def test_a_plan_and_the_machine_it_is_for_name_the_same_disks() -> None:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    found = documents(bundle_of(SupportFile("inventory.json", home_server()), SupportFile("plan.json", plan)))
    keys = {disk.key for disk in from_document(Inventory, found["inventory.json"]).disks}
    assert set(found["plan.json"]["request"]["log_disks"]) <= keys


def test_what_smartctl_said_stands_unpacked_and_is_read_as_it_was() -> None:
    disk = typical().disks[-1]
    said = simulated_smartctl(disk, 0) | {"wwn": {"naa": 5, "oui": 0x2538, "id": 0xE40A6EE00}}
    answer = DiskAnswer(
        disk.key, disk.identity, NOW.isoformat(), SweepOutcome.READ, 0, "", 1.0, None, pack(json.dumps(said))
    )
    found = documents(bundle_of(SupportFile("disk.json", of_answer(answer))))["disk.json"]
    assert found["smartctl"]["serial_number"] == found["answer"]["identity"]["serial"]
    assert found["smartctl"]["wwn"]["id"] != said["wwn"]["id"]
    before, after = read_report(said), read_report(found["smartctl"])
    assert replace(after, serial=before.serial) == before
    assert from_document(DiskAnswer, found["answer"]) is not None


# Made-up machines: names as anybody might choose them, in the places of those of a recorded machine.

SERIALS = st.from_regex(r"[A-Z][A-Z0-9-]{5,16}[0-9]", fullmatch=True)
WWNS = st.from_regex(r"(0x5|eui\.0)[0-9a-f]{15}", fullmatch=True)
GUIDS = st.integers(10**15, 2**64 - 1).map(str)
POOLS = st.from_regex(r"[a-z][a-zA-Z0-9_.:-]{0,14}", fullmatch=True).filter(lambda name: name not in own_words())
HOSTS = st.from_regex(r"[a-z][a-z0-9-]{1,12}[a-z0-9](\.[a-z]{4,8}\.[a-z]{2,3})?", fullmatch=True)


@st.composite
def made_up(draw: st.DrawFn) -> Inventory:
    inventory = typical()
    serials = draw(st.lists(SERIALS, min_size=len(inventory.disks), max_size=len(inventory.disks), unique=True))
    wwns = draw(st.lists(WWNS, min_size=len(inventory.disks), max_size=len(inventory.disks), unique=True))
    instead = {"13672354012345678901": draw(GUIDS), "nas1": draw(HOSTS), "tank": draw(POOLS)}
    for disk, serial, wwn in zip(inventory.disks, serials, wwns, strict=True):
        instead |= {disk.identity.serial: serial, disk.identity.wwn: wwn}
    pattern = "|".join(re.escape(name) for name in sorted(instead, key=len, reverse=True))
    text = re.sub(
        rf"(?<![a-zA-Z0-9])({pattern})(?![a-zA-Z0-9])", lambda it: instead[it[1]], json.dumps(to_document(inventory))
    )
    return from_document(Inventory, json.loads(text))


@given(made_up())
@settings(max_examples=25, phases=(Phase.generate,))
def test_no_name_of_a_made_up_machine_is_in_its_bundle(inventory: Inventory) -> None:
    files = bundle_of(*files_of(inventory))
    assert leaks(files, names_in(inventory)) == []
    told = from_document(Inventory, documents(files)["inventory.json"])
    assert len({disk.key for disk in told.disks}) == len({disk.key for disk in inventory.disks})


def test_a_machine_whose_pool_is_called_log_is_read_back_with_its_pool_called_log() -> None:
    inventory = typical()
    named = replace(inventory, pools=(replace(inventory.pools[0], name="log"),))
    told = from_document(Inventory, documents(bundle_of(SupportFile("inventory.json", named)))["inventory.json"])
    assert told.pools[0].name == "log"
    assert [disk.bus for disk in told.disks] == [disk.bus for disk in named.disks]


def test_two_files_never_have_one_name() -> None:
    files = bundle_of(SupportFile("a/x y.json", 1), SupportFile("a/x?y.json", 2))
    assert {"a/x_y.json", "a/x_y-1.json"} < set(files)


def test_every_file_is_for_its_owner_only() -> None:
    file = io.BytesIO()
    write_bundle(file, [SupportFile("x.json", {})], (), NOW)
    with tarfile.open(fileobj=io.BytesIO(file.getvalue())) as archive:
        assert {member.mode for member in archive} == {0o600}


def test_settings_are_shown_where_they_can_hold_no_secret() -> None:
    told = shown_settings(
        {
            "NASADVISOR_DATABASE_URL": "postgresql://nas:secret@db/nas",
            "NASADVISOR_SECRET_KEY": "secret",
            "NASADVISOR_NEW_AND_UNKNOWN": "secret",
            "NASADVISOR_SAMPLES": "1,30,730",
            "NASADVISOR_TLS": "",
            "HOME": "/home/anna",
        }
    )
    assert told["NASADVISOR_SAMPLES"] == "1,30,730"
    assert "secret" not in str(told)
    assert set(told) == {f"NASADVISOR_{n}" for n in ("DATABASE_URL", "SECRET_KEY", "NEW_AND_UNKNOWN", "SAMPLES")}


def test_a_name_has_the_kind_of_its_field() -> None:
    told = json.dumps(documents(bundle_of(SupportFile("inventory.json", typical())))["inventory.json"])
    for kind in (NameKind.SERIAL, NameKind.WWN, NameKind.POOL, NameKind.HOST, NameKind.GUID):
        assert f"{kind}-1" in told
    assert "00000000-0000-0000-0000-000000000001" in told
    assert FIELD_KINDS["serial"] is NameKind.SERIAL
