"""What a support bundle says instead of whatever points to a person or a machine: a kind and a number ("serial-3").

Names are collected from what is stored, by the fields that hold them, and replaced wherever they stand, in every
spelling that is stored. What has a shape of its own (an address, a UUID, a WWN) is replaced even where nobody knew it.
One name has one pseudonym throughout a bundle, so that what refers to each other still does.

Rules for short and common names, so that no sentence loses its words:

- A name that is a word of our own forms (`log`, `cache`, `data`) or that many machines have (`root`) stays: it tells
  nobody anything, and nothing that is stored could be read without these words.
- A name without a letter stays (`2024`, `100`), and so does an identifier of up to five digits, or of one character.
- A name of up to three characters is replaced only where no letter, digit, hyphen or underscore touches it; a longer
  one, and every identifier, where no letter or digit does: as in `nvme-Samsung_SSD_990_PRO_S6Z1NJ0W-part1`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import quote

from nasadvisor.domain.fleet.known_names import FEWEST_DIGITS, KnownName, NameKind
from nasadvisor.domain.storage.names import UUID

_SHORT_NAME: Final = 3
"""[policy] Up to so many letters, a name may be a part of words of ours: `sda`, `nas-advisor`."""

_IDENTIFIERS: Final = (NameKind.SERIAL, NameKind.WWN, NameKind.GUID, NameKind.UUID)

_EVERYBODYS: Final = """
    root admin administrator nasadvisor localhost nobody system command line token part
    online degraded faulted offline unavail removed avail inuse mirror raidz draid file hole missing indirect spare
    standard always disabled latency throughput all none metadata
    zfs zpool zvol zil slog l2arc arc ssd hdd nvme ata scsi sas usb dev disk mapper mnt wwn
    by-id by-path by-partuuid by-uuid by-label by-partlabel by-partnum
