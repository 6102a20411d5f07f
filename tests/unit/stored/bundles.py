"""Reading support bundles in tests, and looking for names in them."""

import base64
import io
import json
import re
import tarfile
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from nasadvisor.domain.fleet.known_names import KnownName, NameKind
from nasadvisor.domain.fleet.pseudonyms import EVERYBODYS
from nasadvisor.stored.packing import EXAMPLE, inflate
from nasadvisor.stored.support_bundle import FOLDER, README_NAME, own_words

IDENTIFIERS = (NameKind.SERIAL, NameKind.WWN, NameKind.GUID, NameKind.UUID)
KEPT = EVERYBODYS | {word.lower() for word in own_words()}


def unpacked(data: bytes) -> dict[str, str]:
    """The files of a bundle, by their names."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        files = {member.name: archive.extractfile(member) for member in archive}
        return {name.removeprefix(f"{FOLDER}/"): file.read().decode() for name, file in files.items() if file}


def leaks(files: dict[str, str], known: Iterable[KnownName]) -> list[str]:
    """Each spelling of a name that stands in a file, in its name, or in counters that are packed there.

    Kept are what is no secret (words of ours, and names without a letter), and short names within words of ours.
    """
    text = "\n".join(
        part for name, file in files.items() if name != README_NAME for part in (name, file, *_counters(file))
    )
    low = text.lower()
    return sorted(
        {
            f"{kind}: {word}"
            for kind, name in known
            for word in _words(kind, name)
            if _stands(word, low, is_whole=kind in IDENTIFIERS)
        }
    )


def _stands(word: str, text: str, *, is_whole: bool) -> bool:
    if is_whole or len(word) > 3:
        return word in text and re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", text) is not None
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def _words(kind: NameKind, name: str) -> Iterator[str]:
    is_identifier = kind in IDENTIFIERS
    for part in name.split("/") if kind is NameKind.DATASET else [name]:
        low = part.lower().strip()
        if not low or low in KEPT or (not is_identifier and not re.search("[a-z]", low)):
            continue
        if is_identifier and len(low) < (6 if low.isdigit() else 2):
            continue
        yield from (low, low.replace(" ", "_"), quote(low, safe="").lower())
        if kind is NameKind.SERIAL and len(low) > 3:
            yield low.encode().hex()
        if kind is NameKind.GUID and low.isdigit():
            yield from (f"{int(low):x}", f"{int(low):016x}")
        bare = re.sub(r"^(0x|eui\.|naa\.)", "", low)
        if kind is NameKind.WWN and re.fullmatch("[0-9a-f]{16}", bare):
            yield from (bare, str(int(bare, 16)))


def _counters(file: str) -> Iterator[str]:
    """What is packed in samples."""
    if '"activity"' in file:
        for sample in json.loads(file)["samples"]:
            for part in ("activity", "latency"):
                yield json.dumps(inflate(base64.b64decode(sample[part]), EXAMPLE))


def documents(files: dict[str, str]) -> dict[str, Any]:
    """The files that are JSON."""
    return {name: json.loads(text) for name, text in files.items() if name.endswith(".json")}
