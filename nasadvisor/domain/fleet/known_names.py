"""The names that point to a person or a machine, collected from what is stored by the fields that hold them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from nasadvisor.domain.storage.inventory import Hold, HoldKind, Vdev


class NameKind(StrEnum):
    """What a name is of; its pseudonyms begin with it."""

    SERIAL = "serial"
    WWN = "wwn"
    GUID = "guid"
    UUID = "uuid"
    HOST = "host"
    USER = "user"
    POOL = "pool"
    DATASET = "dataset"
    GUEST = "guest"
    LABEL = "label"
    MAIL = "mail"
    IP = "ip"
    MAC = "mac"
    URL = "url"


class KnownName(NamedTuple):
    """A name that is to be replaced wherever it stands."""

    kind: NameKind
    text: str


FIELD_KINDS: Final[Mapping[str, NameKind]] = {
    **dict.fromkeys(("serial", "own_serial", "serial_number", "sn"), NameKind.SERIAL),
    **dict.fromkeys(("wwn", "logical_unit_id"), NameKind.WWN),
    **dict.fromkeys(("guid", "pool_guid", "vdev_guid", "vdev_guids", "existing_guid", "attach_to"), NameKind.GUID),
    **dict.fromkeys(("replaces", "dead_log", "offline_cache", "leaf_guids", "former"), NameKind.GUID),
    **dict.fromkeys(("partuuid", "partuuids", "table_uuid", "uuids", "plan_id", "order_id"), NameKind.UUID),
    **dict.fromkeys(("node", "host_name", "host"), NameKind.HOST),
    **dict.fromkeys(("by", "kept_by", "requested_by", "acknowledged_by", "user"), NameKind.USER),
    **dict.fromkeys(("pool_name", "pool"), NameKind.POOL),
    **dict.fromkeys(("dataset", "datasets", "locked_datasets"), NameKind.DATASET),
    **dict.fromkeys(("enclosure", "mountpoint"), NameKind.LABEL),
    "guest": NameKind.GUEST,
    "Pool.name": NameKind.POOL,
    "PoolFacts.name": NameKind.POOL,
    "DatasetFacts.name": NameKind.DATASET,
    "DatasetActivity.name": NameKind.DATASET,
    "Guest.name": NameKind.GUEST,
    "Partition.name": NameKind.LABEL,
    "PartitionEntry.name": NameKind.LABEL,
}
"""Which field holds a name, by itself or with its class, and of what."""

FEWEST_DIGITS: Final = 6
"""[policy] An identifier of fewer digits and nothing else is a number like any other in a sentence."""

_BY_ID: Final = re.compile(r"/by-id/[a-z]+-([^/\s]+?)(?:-part\d+)?(?=[\s/]|$)")
_BY_LABEL: Final = re.compile(r"/by-(?:part)?label/([^/\s]+)|/dev/mapper/([^/\s]+)")
_BY_UUID: Final = re.compile(r"/by-(?:part)?uuid/([^/\s]+)")
_WWN: Final = re.compile(r"(?:0x|eui\.|naa\.|nvme\.|uuid\.|t10\.)\S+")
_PART_OF_KEY: Final = re.compile(r"[A-Za-z0-9-]*\d[A-Za-z0-9-]*")
_SYSTEM_PLACES: Final = frozenset(("/", "/boot", "/boot/efi", "/home", "/mnt", "/opt", "/srv", "/usr", "/var"))
_HOLDS: Final = {
    HoldKind.POOL: NameKind.POOL,
    HoldKind.EXPORTED_POOL: NameKind.POOL,
    HoldKind.LEFTOVER_LABEL: NameKind.POOL,
    HoldKind.HOLDER: NameKind.LABEL,
    HoldKind.LVM: NameKind.LABEL,
    HoldKind.RAID: NameKind.LABEL,
    HoldKind.CEPH: NameKind.LABEL,
    HoldKind.MOUNT: NameKind.LABEL,
}
"""What the `what` of a hold names; the others name what everybody has ("ext4")."""


def names_in(thing: object, field: str = "", owner: str = "") -> Iterator[KnownName]:
    """The names in a stored object, or in JSON, by the fields that hold them."""
    if isinstance(thing, str):
        yield from _names_of(thing, field, owner)
    elif isinstance(thing, Mapping):
        for key, value in thing.items():
            yield from names_in(value, str(key))
    elif isinstance(thing, list | tuple):
        for each in thing:
            yield from names_in(each, field, owner)
    elif is_dataclass(thing):
        yield from _of_their_kind(thing)
        for each_field in fields(thing):
            yield from names_in(getattr(thing, each_field.name), each_field.name, type(thing).__name__)


def _of_their_kind(thing: object) -> Iterator[KnownName]:
    """Names in fields of which another field says whether they hold one."""
    if isinstance(thing, Hold) and thing.kind in _HOLDS and thing.what not in _SYSTEM_PLACES:
        yield KnownName(_HOLDS[thing.kind], thing.what)
    if isinstance(thing, Vdev) and thing.kind == "file":
        yield KnownName(NameKind.LABEL, thing.path)


def _names_of(text: str, field: str, owner: str) -> Iterator[KnownName]:
    kind = FIELD_KINDS.get(f"{owner}.{field}") or FIELD_KINDS.get(field)
    if kind is NameKind.USER:
        yield KnownName(kind, text.partition(" (")[0])  # "alice (command line)"
    elif kind is NameKind.DATASET:
        yield from (KnownName(kind, each) for each in re.split(r", | …", text))
    elif kind:
        yield KnownName(kind, text)
    elif field in ("disk_key", "disk_keys", "key", "cache_disks", "log_disks"):
        yield from _parts_of_key(text.partition("@")[0])
    for found in _BY_ID.finditer(text):
        yield from _parts_of_key(found[1])
    yield from (KnownName(NameKind.LABEL, found[1] or found[2]) for found in _BY_LABEL.finditer(text))
    yield from (KnownName(NameKind.UUID, found[1]) for found in _BY_UUID.finditer(text))


def _parts_of_key(key: str) -> Iterator[KnownName]:
    """Serial and WWN of a disk that is known by its key or link only ("Samsung_SSD_990_S6Z1NJ0W_eui.0025…")."""
    words = key.split("_")
    while len(words) > 1 and (re.fullmatch(r"(?:ns)?\d{1,3}(?:-\d+:\d+)?", words[-1]) or _WWN.fullmatch(words[-1])):
        words.pop()
    if len(words) > 1 and len(words[-1]) >= FEWEST_DIGITS and _PART_OF_KEY.fullmatch(words[-1]):
        yield KnownName(NameKind.SERIAL, words[-1])
    yield from (KnownName(NameKind.WWN, word) for word in key.split("_") if _WWN.fullmatch(word))