"""
EVERYBODYS: Final = frozenset((*_EVERYBODYS.split(), "efi system partition", "write back", "write through"))
"""Names that say nothing of anybody, beside the words of our own forms; in small letters."""

_PATTERNS: Final[tuple[tuple[NameKind, str], ...]] = (
    (NameKind.URL, r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>]+"),
    (NameKind.MAIL, r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    (NameKind.UUID, r"(?<![^\W_])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![^\W_])"),
    (NameKind.UUID, r"(?<![^\W_])[A-Za-z0-9]{6}(?:-[A-Za-z0-9]{4}){5}-[A-Za-z0-9]{6}(?![^\W_])"),  # LVM
    (NameKind.UUID, r"(?<![^\W_])[0-9a-f]{8}(?::[0-9a-f]{8}){3}(?![^\W_])"),  # md
    (NameKind.WWN, r"(?<![^\W_])nvme\.[0-9a-f]{4}(?:-[0-9a-f]+){3}(?![^\W_])"),
    (NameKind.WWN, r"(?<![^\W_])(?:eui\.|naa\.|0x)(?:[0-9a-f]{32}|[0-9a-f]{16})(?![^\W_])"),
    (NameKind.MAC, r"(?<![\w:])[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}(?![\w:])"),
    (NameKind.IP, r"(?<![\w.:])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\w)"),
    (NameKind.IP, r"(?<![\w:.])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?:(?<=:)(?:\d{1,3}\.){3}\d{1,3})?(?![\w:])"),
    (NameKind.UUID, r"(?<![^\W_])[0-9a-f]{32}(?![^\W_])"),
    (NameKind.GUID, r"(?<![\w.])\d{16,20}(?![\w.])"),
)
"""What has a shape of its own. WWNs: NAA of 64 and 128 bits (SPC-4, 7.8.6.6), EUI-64 and NGUID (NVMe base, 4.7); names
of LVM's and md's devices: lvm(8), mdadm(8); `nvme.…`: nvme_ns_id_wwid_show() in drivers/nvme/host/sysfs.c of Linux."""


class Pseudonyms:
    """The pseudonyms of one bundle. `own_words` are those of our forms; more names become known as they are met."""

    def __init__(self, known: Iterable[KnownName], own_words: Iterable[str] = ()) -> None:
        self._own_words = frozenset(own_words)
        self._kept = EVERYBODYS | {word.lower() for word in self._own_words}
        self._of: dict[str, str] = {}
        self._counts: dict[NameKind, int] = {}
        identifiers: set[str] = set()
        names: set[str] = set()
        for kind, text in dict.fromkeys(part for each in known for part in _parts(each.kind, each.text.strip())):
            (identifiers if kind in _IDENTIFIERS else names).update(self._learn(kind, text))
        everything = _of_known(identifiers, names)
        self._known = re.compile(everything, re.IGNORECASE)
        self._all = re.compile(f"{_SHAPES}|{everything}", re.IGNORECASE)
        self._in_answers = re.compile(f"{_SHAPES}|{_of_known(identifiers, ())}", re.IGNORECASE)

    def _learn(self, kind: NameKind, text: str) -> tuple[str, ...]:
        """The spellings of a name that are to be replaced in sentences."""
        if text.lower() in self._kept or not _tells_something(kind, text):
            return ()
        spellings = tuple(_spellings(kind, text))
        pseudonym = next((self._of[each] for each in spellings if each in self._of), "") or self._next(kind, text)
        for each in spellings:
            self._of.setdefault(each, pseudonym)
        return spellings

    def _next(self, kind: NameKind, text: str) -> str:
        """A new one; of a UUID again a UUID, for plans are read only with such."""
        number = self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"00000000-0000-0000-0000-{number:012d}" if re.fullmatch(UUID, text.lower()) else f"{kind}-{number}"

    def replaced(self, text: str) -> str:
        """A text with all names replaced."""
        return self._all.sub(self._instead_of, text)

    def _instead_of(self, found: re.Match[str]) -> str:
        text = found[0]
        if found.lastgroup == "known":
            return self._of.get(text.lower(), "name")  # a few letters are alike for the pattern only
        kind = NameKind(str(found.lastgroup).partition("_")[0])
        if kind is NameKind.IP and not _is_somebodys(text):
            return self._known.sub(self._instead_of, text)
        if text.lower() not in self._of:
            self._of[text.lower()] = self._next(kind, text)
        return self._of[text.lower()]

    def in_document(self, value: Any, key: str = "") -> Any:
        """The same in a stored document. Its keys, and what `_OURS` names, are ours."""
        if isinstance(value, dict):
            return {name: self.in_document(each, name) for name, each in value.items()}
        if isinstance(value, list):
            return [self.in_document(each, key) for each in value]
        if not isinstance(value, str) or key in _OURS or value in self._own_words:
            return value
        return self.replaced(value)

    def in_answer(self, value: Any) -> Any:
        """The same in what smartctl or nvme answered: identifiers only, for its words are the tool's."""
        if isinstance(value, dict):
            return {name: self.in_answer(each) for name, each in self._in_numbers(value)}
        if isinstance(value, list):
            return [self.in_answer(each) for each in value]
        if not isinstance(value, str):
            return value
        return self._in_answers.sub(self._instead_of, value)

    def _in_numbers(self, document: dict[str, Any]) -> Iterable[tuple[str, Any]]:
        """WWN and EUI-64 stand in parts there, and the last one tells the disk: it becomes the pseudonym's number."""
        for first, last in (("naa", "id"), ("oui", "ext_id")):
            parts = [document.get(each) for each in dict.fromkeys((first, "oui", last))]
            if all(type(each) is int for each in parts):
                wwn = "".join(f"{each:0{width}x}" for each, width in zip(parts, _WIDTHS[last], strict=True))
                return {**document, last: int(self.replaced(f"eui.{wwn:0>16}").rpartition("-")[2])}.items()
        return ((name, 0 if name in _NUMBERS and type(each) is int else each) for name, each in document.items())


_OURS: Final = frozenset(
    ("code", "template", "explanation", "activity", "latency", "type_uuid", "features", "active_features")
)
"""What is not looked through: sentences of ours before their values, packed counters, and words of the field."""

_WIDTHS: Final[Mapping[str, tuple[int, ...]]] = {"id": (1, 6, 9), "ext_id": (6, 10)}
"""Hexadecimal digits of the parts of an NAA 5 and of an EUI-64."""

_NUMBERS: Final = frozenset(("fguid", "nguid", "eui64", "vs"))
"""Identifiers of `nvme id-ctrl -o json` that are no texts, and what the vendor wrote there."""


