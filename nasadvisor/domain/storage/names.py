"""Names that become part of a command, a path or a directory: one pattern each, for plans, rules and the last seam.

The patterns are texts, so that others can be built of them; none can match a NUL character.
"""

import re
from typing import Final

_UDEV: Final = r"(?:[A-Za-z0-9#+.:=@_-]|\\x[0-9a-f]{2}|[^\x00-\xa0\ud800-\udfff])"
"""What udev lets into a link: allow_listed_char_for_devnode() and udev_replace_chars() in systemd, src/shared."""

_NO_DISK: Final = r"(?!dm-|lvm-|md-)(?=[A-Za-z0-9])"
"""Links of device-mapper, LVM and md stand beside those of disks, and belong to whoever holds a disk at the moment."""

UUID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
PLAN_ID: Final = r"[0-9a-z][0-9a-z-]{0,63}"
MEASURE_ID: Final = r"[0-9a-f][0-9a-f-]{7,35}"
GUID: Final = r"[0-9]{1,20}"

LINE: Final = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]{1,256}"
"""What can stand in a line of a log, a journal or a page: no control characters, and no half of a character."""

POOL: Final = r"[A-Za-z][A-Za-z0-9_.: -]{0,254}"
"""valid_char() and pool_namecheck() in OpenZFS, module/zcommon/zfs_namecheck.c."""

PARTITION_BY_ID: Final = rf"/dev/disk/by-id/{_NO_DISK}{_UDEV}{{1,247}}-part[0-9]{{1,3}}"
DISK: Final = rf"(?!{PARTITION_BY_ID}(?:\0|\Z))/dev/disk/by-id/{_NO_DISK}{_UDEV}{{1,255}}"
PARTITION: Final = rf"/dev/disk/by-partuuid/{UUID}"
SLICE: Final = rf"(?:{PARTITION}|{PARTITION_BY_ID})"
"""How a slice of ours can be named: by the name that only it can have, or by that of its disk."""


def is_disk_name(path: str) -> bool:
    """Whether a path is a persistent name of a whole disk, by which a command that writes may call it."""
    return re.fullmatch(DISK, path) is not None
