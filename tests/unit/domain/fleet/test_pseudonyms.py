"""Names become pseudonyms: all of them, in every spelling, and nothing else."""

import time
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.fleet.known_names import FIELD_KINDS, KnownName, NameKind, names_in
from nasadvisor.domain.fleet.pseudonyms import Pseudonyms
from nasadvisor.domain.storage.inventory import Hold, HoldKind, Vdev
from nasadvisor.stored.kinds import all_kinds
from nasadvisor.stored.support_bundle import own_words

SERIAL, WWN, GUID = NameKind.SERIAL, NameKind.WWN, NameKind.GUID

COMPOSED = """
    cache_disks log_disks key disk_key disk_keys disk Finding.subject Finding.place scope path links disk_path
    vdev_path existing_path device devices Vdev.name LeafFacts.name argv commands stdout stderr problem what
    values smartctl id_ctrl ocp place
"""
"""Fields that are made of names and other words, in which what is known is replaced."""

WITHOUT_NAMES = """
    at began_at boot created_at ended_at kept_at over_at paused_at proven_at proven_boot read_at started_at taken_at
    traced_at until active_features features checkpoint code compatibility explanation template device_type
    exit_bits family fingerprint firmware forms id kernel kernel_name os_name zfs_kernel zfs_userland
    zfs_version release version kind logbias primarycache secondarycache sync write_cache model namespace
    network scan seed source state type_uuid warnings program Slot.name Platform.name WearIndicator.name
    ByteCounter.name
"""
"""Fields that tell nothing of a person or a machine; ids are UUIDs of ours, which their shape tells."""

NEVER_IN_A_BUNDLE = """
    ConsoleAccess.address ConsoleAccess.authority ConsoleAccess.password JoinAnswer.authority
    JoinRequest.password_digest DiskImage.head_base64 DiskImage.tail_base64 TableLeft.packed Notice.subject
    Notice.text NoticeAnswer.message_id
"""


def text_fields() -> set[tuple[str, str]]:
    """Every field of every stored form in which text can stand, with its class."""
    found: dict[type, set[str]] = {}

    def walk(form: Any) -> None:
        if is_dataclass(form) and isinstance(form, type):
            if form not in found:
                hints = get_type_hints(form)
                found[form] = {field.name for field in fields(form) if _holds_text(hints[field.name])}
                for field in fields(form):
                    walk(hints[field.name])
        else:
            for part in get_args(form):
                walk(part)

    for kind in all_kinds():
        parts = get_args(kind.of) or (kind.of,)
        if parts[0].__module__.startswith("nasadvisor.domain."):
            walk(kind.of)
    return {(form.__name__, name) for form, names in found.items() for name in names}


def _holds_text(form: Any) -> bool:
    return form is str or any(_holds_text(part) for part in get_args(form) if not is_dataclass(part))


def test_of_every_field_of_what_is_stored_it_is_decided_whether_it_holds_a_name() -> None:
    decided = {*FIELD_KINDS, *f"{COMPOSED} {WITHOUT_NAMES} {NEVER_IN_A_BUNDLE}".split()}
    open_ones = {f"{form}.{name}" for form, name in text_fields() if not {name, f"{form}.{name}"} & decided}
    assert open_ones == set()


def replaced(text: str, *known: tuple[NameKind, str]) -> str:
    return Pseudonyms([KnownName(*each) for each in known], own_words()).replaced(text)


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("nvme-Samsung_SSD_990_PRO_S6Z1NJ0W-part1", "nvme-Samsung_SSD_990_PRO_serial-1-part1"),
        ("virtio-disk3-0000000001", "virtio-serial-2"),
        ("S6Z1NJ0W2 XS6Z1NJ0W", "S6Z1NJ0W2 XS6Z1NJ0W"),
        ("s6z1nj0w.", "serial-1."),
        ("5336 5a31", "5336 5a31"),
        ("nvme.144d-53365a314e4a3057-5353-00000001", "wwn-1"),
        ("serial=53365a314e4a3057", "serial=serial-1"),
    ],
)
def test_a_serial_is_found_within_names_and_not_within_words(text: str, becomes: str) -> None:
    assert replaced(text, (SERIAL, "S6Z1NJ0W"), (SERIAL, "disk3-0000000001")) == becomes


