"""Disks and slices by model and serial, for who stands in front of the rack.

Plans and journals name persistent paths, because that is what was and will be written to. Pages name what is printed on
the disk, and the path on demand.
"""

import re
from collections.abc import Mapping
from typing import Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.wording.statements import marked, said
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Inventory

Names = Mapping[str, str]
"""What a persistent path stands for: the whole of it, for its last part may be a word such as "log" or a number."""

_WORD: Final = re.compile(r"([^\s,;()“”„\"']+)")


def names_of(plan: Plan, node: Node, inventory: Inventory | None) -> Names:
    """The names of the disks of a host and of a plan's slices, those too whose disk is gone."""
    labels = {disk.key: disk.label for disk in inventory.disks} if inventory else {}
    gone = {piece.disk_key for piece in plan.slices} - labels.keys()
    if gone:
        known = StoredDisk.objects.filter(node=node).only("key", "model", "serial").now_known_as(gone)
        labels |= {key: stored.label for key, stored in known.items()}
    names: dict[str, str] = {}
    for disk in inventory.disks if inventory else ():
        names |= dict.fromkeys((disk.path, *disk.links), disk.label)
        for part in disk.partitions:
            part_label = _("%(disk)s – partition %(number)s") % {"disk": disk.label, "number": part.number}
            names |= dict.fromkeys((part.path, *part.links), part_label)
    names.pop("", None)
    for piece in plan.slices:
        label = labels.get(piece.disk_key)
        if label:
            slice_label = _("%(disk)s – slice %(number)s") % {"disk": label, "number": piece.number}
            names[piece.disk_path] = label
            names |= dict.fromkeys((piece.partuuid_path, f"{piece.disk_path}-part{piece.number}"), slice_label)
    return names


def named(statement: Statement, names: Names) -> SafeString:
    """A statement in the user's language, disks by model and serial; what stands between backticks stays code."""
    return marked(
        said(statement),
        words=lambda part: format_html_join("", "{}", ((_name(word, names),) for word in _WORD.split(part))),
    )


def named_text(statement: Statement, names: Names) -> str:
    """The same without markup and in one line, whatever a disk calls itself: it may stand among commands."""
    text = "".join(names.get(word.rstrip("."), word) for word in _WORD.split(said(statement)))
    return " ".join(text.split())


def _name(word: str, names: Names) -> str:
    path = word.rstrip(".:")
    label = names.get(path)
    if label is None:
        return word
    return format_html('<span class="disk-name" title="{}">{}</span>{}', path, label, word[len(path) :])