def _parts(kind: NameKind, text: str) -> Iterator[tuple[NameKind, str]]:
    """A dataset by the names in its path, a host also without its domain, a guest also by what people call it."""
    if kind is NameKind.DATASET:
        pool, *rest = re.split(r"[/@#]", text)
        yield NameKind.POOL if rest else kind, pool
        yield from ((kind, each) for each in rest)
        return
    yield kind, text
    if kind is NameKind.GUEST and text.endswith(")"):
        yield kind, text.rpartition("(")[2].removesuffix(")")  # "VM 100 (mail)"
    if kind is NameKind.HOST and not re.fullmatch(r"[\d.]+", text):
        yield from ((kind, each) for each in text.split(".")[:1] if each != text)


def _tells_something(kind: NameKind, text: str) -> bool:
    """Whether a name tells more than a number does."""
    if kind in _IDENTIFIERS:
        return len(text) >= (FEWEST_DIGITS if text.isdigit() else 2)
    return re.search(r"[^\W\d_]", text) is not None


def _spellings(kind: NameKind, text: str) -> Iterator[str]:
    """How a name is written where it is stored, in small letters, the name itself first."""
    low = text.lower()
    yield low
    yield re.sub(r"\s+", "_", low)
    yield quote(low, safe="").lower()
    yield re.sub(r"\s", r"\\x20", low)
    if kind is NameKind.SERIAL:
        yield text.encode().hex()  # in the name of an NVMe SSD without EUI-64
    if kind is NameKind.WWN:
        bare = _bare(low)
        if len(bare) >= FEWEST_DIGITS:
            yield from (f"{before}{bare}" for before in ("", "0x", "eui.", "naa.", "3", "2"))  # scsi_id: "3" and NAA
    if kind is NameKind.GUID and text.isdigit() and len(text) >= FEWEST_DIGITS:
        yield from (f"{int(text):x}", f"0x{int(text):x}", f"{int(text):016x}", f"0x{int(text):016x}")


def _bare(wwn: str) -> str:
    return re.sub(r"^(?:0x|eui\.|naa\.|uuid\.|nvme\.)", "", wwn)


def _is_somebodys(address: str) -> bool:
    """Whether this is an IP address, and not one that every machine has."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return not (found.is_loopback or found.is_unspecified)


_SHAPES: Final = "|".join(f"(?P<{kind}_{number}>{shape})" for number, (kind, shape) in enumerate(_PATTERNS))
"""These come first: an address is more than the host in it."""


def _of_known(identifiers: Iterable[str], names: Iterable[str]) -> str:
    long = _any_of((*identifiers, *(name for name in names if len(name) > _SHORT_NAME)))
    short = _any_of(name for name in names if len(name) <= _SHORT_NAME)
    return rf"(?P<known>(?<![^\W_])(?:{long})(?![^\W_])|(?<![\w-])(?:{short})(?![\w-]))"


def _any_of(words: Iterable[str]) -> str:
    """A pattern for any of many words, the longest first, that takes as long for ten thousand as for ten."""
    root: dict[str, Any] = {}
    for word in words:
        node = root
        for letter in word:
            node = node.setdefault(letter, {})
        node[""] = {}
    return _branches(root, _DEEPEST) if root else r"(?!)"


_DEEPEST: Final = 40
"""So deep a pattern may nest; how long names and their beginnings are is up to whoever chose them."""


def _branches(node: dict[str, Any], deepest: int) -> str:
    """What may follow; a chain without branches stands in one piece."""
    if not deepest:
        return f"(?:{'|'.join(re.escape(word) for word in sorted(_words(node), key=len, reverse=True))})"
    found = []
    for letter in filter(None, node):
        chain, below = letter, node[letter]
        while len(below) == 1 and "" not in below:
            ((following, below),) = below.items()
            chain += following
        found.append(re.escape(chain) + _branches(below, deepest - 1))
    if not found:
        return ""
    return f"(?:{'|'.join(found)}){'?' if '' in node else ''}"


def _words(node: dict[str, Any]) -> Iterator[str]:
    for letter, below in node.items():
        yield from (f"{letter}{rest}" for rest in _words(below)) if letter else ("",)