@pytest.mark.parametrize("before", ["", "0x", "wwn-0x", "scsi-3", "naa.", "/dev/disk/by-id/wwn-0x", "eui."])
def test_a_wwn_is_found_however_it_is_written(before: str) -> None:
    for text in (f"{before}5002538e40a6ee00", f"{before}5002538E40A6EE00-part1"):
        assert "5002538e40a6ee00" not in replaced(text, (WWN, "0x5002538e40a6ee00")).lower()
        assert "wwn-1" in replaced(text, (WWN, "0x5002538e40a6ee00"))


@pytest.mark.parametrize("text", ["13672354012345678901", "bdbdf588f5403c35", "0xBDBDF588F5403C35"])
def test_a_guid_is_found_in_decimal_and_in_hexadecimal(text: str) -> None:
    assert f"{13672354012345678901:x}" == "bdbdf588f5403c35"
    assert replaced(f"guid {text}, zfs-{text}", (GUID, "13672354012345678901")) == "guid guid-1, zfs-guid-1"


def test_a_pool_called_log_stays_log_and_one_called_a_is_replaced_as_a_word_of_its_own() -> None:
    known = ((NameKind.POOL, "log"), (NameKind.POOL, "a"), (NameKind.DATASET, "a/tank"))
    assert replaced("A log of pool a: a-b, a_b, tank, tanks, /a/tank", *known) == (
        "pool-1 log of pool pool-1: a-b, a_b, dataset-1, tanks, /pool-1/dataset-1"
    )


def test_a_dataset_is_replaced_name_by_name_so_that_its_place_stays_known() -> None:
    known = (
        (NameKind.DATASET, "tank/vms/mail server"),
        (NameKind.DATASET, "tank/vms"),
        (NameKind.DATASET, "tank/2024"),
    )
    told = replaced("/tank/vms/mail server/x tank/vms/mail_server@daily mail%20server tank/2024", *known)
    assert told == "/pool-1/dataset-1/dataset-2/x pool-1/dataset-1/dataset-2@daily dataset-2 pool-1/2024"


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("from 192.0.2.7:8843, ::1 and 2001:db8::7/64", "from ip-1:8843, ::1 and ip-2/64"),
        ("127.0.0.1 at 20:45:21 on 2026-11-27T20:45:21+00:00", "127.0.0.1 at 20:45:21 on 2026-11-27T20:45:21+00:00"),
        ("link/ether 52:54:00:12:34:56", "link/ether mac-1"),
        ("mail to anna.muster@example.org.", "mail to mail-1."),
        ("https://hooks.example/T0/secret?x=1 failed", "url-1 failed"),
        ("pci-0000:00:17.0-ata-1", "pci-0000:00:17.0-ata-1"),
        ("OpenZFS 2.3.9-1 on 6.12.57-amd64", "OpenZFS 2.3.9-1 on 6.12.57-amd64"),
        ("lvm-pv-uuid-Abc123-dEf4-5678-90aB-cDeF-1234-abCDef", "lvm-pv-uuid-uuid-1"),
        ("md-uuid-0a1b2c3d:11223344:55667788:99aabbcc", "md-uuid-uuid-1"),
    ],
)
def test_what_has_a_shape_of_its_own_is_replaced_though_nobody_knew_it(text: str, becomes: str) -> None:
    assert replaced(text) == becomes


def test_a_host_is_known_with_its_domain_and_without() -> None:
    assert replaced("nas7.lan: NAS7 sees nas7.lan", (NameKind.HOST, "nas7.lan")) == "host-1: host-2 sees host-1"


def test_a_disk_that_is_gone_is_known_by_its_key_and_its_link() -> None:
    key = {"disk_key": "Samsung_SSD_990_PRO_S6Z1NJ0W401234_eui.0025385c2140105d"}
    link = {"disk_path": "/dev/disk/by-id/ata-WDC_WD40EFRX_WD-WCC4E1234567-part1"}
    assert {*names_in([key, link])} == {
        KnownName(SERIAL, "S6Z1NJ0W401234"),
        KnownName(WWN, "eui.0025385c2140105d"),
        KnownName(SERIAL, "WD-WCC4E1234567"),
    }


def test_a_mount_and_a_file_that_is_a_vdev_name_somebodys_folders() -> None:
    assert [*names_in(Hold(HoldKind.MOUNT, "/srv/anna"))] == [KnownName(NameKind.LABEL, "/srv/anna")]
    assert [*names_in(Hold(HoldKind.MOUNT, "/boot"))] == [*names_in(Hold(HoldKind.FILESYSTEM, "ext4"))] == []
    file = Vdev("1", "file", "/home/anna/disk", "ONLINE", path="/home/anna/disk")
    assert KnownName(NameKind.LABEL, "/home/anna/disk") in [*names_in(file)]


def test_numbers_of_a_wwn_in_the_answer_of_smartctl_become_that_of_the_pseudonym() -> None:
    told = {"wwn": {"naa": 5, "oui": 0x2538, "id": 0xE40A6EE00}, "eui64": {"oui": 0x2538, "ext_id": 0x5C2140105D}}
    known = [KnownName(SERIAL, "X"), KnownName(WWN, "0x5002538e40a6ee00"), KnownName(WWN, "eui.0025385c2140105d")]
    answer = Pseudonyms(known).in_answer(told)
    assert answer == {"wwn": {"naa": 5, "oui": 0x2538, "id": 1}, "eui64": {"oui": 0x2538, "ext_id": 2}}


def test_words_of_a_tool_are_no_names() -> None:
    known = [KnownName(NameKind.DATASET, "tank/media"), KnownName(SERIAL, "S6Z1NJ0W")]
    answer = {"name": "Media_Wearout_Indicator", "serial_number": "S6Z1NJ0W    ", "media_errors": 0}
    assert Pseudonyms(known).in_answer(answer) == answer | {"serial_number": "serial-1    "}


LETTERS = st.characters(codec="ascii", categories=("L", "N"))
IDENTIFIERS = st.from_regex(r"[A-Z][A-Z0-9]{5,18}[0-9]", fullmatch=True)
NAMES = st.from_regex(r"[a-z][a-z0-9_.: -]{2,20}[a-z]", fullmatch=True).filter(lambda name: name not in own_words())
BESIDE = st.sampled_from((" ", "_", "-", "/", ".", ":", "@", "'", "(", ")", ",", "\n", ""))


@given(
    st.lists(st.tuples(st.sampled_from((SERIAL, NameKind.POOL)), IDENTIFIERS | NAMES), min_size=1, max_size=5),
    st.data(),
)
def test_no_name_is_left_in_any_text_and_each_has_one_pseudonym(
    known: list[tuple[NameKind, str]], data: st.DataObject
) -> None:
    pseudonyms = Pseudonyms([KnownName(*each) for each in known])
    _, name = data.draw(st.sampled_from(known))
    before, after = data.draw(BESIDE), data.draw(BESIDE)
    ways = (str, str.upper, str.lower, lambda text: text.replace(" ", "_"), lambda text: quote(text, safe=""))
    texts = {f"word {before}{way(name)}{after} word" for way in ways}
    told = {pseudonyms.replaced(text) for text in texts}
    assert len(told) == 1, told
    assert name.lower() not in told.pop().lower()


@given(st.text())
def test_without_any_name_a_text_without_a_shape_stays(text: str) -> None:
    known = [KnownName(SERIAL, "\x00never"), KnownName(NameKind.POOL, "")]
    told = Pseudonyms(known).replaced(text)
    assert told == text or any(f"{kind}-1" in told for kind in NameKind)


def test_ten_thousand_names_take_no_longer_than_a_few_and_deep_ones_are_no_trouble() -> None:
    many = [KnownName(NameKind.DATASET, f"tank/auto-{number:05d}-x") for number in range(10_000)]
    deep = [KnownName(NameKind.DATASET, "b" * length) for length in range(4, 250)]
    pseudonyms = Pseudonyms([*many, *deep])
    text = "nothing of it stands here, but auto-09999-x does " * 2_000
    began = time.process_time()
    assert "auto" not in pseudonyms.replaced(text)
    assert time.process_time() - began < 2
    assert pseudonyms.replaced("b" * 249).startswith("dataset-")
